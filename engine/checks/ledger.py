"""Ledger of an outside observer: records sent, acknowledged, committed, read.

No rule can reach it.  The invariants compare it with the state.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.checks.voters import QuorumMemory
from engine.model.copying import shallow
from engine.model.declared import begins, declared, fresh
from engine.model.log import Batch
from engine.model.records import NO_LEADER, PartitionRecord

Sequence = tuple[int, int, int]
"""(producer, its epoch, sequence number) of a batch of an idempotent producer (P-7)."""


@declared
class Acked:
    """One acknowledged batch, and the offset in the acknowledgement."""

    tp: int
    base: int
    values: tuple[str, ...]
    acks: int
    latency_ms: int


@declared
class Outage:
    """Intervals without availability (ms): start of the open one (-1: none), total, longest."""

    since: int = begins(-1)
    total_ms: int = begins(0)
    longest_ms: int = begins(0)

    def copy(self) -> Outage:
        return shallow(self)

    def note(self, available: bool, now: int) -> None:
        if available:
            if self.since >= 0:
                lasted = now - self.since
                self.total_ms += lasted
                self.longest_ms = max(self.longest_ms, lasted)
                self.since = -1
        elif self.since < 0:
            self.since = now


@declared
class Ledger:
    """Per partition, since the start of the run.  Times and latencies are ms."""

    sent: int = begins(0)
    acked: list[list[Acked]] = fresh(list)
    failed: dict[str, int] = fresh(dict)  # record -> error the producer gave up with
    committed: list[dict[int, Batch]] = fresh(list)
    hw_reached: list[int] = fresh(list)
    seen: list[dict[int, Batch]] = fresh(list)
    released: dict[int, int] = fresh(dict)  # partition -> deleted on purpose below this offset
    # of idempotent producers, per partition: (producer, epoch, sequence) -> first offset
    sequences: list[dict[Sequence, int]] = fresh(list)
    lost: dict[str, int] = fresh(dict)  # acks=all record that is gone -> partition
    lost_single: dict[str, int] = fresh(dict)  # the same for acks=1: a statistic (I8)
    unclean_lost: set[str] = fresh(set)  # those of `lost` whose partition had unclean elections
    committed_lost: int = begins(0)  # records that a new leader did not have (I6)
    diverged: set[tuple[int, int]] = fresh(set)  # (tp, offset) that differed (I5)
    truncated: int = begins(0)  # records that replicas cut off their logs
    processed: dict[tuple[int, str], int] = fresh(dict)  # (group, record) -> times
    skipped: dict[tuple[int, str], int] = fresh(dict)  # (group, record) -> partition
    voters: QuorumMemory = fresh(QuorumMemory)
    isr_shrinks: int = begins(0)
    isr_expands: int = begins(0)
    elections_clean: int = begins(0)
    elections_last_known: int = begins(0)  # CP-ELR 6.5
    elections_unclean: int = begins(0)
    unclean_epochs: set[tuple[int, int]] = fresh(set)  # (tp, leader epoch)
    unwritable: list[Outage] = fresh(list)  # A2: acks=all is refused
    leaderless: list[Outage] = fresh(list)  # A1: acks=1 finds no leader
    uncontrolled: Outage = fresh(Outage)  # no controller is active

    def copy(self) -> Ledger:
        twin = shallow(self)
        twin.uncontrolled = self.uncontrolled.copy()
        twin.voters = self.voters.copy()
        twin.acked = [of_one.copy() for of_one in self.acked]
        twin.committed = [of_one.copy() for of_one in self.committed]
        twin.seen = [of_one.copy() for of_one in self.seen]
        twin.sequences = [of_one.copy() for of_one in self.sequences]
        twin.unwritable = [outage.copy() for outage in self.unwritable]
        twin.leaderless = [outage.copy() for outage in self.leaderless]
        twin.diverged = self.diverged.copy()
        twin.failed = self.failed.copy()
        twin.hw_reached = self.hw_reached.copy()
        twin.lost = self.lost.copy()
        twin.lost_single = self.lost_single.copy()
        twin.processed = self.processed.copy()
        twin.released = self.released.copy()
        twin.skipped = self.skipped.copy()
        twin.unclean_epochs = self.unclean_epochs.copy()
        twin.unclean_lost = self.unclean_lost.copy()
        return twin

    def grow(self, partitions: int) -> None:
        """Add `partitions` new partitions, of which nothing is known yet."""
        for _ in range(partitions):
            self.acked.append([])
            self.committed.append({})
            self.hw_reached.append(0)
            self.seen.append({})
            self.sequences.append({})
            self.unwritable.append(Outage())
            self.leaderless.append(Outage())

    @staticmethod
    def key(batch: Batch) -> Sequence:
        """Return the key that distinguishes a batch of an idempotent producer from all others."""
        return batch.producer, batch.producer_epoch, batch.sequence

    def commit(
        self, tp: int, batches: Iterable[Batch], hw: int
    ) -> tuple[Batch | None, Batch | None]:
        """Note the batches that a leader's high watermark has passed.

        Return (a committed batch that they contradict or None, one of them that an idempotent
        producer has in the committed log already or None).
        """
        conflict = twice = None
        committed, released = self.committed[tp], self.released.get(tp, 0)
        for batch in batches:
            if batch.end <= released:
                continue
            before = committed.get(batch.base)
            if before is not None and not before.same(batch):
                conflict = before
            committed[batch.base] = batch
            if batch.producer >= 0:
                first = self.sequences[tp].setdefault(self.key(batch), batch.base)
                if first != batch.base:
                    if first in committed and self.key(committed[first]) == self.key(batch):
                        twice = batch
                    else:  # the first was lost since: this one stands for it
                        self.sequences[tp][self.key(batch)] = batch.base
        self.hw_reached[tp] = max(self.hw_reached[tp], hw)
        return conflict, twice

    def release(self, tp: int, offset: int) -> None:
        """Forget what was deleted on purpose below this offset: no replica has to have it now."""
        self.released[tp] = offset
        committed = self.committed[tp]
        for base in [base for base, batch in committed.items() if batch.end <= offset]:
            del committed[base]

    def kept_from(self, tp: int, start: int) -> int:
        """Return the offset from `start` on below which nothing needs to be anywhere."""
        return max(start, self.released.get(tp, 0))

    def lose(self, acked: Acked) -> list[str]:
        """Note the records of a batch as gone and return those that were not noted before."""
        lost = self.lost if acked.acks == -1 else self.lost_single
        names = [value for value in acked.values if value not in lost]
        lost.update(dict.fromkeys(names, acked.tp))
        if acked.acks == -1 and any(tp == acked.tp for tp, _ in self.unclean_epochs):
            self.unclean_lost.update(names)
        return names

    def process(self, group: int, value: str) -> int:
        """Note that a group has processed a record, and return how often it has by now."""
        times = self.processed[group, value] = self.processed.get((group, value), 0) + 1
        return times

    def change(self, tp: int, before: PartitionRecord, after: PartitionRecord) -> None:
        """Count what became of a partition's record in one change.

        Unclean is a leader from outside ISR and ELR, also the last known leader, which no setting
        has to allow; its one-member ISR is no follower that caught up, so it counts as no
        expansion.
        """
        unclean = False
        if after.leader not in (NO_LEADER, before.leader):
            unclean = after.leader not in before.isr and after.leader not in before.elr
            last_known = unclean and before.last_known_elr == (after.leader,)
            self.elections_last_known += last_known
            self.elections_unclean += unclean and not last_known
            if unclean:
                self.unclean_epochs.add((tp, after.leader_epoch))
            self.elections_clean += not unclean
        self.isr_shrinks += any(member not in after.isr for member in before.isr)
        self.isr_expands += not unclean and any(member not in before.isr for member in after.isr)

    def latencies(self) -> list[int]:
        """Return the latency of each acknowledged produce, in their order per partition."""
        return [acked.latency_ms for of_one in self.acked for acked in of_one]

    @property
    def unavailable_ms(self) -> list[int]:
        """A2.  Time without acks=all, refused or without a leader, per partition (ms)."""
        return [outage.total_ms for outage in self.unwritable]

    def availability(self, tp: int, led: bool, writable: bool, now: int) -> None:
        """A1, A2.  Note whether there is a leader, and whether it accepts acks=all."""
        self.leaderless[tp].note(led, now)
        self.unwritable[tp].note(writable, now)

    def close(self, now: int) -> None:
        """End the open intervals of unavailability at the end of the run."""
        for tp in range(len(self.unwritable)):
            self.availability(tp, True, True, now)
        self.uncontrolled.note(True, now)
