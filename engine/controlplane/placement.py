"""Placement of the replicas of new partitions (control-plane specification, 2).

Placement decides only the replica lists; the first replica is the preferred leader.  `chance` has
one method, `below(n)`: a random integer in [0, n), in a run from the kernel's own stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Protocol, TypeVar

from engine.model import errors
from engine.model.declared import declared
from engine.model.records import Ids

T = TypeVar("T")
Placed = tuple[int, list[Ids]]
"""(error code, replica lists in partition order); the lists are empty on an error."""


class PlacementChance(Protocol):
    def below(self, limit: int) -> int: ...


def shuffle(items: list[T], chance: PlacementChance) -> None:
    """Shuffle as java.util.Collections does (Fisher-Yates, from the end)."""
    for size in range(len(items), 1, -1):
        other = chance.below(size)
        items[size - 1], items[other] = items[other], items[size - 1]


@declared
class Candidate:
    """A broker that may get replicas; `rack` is None if broker.rack is not set."""

    id: int
    rack: str | None = None
    fenced: bool = False


# -- textbook -------------------------------------------------------------------------------------


def place_simple(brokers: Iterable[int], partitions: int, factor: int) -> Placed:
    """CP-PLACE-SIMPLE.  Place replica j of partition i on broker (i + j) mod n.  For teaching."""
    ids = sorted(brokers)
    error = _check_zk(partitions, factor, len(ids))
    if error:
        return error, []
    n = len(ids)
    return error, [tuple(ids[(p + j) % n] for j in range(factor)) for p in range(partitions)]


def _check_zk(partitions: int, factor: int, brokers: int) -> int:
    if partitions <= 0:
        return errors.INVALID_PARTITIONS
    if factor <= 0 or factor > brokers:
        return errors.INVALID_REPLICATION_FACTOR
    return errors.NONE


# -- ZooKeeper era --------------------------------------------------------------------------------


def place_zk(
    brokers: Sequence[Candidate],
    partitions: int,
    factor: int,
    chance: PlacementChance,
    *,
    start: int = -1,
    shift: int = -1,
    first_partition: int = 0,
) -> Placed:
    """CP-PLACE-ZK and CP-PLACE-ZK-RACK.  Place replicas; by rack if every broker has one.

    `start` is the index of the first broker, and the first shift if `shift` is -1; -1 draws it at
    random.  When partitions are added, `start` is the index of partition 0's first replica and
    `first_partition` the old count.  If only some brokers have a rack, the error code is
    UNKNOWN_SERVER_ERROR (Kafka's AdminOperationException).
    """
    error = _check_zk(partitions, factor, len(brokers))
    if error:
        return error, []
    racks = {broker.id: broker.rack for broker in brokers if broker.rack is not None}
    if racks and len(racks) < len(brokers):
        return errors.UNKNOWN_SERVER_ERROR, []
    ids = rack_alternated(brokers)
    n = len(ids)
    first_index = start if start >= 0 else chance.below(n)
    if shift < 0:
        shift = start if start >= 0 else chance.below(n)
    placed: list[Ids] = []
    begin = max(0, first_partition)
    for partition in range(begin, begin + partitions):
        if partition > 0 and partition % n == 0:
            shift += 1
        first = (partition + first_index) % n
        if racks:
            placed.append(_followers_by_rack(ids, racks, first, shift, factor))
        else:
            followers = (_follower(ids, first, shift + j) for j in range(factor - 1))
            placed.append((ids[first], *followers))
    return errors.NONE, placed


def rack_alternated(brokers: Sequence[Candidate]) -> list[int]:
    """CP-PLACE-ZK-RACK 1.  Return the brokers, alternating between racks; by id without racks."""
    of_rack: dict[str, list[int]] = {}
    for broker in sorted(brokers, key=lambda b: b.id):
        of_rack.setdefault(broker.rack or "", []).append(broker.id)
    racks = [of_rack[name] for name in sorted(of_rack)]
    return [broker for turn in zip_longest(*racks) for broker in turn if broker is not None]


def _follower(ids: list[int], first: int, shift: int) -> int:
    n = len(ids)
    return ids[(first + 1 + shift % (n - 1)) % n]


def _followers_by_rack(
    ids: list[int], racks: dict[int, str], first: int, shift: int, factor: int
) -> Ids:
    """CP-PLACE-ZK-RACK 2.  Return distinct followers, using every rack before any rack twice."""
    rack_count = len(set(racks.values()))
    replicas = [ids[first]]
    used = {racks[ids[first]]}
    k = 0
    while len(replicas) < factor:
        broker = _follower(ids, first, shift * rack_count + k)
        k += 1
        if racks[broker] in used and len(used) < rack_count:
            continue
        if broker in replicas:
            continue
        replicas.append(broker)
        used.add(racks[broker])
    return tuple(replicas)


# -- KRaft ----------------------------------------------------------------------------------------


class _Brokers:
    """The fenced or the unfenced brokers of one rack, iterated from an offset that advances."""

    __slots__ = ("epoch", "ids", "index", "offset")

    def __init__(self, ids: list[int], chance: PlacementChance) -> None:
        self.ids = sorted(ids)
        self.epoch = 0
        self.index = 0
        self.offset = chance.below(len(ids)) if ids else 0

    def next(self, epoch: int) -> int:
        """Return the next broker of this placement, or -1 when the list is exhausted."""
        if not self.ids:
            return -1
        if self.epoch != epoch:
            self.epoch = epoch
            self.index = 0
            self.offset = (self.offset + 1) % len(self.ids)
        if self.index >= len(self.ids):
            return -1
        broker = self.ids[(self.index + self.offset) % len(self.ids)]
        self.index += 1
        return broker


class _Rack:
    __slots__ = ("fenced", "unfenced")

    def __init__(self, brokers: Iterable[Candidate], chance: PlacementChance) -> None:
        members = list(brokers)
        self.fenced = _Brokers([b.id for b in members if b.fenced], chance)
        self.unfenced = _Brokers([b.id for b in members if not b.fenced], chance)

    def next(self, epoch: int) -> int:
        broker = self.unfenced.next(epoch)
        return broker if broker >= 0 else self.fenced.next(epoch)

    def shuffle(self, chance: PlacementChance) -> None:
        shuffle(self.fenced.ids, chance)
        shuffle(self.unfenced.ids, chance)


class StripedPlacer:
    """CP-PLACE-KR.  Stripes replicas over racks and, within a rack, over its brokers.

    The brokers passed are usable: registered and not in controlled shutdown.
    """

    __slots__ = ("_chance", "_epoch", "_offset", "_order", "_racks", "total", "unfenced")

    def __init__(self, brokers: Sequence[Candidate], chance: PlacementChance) -> None:
        self._chance = chance
        self.total = len(brokers)
        self.unfenced = sum(1 for b in brokers if not b.fenced)
        names = sorted({b.rack for b in brokers}, key=lambda rack: (rack is not None, rack or ""))
        # The draws of the racks come in the order of their names, however the order is mixed.
        self._racks = {
            name: _Rack((b for b in brokers if b.rack == name), chance) for name in names
        }
        self._order = names
        self._epoch = 0
        self._offset = chance.below(len(names)) if names else 0

    def rack_names(self) -> list[str | None]:
        """Return the names of the racks in ascending order; None stands for brokers without one."""
        return list(self._racks)

    def check(self, factor: int) -> int:
        """Return INVALID_REPLICATION_FACTOR if no placement with `factor` replicas exists."""
        if factor <= 0 or factor > self.total or self.unfenced == 0:
            return errors.INVALID_REPLICATION_FACTOR
        return errors.NONE

    def place_one(self, factor: int) -> tuple[int, Ids]:
        """Return (error code, replicas of the next partition); the first is never fenced."""
        error = self.check(factor)
        if error:
            return error, ()
        if self._epoch == self.unfenced and self.unfenced > 1:
            # The offsets are about to come round: mix, lest the same lists come again.
            shuffle(self._order, self._chance)
            for rack in self._racks.values():
                rack.shuffle(self._chance)
            self._epoch = 0
        if self._offset == len(self._order):
            self._offset = 0
        leader_rack, leader = self._place_leader()
        replicas = [leader]
        at = self._offset
        skip = leader_rack
        while len(replicas) < factor:
            broker = -1
            if at == skip:
                skip = -1  # only once: the leader's rack comes again after all the others
            else:
                broker = self._racks[self._order[at]].next(self._epoch)
            at = (at + 1) % len(self._order)
            if broker >= 0:
                replicas.append(broker)
        self._epoch += 1
        self._offset += 1
        return errors.NONE, tuple(replicas)

    def _place_leader(self) -> tuple[int, int]:
        """Return (rack index, broker): an unfenced broker of the next rack that has one."""
        at = self._offset
        while True:
            broker = self._racks[self._order[at]].unfenced.next(self._epoch)
            if broker >= 0:
                return at, broker
            at = (at + 1) % len(self._order)

    def place(self, partitions: int, factor: int) -> Placed:
        """Return the replica lists for all partitions of a topic."""
        if partitions <= 0:
            return errors.INVALID_PARTITIONS, []
        error = self.check(factor)
        if error:
            return error, []
        return error, [self.place_one(factor)[1] for _ in range(partitions)]


# -- by hand --------------------------------------------------------------------------------------


def check_manual(
    assignments: Sequence[Ids],
    registered: Iterable[int] | None,
    factor: int | None = None,
) -> int:
    """2.5.  Return INVALID_REPLICA_ASSIGNMENT unless every replica list is valid.

    A valid list is not empty, repeats no broker, names registered brokers only (any broker if
    `registered` is None, as for new topics in ZooKeeper), and is as long as the others (or as
    `factor`, the replication factor of an existing topic).
    """
    brokers = None if registered is None else set(registered)
    for replicas in assignments:
        if not replicas or len(set(replicas)) != len(replicas):
            return errors.INVALID_REPLICA_ASSIGNMENT
        if brokers is not None and not brokers.issuperset(replicas):
            return errors.INVALID_REPLICA_ASSIGNMENT
        if factor is None:
            factor = len(replicas)
        if len(replicas) != factor:
            return errors.INVALID_REPLICA_ASSIGNMENT
    return errors.NONE
