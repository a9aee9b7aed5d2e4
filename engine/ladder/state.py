"""State of the ladder's model of a partition: replicas, announcements, the controller's record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine.model.errors import InputError

NOBODY: Final = -1
"""Instead of a replica or an epoch."""

Record = tuple[int, int]
"""(id, leader epoch)."""
ReplicaLog = tuple[Record, ...]
Announcement = tuple[int, int]
"""(leader or `NOBODY`, in-sync set); its epoch is its place among the announcements."""

LIMITS: Final = {"replicas": (1, 6), "log": (1, 8), "records": (1, 8), "epochs": (0, 8)}
"""Between what each constant may lie.  Beyond six replicas no search would come to an end."""


@dataclass(frozen=True)
class Constants:
    """The size of the model.  Leader epochs run from 0 to `epochs`: there are `epochs` + 1."""

    replicas: int
    log: int
    records: int
    epochs: int

    def __post_init__(self) -> None:
        check_limits(vars(self), LIMITS)

    @property
    def everybody(self) -> int:
        """All replicas, as a set of bits."""
        return (1 << self.replicas) - 1


def check_limits(given: dict[str, int], limits: dict[str, tuple[int, int]]) -> None:
    """Raise InputError with the first constant that lies outside its limits."""
    for name, value in given.items():
        least, most = limits[name]
        if not least <= value <= most:
            sentence = "{0} must be from {1} to {2}, not {3}."
            raise InputError("invalid", sentence, name, least, most, value)


class AbstractReplica(NamedTuple):
    """One replica: what it has, and what it has heard."""

    me: int
    log: ReplicaLog
    hw: int
    epoch: int
    """The leader epoch it has heard of; -1 before the first."""
    leader: int
    """Whom it takes for the leader; itself if it presumes leadership."""
    isr: int
    """Its copy of the in-sync set, as bits."""

    @property
    def end(self) -> int:
        return len(self.log)

    @property
    def presumes(self) -> bool:
        """Check whether the replica takes itself for the leader."""
        return self.leader == self.me

    def has(self, offset: int) -> bool:
        return 0 <= offset < len(self.log)


class AbstractController(NamedTuple):
    """The controller's record, and every announcement it ever made.

    Announcements are never taken back, so each may be heard late, twice or never.
    """

    isr: int
    next_record: int
    changes: tuple[Announcement, ...]

    @property
    def leader(self) -> int:
        return self.changes[-1][0] if self.changes else NOBODY

    @property
    def epoch(self) -> int:
        return len(self.changes) - 1

    def announces(self, leader: int, isr: int) -> AbstractController:
        return AbstractController(isr, self.next_record, (*self.changes, (leader, isr)))


class AbstractCluster(NamedTuple):
    """A whole state, as people read it; the search itself works on numbers."""

    replicas: tuple[AbstractReplica, ...]
    controller: AbstractController


def beginning(constants: Constants) -> AbstractCluster:
    """Return the first state: empty logs, no leader, no announcements, all replicas in sync."""
    return AbstractCluster(
        tuple(AbstractReplica(me, (), 0, -1, NOBODY, 0) for me in range(constants.replicas)),
        AbstractController(constants.everybody, 0, ()),
    )


def members(isr: int) -> Iterator[int]:
    """Return the replicas of a set of bits, in order."""
    member = 0
    while isr:
        if isr & 1:
            yield member
        isr >>= 1
        member += 1


# -- the same state with other names --------------------------------------------------------------


def renamed_set(isr: int, names: Sequence[int]) -> int:
    return sum(1 << names[member] for member in members(isr))


def renamed(replica: AbstractReplica, names: Sequence[int]) -> AbstractReplica:
    """Return the replica, if each replica r were called names[r]."""
    leader = replica.leader if replica.leader == NOBODY else names[replica.leader]
    return replica._replace(
        me=names[replica.me], leader=leader, isr=renamed_set(replica.isr, names)
    )


def renamed_controller(controller: AbstractController, names: Sequence[int]) -> AbstractController:
    return AbstractController(
        renamed_set(controller.isr, names),
        controller.next_record,
        tuple(
            (leader if leader == NOBODY else names[leader], renamed_set(isr, names))
            for leader, isr in controller.changes
        ),
    )
