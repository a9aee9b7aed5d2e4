"""Checkpoints of a run: places from which it can go on, near each other and small.

Logs and what the observer knows of them grow with the run, mostly at their ends.  Checkpoints share
these entries: each has the rest of its simulation, and how many of the entries there were.
"""

from __future__ import annotations

import pickle
from bisect import bisect_left
from collections.abc import Generator, Iterator, Sequence
from io import BytesIO
from operator import is_
from typing import Any, Final, Protocol

from engine.clients.clients import Producer
from engine.replay import memory_estimate
from engine.sim import pacing
from engine.sim.simulation import Simulation

EVENTS_BETWEEN: Final = 256
"""Steps between two checkpoints of a run that needs few; and what is played at any time without
waiting for a turn."""
MOST_CHECKPOINTS: Final = 400
CHECKPOINT_BYTES: Final = 64 * 1024 * 1024
SHORT: Final = 32
"""Entries of a log, or of a ledger, that each checkpoint keeps by itself."""

Key = tuple[Any, ...]
"""(broker, partition, field of its log), or (field of the ledger, partition)."""


class Growth:
    """Entries of one list or dictionary while these were only added to; `keys`: of a dictionary.

    `cuts` is the log's: one that was cut is another growth.
    """

    __slots__ = ("cuts", "keys", "values")

    def __init__(self, cuts: int) -> None:
        self.cuts = cuts
        self.keys: list[Any] = []
        self.values: list[Any] = []

    def follow(self, entries: Any, cuts: int) -> bool:
        """Take in what was added to `entries`; False if anything else was changed."""
        known = len(self.values)
        if cuts != self.cuts or len(entries) < known:
            return False
        if isinstance(entries, dict):
            if not (
                all(map(is_, entries, self.keys)) and all(map(is_, entries.values(), self.values))
            ):
                return False
            self.keys += [*entries][known:]
            self.values += [*entries.values()][known:]
            return True
        if known and entries[known - 1] is not self.values[-1]:
            return False
        self.values += entries[known:]
        return True

    def first(self, count: int) -> Any:
        """Return the list or dictionary as it was with its first entries."""
        if self.keys:
            return dict(zip(self.keys[:count], self.values[:count], strict=True))
        return self.values[:count]


Grown = tuple[Key, Growth, int]
"""(place, shared entries, number of entries at the checkpoint)"""


class Growths:
    """The entries that the checkpoints of one run share."""

    def __init__(self) -> None:
        self._of: dict[Key, Growth] = {}

    def copy(self, sim: Simulation) -> tuple[Simulation, list[Grown]]:
        """Return a copy of a simulation without what is shared, and what that is."""
        grown: list[Grown] = []
        whole: list[tuple[Any, Any, Any]] = []
        try:
            for key, cuts in _keys(sim):
                owner, name = _place(sim, key)
                entries = _get(owner, name)
                if len(entries) <= SHORT:
                    continue
                growth = self._of.get(key)
                if growth is None or not growth.follow(entries, cuts):
                    growth = self._of[key] = Growth(cuts)
                    growth.follow(entries, cuts)
                grown.append((key, growth, len(entries)))
                whole.append((owner, name, entries))
                _put(owner, name, entries.__class__())
            return sim.copy(), grown
        finally:
            for owner, name, entries in whole:
                _put(owner, name, entries)


def _keys(sim: Simulation) -> Iterator[tuple[Key, int]]:
    """Yield what grows, with the cuts of its log; where logs are tiered, nothing does."""
    if sim.cluster.store is not None:
        return
    for broker in sim.cluster.brokers.values():
        for tp, disk in broker.machine.disks.items():
            if len(disk.log.batches) > SHORT:
                yield (broker.id, tp, "batches"), disk.log.cuts
                yield (broker.id, tp, "bases"), disk.log.cuts
    for name in ("acked", "committed", "seen", "sequences"):
        for tp in range(len(sim.ledger.acked)):
            yield (name, tp), 0


def _place(sim: Simulation, key: Key) -> tuple[Any, Any]:
    """Return the owner of what grows, and its name or index there."""
    if len(key) == 3:
        return sim.cluster.brokers[key[0]].machine.disks[key[1]].log, key[2]
    return getattr(sim.ledger, key[0]), key[1]


def _get(owner: Any, name: Any) -> Any:
    return owner[name] if isinstance(owner, list) else getattr(owner, name)


def _put(owner: Any, name: Any, value: Any) -> None:
    if isinstance(owner, list):
        owner[name] = value
    else:
        setattr(owner, name, value)


