"""One partition of a run beside the ladder: each event is mapped to moves of a rung.

The ladder knows no messages, so an actor reads its peer at once; in a run it reads the peer as it
was when the message left.  A move is *of the model* if its guard holds of the peers as they are,
*late* if it holds of them as they were at some moment since the actor last learnt of its leader.
Acts of brokers that the published models leave out are shown beside the moves (`BESIDE`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from engine.ladder.rungs import Rung
from engine.ladder.search import LadderMove
from engine.ladder.state import (
    NOBODY,
    AbstractCluster,
    AbstractController,
    AbstractReplica,
    Record,
)
from engine.model.log import Batch
from engine.refinement import observe
from engine.refinement.observe import SeenRecord
from engine.sim.simulation import Simulation

LEARNS: Final = "learns-hw"
RESTARTS: Final = "restarts"
CUTS_TO_END: Final = "cuts-to-end"
FENCES: Final = "controller-fences"
JOINS: Final = "joins-at-epoch-start"
JOINS_BEHIND: Final = "joins-behind-the-mark"
EXPIRES: Final = "leader-expires"
BESIDE: Final = {
    LEARNS: "a high watermark comes with an answer that has no record",
    RESTARTS: "a broker starts with the high watermark of its checkpoint",
    CUTS_TO_END: "a follower beyond its leader's end is told so and cuts to it",
    FENCES: "KRaft's controller takes out a broker that it fences, in the same leader epoch (3.6)",
    JOINS: "a follower joins once its own end, not the mark, is in the leader's epoch (KAFKA-7128)",
    JOINS_BEHIND: "the mark moves on while ZooKeeper is told that a follower joins (before 2.7)",
    EXPIRES: "a leader takes out whom it has not heard of, however long the log",
}
"""Acts of a run that the published models leave out, with a description."""


class Matched(NamedTuple):
    """A move, and whether a peer had to be read as it was before."""

    move: LadderMove
    late: bool
    after: AbstractCluster


class UnmatchedError(Exception):
    """An event that is no move of the rung; the message says why, in one sentence.

    `beyond`: it is of a kind that no rung has a word for, so it says nothing about the rung.
    """

    def __init__(self, sentence: str, beyond: bool = False) -> None:
        super().__init__(sentence)
        self.beyond = beyond


class ModelTracker:
    """The ladder's state beside a run's, and what it was before."""

    def __init__(self, sim: Simulation, tp: int, rung: Rung) -> None:
        """Raise UnmatchedError for a beginning that the ladder has no state for."""
        self.rung = rung
        self._sim, self._tp = sim, tp
        record = observe.record(sim, tp)
        if record is None:
            raise UnmatchedError("The partition is not there.", beyond=True)
        self.brokers = tuple(sorted(record.replicas))
        self._place = {broker: place for place, broker in enumerate(self.brokers)}
        self._record = record
        self._seen = [observe.replica(sim, tp, broker) for broker in self.brokers]
        self._records: dict[int, tuple[Batch, tuple[Record, ...]]] = {}
        """id of a batch -> the batch, which keeps the id its own, and its records."""
        self._epochs = {epoch: epoch for epoch in range(record.epoch + 1)}
        """Leader epoch of the run -> of the ladder, where an election may take two."""
        self._next_record = 0
        self._since = [0] * len(self.brokers)
        """Step at which each replica last learnt of its leader."""
        self._restarted = [seen.incarnation for seen in self._seen]
        """The incarnation whose high watermark is reported already."""
        self._cut: dict[int, tuple[Record, ...]] = {}
        """Replica that has begun to cut and has not come to the end of it -> its log."""
        self._led: list[set[int]] = [set() for _ in self.brokers]
        """Epochs in which each replica leads without a break."""
        self._fenced: dict[int, int] = {}
        """Epoch of the ladder -> whom the controller has taken out in it and not announced."""
        self._steps = 0
        self.controller = self._first_record(record)
        self.replicas = [self._first(place) for place in range(len(self.brokers))]
        for replica in self.replicas:
            if replica.presumes:
                self._led[replica.me].add(replica.epoch)
        self._past: list[list[tuple[int, AbstractReplica]]] = [
            [(0, each)] for each in self.replicas
        ]
        self._found: list[Matched] = []

    # -- the beginning ----------------------------------------------------------------------------

    def _first_record(self, record: SeenRecord) -> AbstractController:
        """Return a record for the unknown announcements before the run: one each epoch."""
        told = (self._place_of(record.leader), self._bits(record.isr))
        return AbstractController(told[1], 0, (told,) * (record.epoch + 1))

    def _first(self, place: int) -> AbstractReplica:
        seen = self._seen[place]
        if seen.log_start:
            raise UnmatchedError("Logs do not begin with their first record.", beyond=True)
        log: list[Record] = []
        for batch in seen.batches:
            if id(batch) not in self._records:
                self._know(batch, self._epochs.get(batch.epoch, 0))
            log += self._records[id(batch)][1]
        self.controller = self.controller._replace(next_record=self._next_record)
        heard = seen.epoch if seen.leads or seen.follows else NOBODY
        leader = self._place_of(seen.leader) if heard != NOBODY else NOBODY
        isr = self.controller.isr if heard != NOBODY else 0
        return AbstractReplica(place, tuple(log), max(seen.hw, 0), heard, leader, isr)

    def _know(self, batch: Batch, epoch: int) -> None:
        first = self._next_record
        self._next_record += len(batch.values)
        records = tuple((record, epoch) for record in range(first, self._next_record))
        self._records[id(batch)] = batch, records

    def _place_of(self, broker: int) -> int:
        return self._place.get(broker, NOBODY)

    def _bits(self, brokers: frozenset[int]) -> int:
        return sum(1 << self._place[broker] for broker in brokers)

    @property
    def cluster(self) -> AbstractCluster:
        return AbstractCluster(tuple(self.replicas), self.controller)

    # -- what was, and what becomes ---------------------------------------------------------------

    def _becomes(self, move: LadderMove, late: bool, new: AbstractReplica) -> None:
        self.replicas[new.me] = new
        self._past[new.me].append((self._steps, new))
        self._found.append(Matched(move, late, self.cluster))

    def _ever(self, me: int, peer: int) -> Iterator[tuple[AbstractReplica, bool]]:
        """Yield a peer as it is, then as it was since this one learnt of its leader."""
        yield self.replicas[peer], False
        past, since = self._past[peer], self._since[me]
        for place in range(len(past) - 1, 0, -1):
            if past[place][0] < since:
                return  # it was so already
            yield past[place - 1][1], True

    def _name(self, place: int) -> str:
        return self._sim.brokers[self.brokers[place]].machine.name

    def _late(
        self,
        leader: AbstractReplica,
        other: int,
        guard: Callable[[AbstractReplica, AbstractReplica], int],
    ) -> bool | None:
        """Check whether a guard of the leader holds of a peer as it is, or as it was.

        It returns False for as it is, True for as it was, None for never.  What the leader knew of
        it in an earlier epoch of its own it still knows.
        """
        if other == leader.me:
            return False if guard(leader, leader) else None
        for peer, late in self._ever(leader.me, other):
            if guard(leader, peer):
                return late
            if peer.epoch in self._led[leader.me] and guard(
                leader._replace(epoch=peer.epoch), peer
            ):
                return True
        return None
