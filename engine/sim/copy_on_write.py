"""Brokers of a branch: those of the state it began from, until an event changes one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.checks.checker import Checker
from engine.model.broker import Broker
from engine.model.cluster import Cluster
from engine.model.compiling import mypyc_attr
from engine.model.copying import Twins


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Lent(Mapping[int, Broker]):
    """Mapping that copies a broker for its branch when it is taken.

    The taker may change the broker.  A cluster and its checker know the brokers as they are; they
    only read those that were not taken.  `seal` ends a move: what is worked on afterwards is copied
    again, so that it can be lent to other branches as it is now.
    """

    __slots__ = ("_checker", "_cluster", "_own", "_racks", "_topics")

    def __init__(
        self,
        cluster: Cluster,
        checker: Checker,
        racks: dict[int, str],
        topics: dict[int, tuple[str, int]],
    ) -> None:
        self._cluster = cluster
        self._checker = checker
        self._racks = racks
        self._topics = topics
        self._own: dict[int, Broker] = {}

    def __getitem__(self, id: int) -> Broker:
        own = self._own.get(id)
        return self._take(id) if own is None else own

    def __iter__(self) -> Iterator[int]:
        return iter(self._cluster.brokers)

    def __len__(self) -> int:
        return len(self._cluster.brokers)

    def __contains__(self, id: object) -> bool:
        return id in self._cluster.brokers

    def seal(self) -> None:
        self._own.clear()

    def _take(self, id: int) -> Broker:
        brokers = self._cluster.brokers
        twins = Twins()
        own = brokers[id] = self._own[id] = brokers[id].twin(twins)
        own.machine.racks = self._racks
        own.machine.topics = self._topics
        for seen in self._checker.seen[id].values():
            seen.replica = twins.of(seen.replica)
        return own