class Checkpoint:
    """A simulation as it was after `events` events, during move `move`.

    `until` is the time up to which that move still lets the clock run, `settling` the round from
    which it goes on to settle; both are -1 if the move is over.  `weight`: about how many bytes it
    takes beside what it shares.
    """

    __slots__ = ("_grown", "_packed", "_sim", "events", "move", "settling", "until", "weight")

    def __init__(
        self,
        sim: Simulation,
        move: int = -1,
        until: int = -1,
        settling: int = -1,
        growths: Growths | None = None,
    ) -> None:
        self._packed: tuple[Packed, bytes] | None = None
        self._sim, self._grown = (growths or Growths()).copy(sim)
        self.events = sim.events
        self.move = move
        self.until = until
        self.settling = settling
        self.weight = memory_estimate.of_simulation(self._sim)

    def parts(self) -> tuple[Simulation, list[Grown]]:
        """Return the simulation without what is shared, and what that is."""
        if self._packed is not None:
            shared, text = self._packed
            self._sim, self._grown = shared.load(text)
            self._packed = None
        return self._sim, self._grown

    def world(self) -> Simulation:
        """Return a simulation that goes on from here."""
        bare, grown = self.parts()
        sim = bare.copy()
        for key, growth, count in grown:
            _put(*_place(sim, key), growth.first(count))
        return sim

    def rest(self, sim: Simulation) -> Generator[None, None, None]:
        """Play what is left of the move that was under way, on such a simulation."""
        if self.settling >= 0:
            return pacing.settle(sim, self.settling, pauses=True)
        return pacing.run_until(sim, self.until)


class Playing(Protocol):
    """A run under way."""

    sim: Simulation

    def checkpoint(self, over: int, growths: Growths) -> Checkpoint | None:
        """Return a checkpoint here, if the run can be resumed from here."""


class Checkpoints(Sequence[Checkpoint]):
    """The checkpoints of one run, in order, and its end.

    Once there are as many as may be kept, every second one goes and the rest is twice as far
    apart: however long the run is, the memory is bounded, and a seek plays a small share.
    """

    def __init__(self) -> None:
        self._growths = Growths()
        self._all: list[Checkpoint] = []
        self._apart = EVENTS_BETWEEN
        self.end: Checkpoint | None = None
        self.weight = 0

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, at: Any) -> Any:
        return self._all[at]

    def nearest(self, step: int) -> Checkpoint | None:
        """Return the last checkpoint before a step."""
        at = bisect_left(self._all, step, key=lambda one: one.events)
        return self._all[at - 1] if at else None

    def keep(self, cursor: Playing, over: int = -1) -> None:
        """Keep a checkpoint if the last is far enough; `over` is a move that just ended."""
        last = self._all[-1].events if self._all else 0
        if cursor.sim.events - last < self._apart:
            return
        checkpoint = cursor.checkpoint(over, self._growths)
        if checkpoint is None:
            return
        self._all.append(checkpoint)
        self.weight += checkpoint.weight
        if len(self._all) >= MOST_CHECKPOINTS or self.weight > CHECKPOINT_BYTES:
            self.weight -= sum(one.weight for one in self._all[::2])
            del self._all[::2]
            self._apart *= 2

    def finish(self, sim: Simulation) -> None:
        """Keep the end of the run, too."""
        self.end = Checkpoint(sim, growths=self._growths)

    def __getstate__(self) -> tuple[bytes, list[tuple[Any, ...]], int, int]:
        """Return bytes: what is shared once, and each checkpoint by itself."""
        assert self.end is not None
        places = [(one, *one.parts()) for one in (*self._all, self.end)]
        shared: dict[int, Any] = {}
        for _, sim, grown in places:
            for _, growth, _ in grown:
                if id(growth) not in shared:
                    shared |= {id(one): one for one in growth.values if not isinstance(one, int)}
                    shared[id(growth)] = growth
            shared |= {id(one): one for one in _unchanging(sim)}
        table = {number: at for at, number in enumerate(shared)}
        found = [
            (_packed(parts, table), one.events, one.move, one.until, one.settling, one.weight)
            for one, *parts in places
        ]
        together = pickle.dumps([*shared.values()], pickle.HIGHEST_PROTOCOL)
        return together, found, self._apart, self.weight

    def __setstate__(self, state: tuple[bytes, list[tuple[Any, ...]], int, int]) -> None:
        together, found, self._apart, self.weight = state
        self._growths = Growths()
        self._all = []
        shared = Packed(together)
        for text, *rest in found:
            one = Checkpoint.__new__(Checkpoint)
            one._packed = shared, text
            one.events, one.move, one.until, one.settling, one.weight = rest
            self._all.append(one)
        self.end = self._all.pop()


# -- for another process ---------------------------------------------------------------------------


class Packed:
    """Entries that checkpoints share, as bytes until one of them is taken up."""

    def __init__(self, together: bytes) -> None:
        self._together = together
        self._objects: list[Any] | None = None

    def load(self, text: bytes) -> Any:
        """Unpack a checkpoint."""
        if self._objects is None:
            self._objects = pickle.loads(self._together)
            self._together = b""
        return _Unpickler(BytesIO(text), self._objects).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: BytesIO, table: dict[int, int]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._table = table

    def persistent_id(self, one: object) -> int | None:
        return self._table.get(id(one))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, objects: list[Any]) -> None:
        super().__init__(file)
        self._objects = objects

    def persistent_load(self, at: Any) -> Any:
        return self._objects[at]


def _unchanging(sim: Simulation) -> Iterator[Any]:
    """Yield what copies of a simulation have in common."""
    yield from (sim.scenario, sim.profile, sim.configs)
    yield from sim.network.open.values()
    for client in sim.clients.values():
        if isinstance(client, Producer):
            yield from client.outstanding.values()
    for broker in sim.cluster.brokers.values():
        for replica in broker.replicas.values():
            yield from replica.waiting


def _packed(parts: Sequence[Any], table: dict[int, int]) -> bytes:
    file = BytesIO()
    _Pickler(file, table).dump(tuple(parts))
    return file.getvalue()
