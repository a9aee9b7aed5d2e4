"""Facts of one moment of a run, which properties ask for; nothing changes them later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Final

from engine.model.broker import Broker
from engine.model.declared import begins, declared, fresh
from engine.model.effects import Cue
from engine.model.errors import name_of
from engine.model.log import Batch, Log
from engine.model.records import PartitionRecord
from engine.model.state import DOWN, LEADER
from engine.sim.simulation import Simulation

NOBODY: Final = -1
ALL: Final = -1
"""acks=all, as requests write it."""
DISK_FAULTS: Final = frozenset(("CP-8.1.power", "CP-8.1.wipe", "CP-8.1.disk", "L-16"))
"""Rules whose cue reports that a broker lost power, a disk or the disk's contents."""
EMPTIED: Final = "CP-8.1.wipe"

Epochs = tuple[tuple[int, int], ...]
"""((leader epoch, start offset), ...) in order: a leader-epoch cache."""


class ReplicaMoment:
    """One replica.  Offsets are record numbers; `hw` of a stopped broker is what its disk says.

    `remote` (what it knows of its followers' ends), `maximal` and `waiting` (the records of writes
    that wait for an answer) are a leader's.
    """

    __slots__ = (
        "batches",
        "broker",
        "epochs",
        "flushed",
        "hw",
        "leader_epoch",
        "leads",
        "leo",
        "local",
        "maximal",
        "remote",
        "start",
        "waiting",
    )

    def __init__(self, broker: Broker, tp: int) -> None:
        disk = broker.machine.disks.get(tp)
        replica = broker.replicas.get(tp) if broker.status != DOWN else None
        log = disk.log if disk is not None else Log()
        checkpoint = disk.hw_checkpoint if disk is not None else 0
        self.broker = broker.id
        self.leo = log.leo
        self.hw = log.hw if replica is not None else min(checkpoint, log.leo)
        self.start = log.log_start
        self.local = log.first_local()
        self.flushed = disk.recovery_checkpoint if disk is not None else 0
        self.epochs: Epochs = tuple(zip(log.epochs.epochs, log.epochs.starts, strict=True))
        self.batches: tuple[Batch, ...] = tuple(log.batches)
        self.leads = replica is not None and replica.role == LEADER
        self.leader_epoch = replica.leader_epoch if replica is not None else -1
        self.remote: dict[int, int] = {}
        self.maximal: tuple[int, ...] = ()
        self.waiting: tuple[str, ...] = ()
        if replica is not None and self.leads:
            self.remote = {follower: remote.leo for follower, remote in replica.remote.items()}
            self.maximal = replica.maximal_isr
            self.waiting = tuple(
                value for produce in replica.waiting for value in produce.request.values
            )

    def values(self) -> tuple[str, ...]:
        """Return the records, oldest first."""
        return tuple(value for batch in self.batches for value in batch.values)


class PartitionMoment:
    """One partition: the controller's record and every replica."""

    __slots__ = ("min_isr", "name", "record", "replicas", "unclean")

    def __init__(
        self, sim: Simulation, tp: int, record: PartitionRecord, same: Mapping[int, ReplicaMoment]
    ) -> None:
        self.record = record
        self.name = sim.cluster.names[tp]
        self.min_isr = sim.cluster.controller.min_isr_for(tp)
        self.unclean = sim.cluster.controller.unclean_for(tp)
        self.replicas = {
            replica: same.get(replica) or ReplicaMoment(sim.brokers[replica], tp)
            for replica in record.replicas
        }

    def leader(self) -> ReplicaMoment | None:
        """Return the replica that the controller's record names, None while there is none."""
        return self.replicas.get(self.record.leader)


@declared
class ObserverNotes:
    """Notes of the outside observer so far: record -> the step at which it first was so.

    One object serves all moments of a run; a moment asks whether the step had come.
    """

    acked: dict[str, int] = fresh(dict)
    acked_all: dict[str, int] = fresh(dict)
    failed: dict[str, tuple[int, str]] = fresh(dict)  # with the error's name
    committed: dict[str, int] = fresh(dict)
    read: dict[str, int] = fresh(dict)
    lost: dict[str, int] = fresh(dict)
    repeated: dict[str, int] = fresh(dict)
    skipped: dict[str, int] = fresh(dict)
    broken: dict[str, int] = fresh(dict)
    emptied: frozenset[int] = begins(frozenset())
    struck: frozenset[int] = begins(frozenset())
    _seen: dict[tuple[str, int], int] = fresh(dict)

    def note(self, sim: Simulation, step: int) -> None:
        """Add the facts that have become true by this step."""
        ledger = sim.ledger
        for tp, acked in enumerate(ledger.acked):
            for acknowledged in acked[self._new("acked", tp, len(acked)) :]:
                for value in acknowledged.values:
                    self.acked.setdefault(value, step)
                    if acknowledged.acks == ALL:
                        self.acked_all.setdefault(value, step)
        for name, logs, into in (
            ("committed", ledger.committed, self.committed),
            ("seen", ledger.seen, self.read),
        ):
            for tp, batches in enumerate(logs):
                if self._new(name, tp, len(batches)) < len(batches):
                    for batch in batches.values():
                        for value in batch.values:
                            into.setdefault(value, step)
        for value, error in ledger.failed.items():
            self.failed.setdefault(value, (step, name_of(error)))
        for value in ledger.lost:
            self.lost.setdefault(value, step)
        for (_, value), times in ledger.processed.items():
            if times > 1:
                self.repeated.setdefault(value, step)
        for _, value in ledger.skipped:
            self.skipped.setdefault(value, step)
        for name, at, _ in sim.broken[len(self.broken) :]:
            self.broken.setdefault(name, at)

    def strike(self, cues: Iterable[Cue]) -> None:
        """Add the brokers that these cues report to have lost power, a disk or its contents."""
        for rule, node, *_ in cues:
            if rule in DISK_FAULTS:
                self.struck |= {node}
            if rule == EMPTIED:
                self.emptied |= {node}

    def _new(self, name: str, tp: int, count: int) -> int:
        """Return the former count, and set `count` from now on."""
        before = self._seen.get((name, tp), 0)
        self._seen[name, tp] = count
        return before


class Moment:
    """The cluster after event number `step`, at virtual time `now` (ms).

    `before` is an earlier moment of the same run, `touched` the brokers that did something since:
    the other brokers' replicas are as they were, and are not looked at again.
    """

    __slots__ = ("alive", "emptied", "fenced", "known", "now", "parts", "step", "struck", "unclean")

    def __init__(
        self,
        sim: Simulation,
        step: int,
        notes: ObserverNotes,
        before: Moment | None = None,
        touched: Set[int] = frozenset(),
    ) -> None:
        self.step = step
        self.now = sim.now
        self.known = notes
        self.struck = notes.struck
        self.emptied = notes.emptied
        self.unclean = bool(sim.ledger.unclean_epochs)
        k = sim.cluster.controller
        self.parts = {
            tp: PartitionMoment(sim, tp, record, before.untouched(tp, touched) if before else {})
            for tp, record in k.records.items()
        }
        self.alive = frozenset(
            broker.id for broker in sim.brokers.values() if broker.status != DOWN
        )
        self.fenced = frozenset(
            broker for broker in sim.brokers if broker not in k.brokers or k.brokers[broker].fenced
        )

    def untouched(self, tp: int, touched: Set[int]) -> dict[int, ReplicaMoment]:
        """Return the replicas of a partition on brokers other than these."""
        part = self.parts.get(tp)
        if part is None:
            return {}
        return {
            broker: replica for broker, replica in part.replicas.items() if broker not in touched
        }
