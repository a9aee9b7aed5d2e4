"""The verdict of a run: what was promised to clients, and what became of it.

Everything that speaks of a run (end card, version strip, library card, picture, command line)
shows this verdict and computes none of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from engine.model.effects import Cue
from engine.model.json_types import Json
from engine.sim.simulation import Simulation
from engine.view.wire import RunVerdict

LOST: Final = "lost"
"""A record acknowledged with acks=all is gone, and every election was clean."""
BROKEN: Final = "broken"
"""Another promise of replication was broken, such as equal logs below the high watermark."""
GONE: Final = "gone"
"""An acknowledged record is gone that nothing protected: it was written with acks=1, an unclean
election followed, or every replica lost its disk or its power."""
UNAVAILABLE: Final = "unavailable"
"""Acknowledged records exist, and no running broker leads their partition."""
KEPT: Final = "kept"
"""A fault struck after a record was acknowledged, and every acknowledged record is there."""
UNTESTED: Final = "untested"
"""No record was acknowledged, or no fault struck afterwards."""
KINDS: Final = (LOST, BROKEN, GONE, UNAVAILABLE, KEPT, UNTESTED)

LOSS: Final = frozenset(("I6", "I7", "I9", "I10"))
"""Invariants that say no more than that a record is gone."""
MANY: Final = ".many"
FIELDS: Final = ("kind", "key", "records", "kept", "fault")
MOST_NAMES: Final = 50

FAULTS: Final = {
    "CP-8.1.power": "power",
    "CP-8.1.wipe": "wipe",
    "CP-8.1.disk": "disk",
    "L-16": "disk",
    "CP-8.1.kill": "crash",
    "CP-8.3.pause": "freeze",
    "CP-8.5.cut": "cut",
    "CP-10.down": "controller",
    "CP-8.5.drop": "loss",
    "CP-8.7.jump": "clock",
    "CP-SHUTDOWN": "shutdown",
    "CP-KR-SHUTDOWN": "shutdown",
    "G-3.dies": "member",
}
"""Rule of a cue -> the fault that it reports."""
CRASH_OF_LEADER: Final = "crash.leader"
DISKS: Final = ("power", "wipe", "disk")
_OTHERS = tuple(fault for fault in dict.fromkeys(FAULTS.values()) if fault not in DISKS)
SEVERITY: Final = (*DISKS, CRASH_OF_LEADER, *_OTHERS)
"""All faults, the worst first."""


Struck = tuple[str, int]
"""(fault, the node that it struck)"""


def faults_in(sim: Simulation, cues: Iterable[Cue]) -> Iterator[Struck]:
    """Return the faults in the cues of an event, if a record was acknowledged before it."""
    for rule, node, *_ in cues:
        fault = FAULTS.get(rule)
        if fault is None or not any(sim.ledger.acked):
            continue
        leads = any(record.leader == node for record in sim.cluster.controller.records.values())
        yield CRASH_OF_LEADER if fault == "crash" and leads else fault, node


def promised(sim: Simulation, faults: Collection[Struck]) -> list[str]:
    """Return the lost records that Kafka had promised to keep.

    Nothing is promised to acks=1, after an unclean election, or if no replica kept its disk.
    """
    ledger = sim.ledger
    clean = {name: tp for name, tp in ledger.lost.items() if name not in ledger.unclean_lost}
    return [name for name, tp in clean.items() if not _every_disk_failed(sim, tp, faults)]


def verdict_so_far(sim: Simulation, faults: Collection[Struck]) -> RunVerdict:
    """Return {kind, key, records} of what is lost, broken or gone by now; {} where nothing is.

    `key` names the sentence in the words of the pages, whose places are {m}, the records, {n}, the
    number of records kept, and {fault}.
    """
    ledger = sim.ledger
    lost = promised(sim, faults)
    destroyed = sorted(set(ledger.lost).difference(ledger.unclean_lost, lost))
    lost_for_good = [*destroyed, *ledger.unclean_lost, *ledger.lost_single]
    excused = LOSS if ledger.unclean_epochs or destroyed else frozenset()
    broken = [name for name, _, _ in sim.broken if name not in excused]
    if lost:
        return _sentence(LOST, lost, MANY if len(lost) > 1 else "")
    if broken or (sim.broken and not lost_for_good):
        worst = min(broken or [name for name, _, _ in sim.broken], key=_is_mechanism)
        return {"kind": BROKEN, "key": f"broken.{worst}", "records": []}
    if lost_for_good:
        cause = ".disks" if destroyed else ".unclean" if ledger.unclean_lost else ".acks"
        return _sentence(GONE, lost_for_good, cause)
    return {}


class Outcome:
    """Follows a run event by event, and gives the verdict at any of its steps."""

    def __init__(self) -> None:
        self._faults: dict[Struck, int] = {}  # fault -> its first step
        self.lost_at: int | None = None

    def note(self, step: int, sim: Simulation, cues: Iterable[Cue]) -> None:
        """Take the cues of the event that led to `step`, and the state after it."""
        for fault in faults_in(sim, cues):
            self._faults.setdefault(fault, step)
        if self.lost_at is None and (sim.ledger.lost or sim.ledger.lost_single):
            self.lost_at = step

    def at(self, step: int, sim: Simulation, is_end: bool) -> RunVerdict:
        """Return `verdict` at the end of the run, before it `verdict_so_far`."""
        faults = self._until(step)
        return verdict(sim, faults) if is_end else verdict_so_far(sim, faults)

    def at_end(self, step: int, sim: Simulation) -> Json:
        """Return `verdict`, and the first step without an acknowledged record (`lost_at`)."""
        return {**verdict(sim, self._until(step)), "lost_at": self.lost_at}

    def _until(self, step: int) -> set[Struck]:
        return {fault for fault, first in self._faults.items() if first <= step}


def _every_disk_failed(sim: Simulation, tp: int, faults: Collection[Struck]) -> bool:
    """Check whether each replica lost power, its disk or the disk's contents.

    Kafka promises to keep what one replica in sync still has.
    """
    record = sim.cluster.controller.records.get(tp)
    struck = {node for fault, node in faults if fault in DISKS}
    return record is not None and struck.issuperset(record.replicas)


def _is_mechanism(invariant: str) -> bool:
    """Sort what is promised to users (I1, ...) before checks of single mechanisms (INV-1, ...)."""
    return invariant.startswith("INV")


def verdict(sim: Simulation, faults: Collection[Struck]) -> RunVerdict:
    """Return the verdict at the end of a run: {kind, key, records, kept, fault}.

    `faults`: those of `faults_in`, over the whole run.  `kept` counts the acknowledged records that
    are in the log of a running leader.
    """
    struck = sorted({fault for fault, _ in faults}, key=SEVERITY.index)
    missing, reachable = _by_reach(sim)
    outcome = verdict_so_far(sim, faults)
    if not outcome:
        if missing:
            outcome = _sentence(UNAVAILABLE, missing)
        else:
            kind = KEPT if reachable and struck else UNTESTED
            usual = _sentence(kind, (), MANY if kind == KEPT and reachable > 1 else "")
            outcome = _of_groups(sim) or usual
    return {**outcome, "kept": reachable, "fault": struck[0] if struck else ""}


def _of_groups(sim: Simulation) -> RunVerdict:
    """G-6.  Return what a group skipped or processed twice of the records that are kept; or {}."""
    twice = [value for (_, value), times in sim.ledger.processed.items() if times > 1]
    skipped = [value for _, value in sim.ledger.skipped]
    if skipped:
        return _sentence(KEPT, skipped, ".skipped")
    return _sentence(KEPT, twice, ".twice") if twice else {}


def _sentence(kind: str, records: Iterable[str], variant: str = "") -> RunVerdict:
    return {
        "kind": kind,
        "key": f"outcome.{kind}{variant}",
        "records": sorted(records)[:MOST_NAMES],
    }


def _by_reach(sim: Simulation) -> tuple[list[str], int]:
    """Return (acknowledged records of partitions without a running leader, number of all others).

    Records that a topic's deletion, retention or DeleteRecords took away count in neither.
    """
    ledger = sim.ledger
    missing: list[str] = []
    reachable = 0
    for tp, record in sim.cluster.controller.records.items():
        leader = sim.brokers.get(record.leader)
        process = None if leader is None else leader.process
        replica = None if process is None else process.replicas.get(tp)
        start = _highest_log_start(sim, tp) if replica is None else replica.log.log_start
        names = [
            name
            for acked in ledger.acked[tp]
            for offset, name in enumerate(acked.values, acked.base)
            if offset >= start and name not in ledger.lost and name not in ledger.lost_single
        ]
        if replica is None:
            missing += names
        else:
            reachable += len(names)
    return missing, reachable


def _highest_log_start(sim: Simulation, tp: int) -> int:
    """Return the offset of a partition below which records were deleted, as its disks have it."""
    disks = [broker.machine.disks.get(tp) for broker in sim.brokers.values()]
    return max((disk.log.log_start for disk in disks if disk is not None), default=0)
