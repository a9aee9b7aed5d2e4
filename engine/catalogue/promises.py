"""Check of a scenario's promises: plays the script and checks every `expect` on the way.

Tests ask this of the whole library, the command line of any scenario file.  Below: what any run may
count on, by the Kafka that plays it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from engine.checks.catalogue import INVARIANTS
from engine.checks.invariant import ALWAYS, DISKS, DURABILITY, EPOCHS
from engine.faults.plan_kinds import PLAN_KINDS, REPAIRED, STRUCK
from engine.model.errors import InputError, name_of
from engine.model.log import Log
from engine.model.phrases import phrase
from engine.model.profiles import FETCH, KIP101, KIP279_FENCED, Profile
from engine.moves import moves
from engine.scenarios.expectations import Expectation, in_order, is_kept, parse, record_notation
from engine.scenarios.fault_lines import Fault
from engine.scenarios.scenario import Scenario
from engine.scenarios.script import ScriptLine
from engine.sim.run import Run
from engine.sim.simulation import Simulation


@dataclass(slots=True)
class PlayedPromises:
    """One scenario played under one profile: the simulation at its end, and what was not kept."""

    scenario: Scenario
    profile: str
    seed: int
    sim: Simulation
    complaints: list[str] = field(default_factory=list)


def play(scenario: Scenario, profile: str, seed: int = 0, budget: int = 0) -> PlayedPromises:
    """Play the script; each `expect` line is checked where it stands, the verdict at the end.

    Raises InputError for a move that is malformed or impossible, naming the line ("line 7"), and
    for a run of more events than the budget allows.
    """
    sim = Run(scenario, profile, seed).simulation()
    sim.budget = budget or sim.budget
    played = PlayedPromises(scenario, profile, seed, sim)
    for line in scenario.lines(profile):
        if line.is_expect:
            expectation = parse(line.text, scenario.brokers)
            why = unkept(sim, expectation)
            if why:
                played.complaints.append(
                    phrase("line {0}: expected {1}, but {2}", line.number, expectation.text, why)
                )
        else:
            _move(sim, line)
    played.complaints += _final(played)
    return played


def _move(sim: Simulation, line: ScriptLine) -> None:
    try:
        for _ in moves.play(sim, moves.parse(line.text, sim.scenario.brokers)):
            pass
    except InputError as bad:
        raise InputError(bad.code, bad.sentence, where=bad.where or f"line {line.number}") from bad
    if sim.events > sim.budget:
        raise InputError(
            "too_large", "The run passed {0} events.", sim.budget, where=f"line {line.number}"
        )


def _final(played: PlayedPromises) -> list[str]:
    """Return what breaks the expectation of this profile at the end of the run."""
    promised = played.scenario.expectation(played.profile)
    if promised is None:
        return []
    sim = played.sim
    complaints: list[str] = []
    verdict = promised["verdict"]
    broken = in_order(name for name, _, _ in sim.broken)
    if not is_kept(verdict, broken):
        expected = "nothing" if verdict == "holds" else " ".join(verdict)
        complaints.append(
            phrase(
                "verdict: {0} should break, but {1} did", expected, " ".join(broken) or "nothing"
            )
        )
    if "final" in promised:
        why = unkept(sim, parse(promised["final"], played.scenario.brokers))
        if why:
            complaints.append(phrase("final: expected {0}, but {1}", promised["final"], why))
    for name, entries in promised.get("logs", {}).items():
        why = unkept(sim, parse(f"log {name} {entries}".strip(), played.scenario.brokers))
        if why:
            complaints.append(phrase("logs: expected {0}: {1}, but {2}", name, entries, why))
    for name in promised.get("counts", ()):
        if not sim.checker.counts.get(name) and name[0] != "A":
            complaints.append(phrase("counts: {0} was expected to be counted, but never was", name))
    return complaints


def unkept(sim: Simulation, expectation: Expectation) -> str:
    """Return why the expectation does not hold now, or ""."""
    if expectation.kind == "record":
        return _record(sim, expectation)
    if expectation.kind in ("ack", "refused", "waiting"):
        return _answers(sim, expectation)
    if expectation.kind in ("deleting", "deleted"):
        return _deletion(sim, expectation)
    if expectation.kind == "consumer":
        position = sim.consumer(expectation.who).position
        return "" if position == expectation.numbers[0] else phrase("it is at {0}", position)
    disk = sim.brokers[expectation.who].machine.disks.get(expectation.partition)
    log = disk.log if disk is not None else Log()
    if expectation.kind == "replica":
        actual = (log.leo, log.hw, log.log_start, log.first_local())
        same = all(
            want in (-1, have) for want, have in zip(expectation.numbers, actual, strict=True)
        )
        return (
            ""
            if same
            else phrase("it has LEO {0} HW {1} START {2}", log.leo, log.hw, log.log_start)
        )
    if expectation.kind == "log":
        pairs = [(value, batch.epoch) for batch in log.batches for value in batch.values]
        if pairs == list(zip(expectation.names, expectation.numbers, strict=True)):
            return ""
        return phrase(
            "it holds {0}", " ".join(f"{value}@{epoch}" for value, epoch in pairs) or "nothing"
        )
    entries = [number for entry in log.epochs.entries() for number in entry]
    if entries == list(expectation.numbers):
        return ""
    return phrase(
        "its cache is {0}", " ".join(f"{e}:{s}" for e, s in log.epochs.entries()) or "empty"
    )


def _deletion(sim: Simulation, expectation: Expectation) -> str:
    (name,) = expectation.names
    if name not in sim.cluster.names:
        return phrase("there never was a partition {0}", name)
    state = _stage_of_deletion(sim, name)
    return "" if state == expectation.kind else phrase("it is {0}", state)


def _stage_of_deletion(sim: Simulation, name: str) -> str:
    """Return "there", "deleting" (the controller waits for replicas) or "deleted"."""
    k = sim.cluster.controller
    tps = {tp for tp, partition in enumerate(sim.cluster.names) if partition == name}
    if any(tps.intersection(k.topics[topic].tps) for topic in k.deletions):
        return "deleting"
    return "there" if tps <= k.records.keys() else "deleted"


def _record(sim: Simulation, expectation: Expectation) -> str:
    record = sim.cluster.controller.records.get(expectation.partition)
    if record is None:
        return phrase("there is no partition {0}", expectation.partition)
    last: Any = record.last_known_elr
    same = (
        (record.leader, record.leader_epoch, record.partition_epoch)
        == (expectation.who, *expectation.numbers)
        and sorted(record.isr) == sorted(expectation.isr)
        and expectation.elr in (None, tuple(sorted(record.elr)))
        and expectation.last in (None, tuple(sorted(last)))
    )
    return "" if same else phrase("the record is {0}", record_text(sim, expectation.partition))


def record_text(sim: Simulation, tp: int) -> str:
    """Return the record of a partition as expectations write it: P{1 0 0 [1,2,3]}."""
    record = sim.cluster.controller.records[tp]
    names = sim.scenario.broker_name
    leader = names(record.leader) if record.leader >= 0 else -1
    sets = ([*map(names, each)] for each in (record.isr, record.elr, record.last_known_elr))
    return record_notation((leader, record.leader_epoch, record.partition_epoch), *sets, tp=tp)


def end_text(sim: Simulation, tp: int) -> str:
    """Return a partition at the end of the run, as the `final` of an expectation has it.

    It is its record, or that its topic is gone.
    """
    if tp in sim.cluster.controller.records:
        return record_text(sim, tp)
    name = sim.cluster.names[tp]
    return f"{_stage_of_deletion(sim, name)} {name}"


def _answers(sim: Simulation, expectation: Expectation) -> str:
    """Return the answers to the producers of these records."""
    ledger = sim.ledger
    acked = {value for of_one in ledger.acked for batch in of_one for value in batch.values}
    for name in expectation.names:
        if name in acked:
            answer = "acknowledged"
        elif name in ledger.failed:
            answer = phrase("refused {0}", name_of(ledger.failed[name]))
        else:
            answer = "not answered yet"
        holds = {
            "ack": name in acked,
            "waiting": name not in acked and name not in ledger.failed,
            "refused": name not in acked and answer == f"refused {expectation.error}",
        }[expectation.kind]
        if not holds:
            return phrase("{0} was {1}", name, answer)
    return ""


# -- what this Kafka promises of any run ----------------------------------------------------------


def promised(run: Run, sim: Simulation, profile: Profile | None = None) -> frozenset[str]:
    """control-plane 11.  Return the invariants that must hold in a run whatever was done in it.

    They depend on the flags of its Kafka, or of the `profile` that it is judged by, and on what it
    was spared: assumptions A1 (disks keep what they had) and A2 (clean elections).
    """
    profile = profile or sim.profile
    kinds = {ALWAYS}
    if (
        profile.truncation >= KIP101
        and profile.monotonic_epoch_cache
        and profile.epoch_entry_at_election
    ):
        kinds.add(EPOCHS)
    forgets = profile.session_forgets_epoch and sim.configs.values["fetch_sessions"]
    if keeps_disks(run):
        kinds.add(DISKS)
        if _is_sound(profile) and not forgets and not sim.ledger.unclean_epochs:
            kinds.add(DURABILITY)
    return frozenset(
        name
        for name, invariant in INVARIANTS.items()
        if invariant.promised in kinds and invariant.holds_under(profile)
    )


def _is_sound(profile: Profile) -> bool:
    """Check for all fixes without which clean elections lose or mix records (2.1 and later).

    KIP-320 (a fetch says its epoch), KAFKA-7128 (joining too early), KAFKA-7415 (epochs without
    records), KAFKA-7164 (missed epochs); from 2.8 on KAFKA-13141 (a diverging fetch counts); and
    with KIP-966's eligible replicas KAFKA-15583: they hold what was committed only where nothing
    is committed below min ISR.  3.7.0 elects what it has made again, empty (KAFKA-16234).
    """
    return (
        profile.truncation >= KIP279_FENCED
        and profile.fetch_epoch_check
        and profile.join_needs_epoch_start
        and profile.epoch_entry_at_election
        and profile.monotonic_epoch_cache
        and profile.refetch_on_new_epoch
        and not profile.failed_dir_remade
        and (profile.truncation < FETCH or profile.diverging_skips_follower_update)
        and (profile.strict_min_isr or not (profile.elr or profile.elr_available))
    )


def keeps_disks(run: Run) -> bool:
    """Check A1, and no operator's unclean election: nothing is taken off a disk."""
    plain = not any(_takes(fault) for fault in run.scenario.faults)
    operated = (line for fault in run.scenario.faults for line in fault.moves)
    return plain and all(is_clean(line) for line in (*run.lines(), *operated))


def _takes(fault: Fault) -> bool:
    when = PLAN_KINDS[fault.kind].takes
    return when == STRUCK or (when == REPAIRED and fault.mttr_ms > 0)


DIRTY: Final = ("power", "wipe", "elect unclean", "jump", "set unclean", "duplicate P")


def is_clean(line: str) -> bool:
    """Check that a move keeps disks and elections clean (A1, A2) and writes nothing twice (I12)."""
    return not line.startswith(DIRTY) and not (line.startswith("bounce") and "power" in line)
