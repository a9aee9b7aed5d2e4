"""Does a scenario keep what it promises?  Plays the script and checks every `expect` on the way.

Tests ask this of the whole library, the command line of any scenario file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.model.errors import name_of
from engine.model.log import Log
from engine.scenarios.expectations import INVARIANTS, Expectation, parse
from engine.scenarios.scenario import Scenario
from engine.sim import moves
from engine.sim.run import Run
from engine.sim.simulation import Simulation


@dataclass(slots=True)
class Played:
    """One scenario played under one profile: the simulation at its end, and what was not kept."""

    scenario: Scenario
    profile: str
    seed: int
    sim: Simulation
    complaints: list[str] = field(default_factory=list)


def play(scenario: Scenario, profile: str, seed: int = 0) -> Played:
    """Plays the script; each `expect` line is checked where it stands, the verdict at the end.
    Raises BadInput for a move that is malformed or impossible, naming the line."""
    sim = Run(scenario, profile, seed).simulation()
    played = Played(scenario, profile, seed, sim)
    for line in scenario.lines(profile):
        if line.is_expect:
            wanted = parse(line.text, scenario.brokers)
            why = unkept(sim, wanted)
            if why:
                played.complaints.append(f"line {line.number}: expected {wanted.text}, but {why}")
        else:
            for _ in moves.play(sim, moves.parse(line.text, scenario.brokers)):
                pass
    played.complaints += _final(played)
    return played


def _final(played: Played) -> list[str]:
    """What the expectation of this profile says of the end of the run."""
    promised = played.scenario.expectation(played.profile)
    if promised is None:
        return []
    sim, complaints = played.sim, []
    verdict = promised["verdict"]
    broken = [name for name in INVARIANTS if name in {one for one, _, _ in sim.broken}]
    if verdict != "statistical" and broken != ([] if verdict == "holds" else verdict):
        wanted = "nothing" if verdict == "holds" else " ".join(verdict)
        complaints.append(
            f"verdict: {wanted} should break, but {' '.join(broken) or 'nothing'} did"
        )
    if "final" in promised:
        why = unkept(sim, parse(promised["final"], played.scenario.brokers))
        if why:
            complaints.append(f"final: expected {promised['final']}, but {why}")
    for name, entries in promised.get("logs", {}).items():
        why = unkept(sim, parse(f"log {name} {entries}".strip(), played.scenario.brokers))
        if why:
            complaints.append(f"logs: expected {name}: {entries}, but {why}")
    for name in promised.get("counts", ()):
        if not sim.checker.counts.get(name) and name[0] != "A":
            complaints.append(f"counts: {name} was expected to be counted, but never was")
    return complaints


def unkept(sim: Simulation, wanted: Expectation) -> str:
    """Why the expectation does not hold now, or ""."""
    if wanted.kind == "record":
        return _record(sim, wanted)
    if wanted.kind in ("ack", "refused", "waiting"):
        return _answers(sim, wanted)
    if wanted.kind in ("deleting", "deleted"):
        return _deletion(sim, wanted)
    disk = sim.brokers[wanted.who].disks.get(wanted.partition)
    log = disk.log if disk is not None else Log()
    if wanted.kind == "replica":
        found = (log.leo, log.hw, log.log_start)
        same = all(want in (-1, have) for want, have in zip(wanted.numbers, found, strict=True))
        return "" if same else f"it has LEO {log.leo} HW {log.hw} START {log.log_start}"
    if wanted.kind == "log":
        pairs = [(value, batch.epoch) for batch in log.batches for value in batch.values]
        if pairs == list(zip(wanted.names, wanted.numbers, strict=True)):
            return ""
        return "it holds " + (" ".join(f"{value}@{epoch}" for value, epoch in pairs) or "nothing")
    entries = [number for entry in log.epochs.entries() for number in entry]
    if entries == list(wanted.numbers):
        return ""
    return "its cache is " + (" ".join(f"{e}:{s}" for e, s in log.epochs.entries()) or "empty")


def _deletion(sim: Simulation, wanted: Expectation) -> str:
    k, (name,) = sim.cluster.controller, wanted.names
    tps = [tp for tp, one in enumerate(sim.cluster.names) if one == name]
    if not tps:
        return f"there never was a partition {name}"
    dying = {tp for topic in k.deletions for tp in k.topics[topic].tps}
    state = "deleting" if dying & set(tps) else ""
    if not state:
        state = "deleted" if any(tp not in k.records for tp in tps) else "there"
    return "" if state == wanted.kind else f"it is {state}"


def _record(sim: Simulation, wanted: Expectation) -> str:
    record = sim.cluster.controller.records.get(wanted.partition)
    if record is None:
        return f"there is no partition {wanted.partition}"
    last: Any = record.last_known_elr
    same = (
        (record.leader, record.leader_epoch, record.partition_epoch)
        == (wanted.who, *wanted.numbers)
        and sorted(record.isr) == sorted(wanted.isr)
        and wanted.elr in (None, tuple(sorted(record.elr)))
        and wanted.last in (None, tuple(sorted(last)))
    )
    if same:
        return ""
    names = sim.scenario.broker_name
    isr = ",".join(names(one) for one in record.isr)
    text = (
        f"the record is P{{{names(record.leader) if record.leader >= 0 else -1} "
        f"{record.leader_epoch} {record.partition_epoch} [{isr}]"
    )
    if record.elr or last:
        text += f" elr [{','.join(map(names, record.elr))}] last [{','.join(map(names, last))}]"
    return text + "}"


def _answers(sim: Simulation, wanted: Expectation) -> str:
    """What the producers were told of these records."""
    ledger = sim.ledger
    acked = {value for of_one in ledger.acked for one in of_one for value in one.values}
    for name in wanted.names:
        if name in acked:
            told = "acknowledged"
        elif name in ledger.failed:
            told = "refused " + name_of(ledger.failed[name])
        else:
            told = "not answered yet"
        kept = {
            "ack": name in acked,
            "waiting": name not in acked and name not in ledger.failed,
            "refused": name not in acked and told == f"refused {wanted.error}",
        }[wanted.kind]
        if not kept:
            return f"{name} was {told}"
    return ""
