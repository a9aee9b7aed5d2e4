"""A run, played to its end on a cluster: progress as it goes, and a recording of it."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NotRequired, TypedDict

from app.lab import facts
from app.lab.facts import LabFacts, MemberFact, PartitionFact, ReplicaFact, format_record
from app.lab.links import CLIENT, CONTROLLER, WireNote
from app.lab.member_moves import member_deed
from app.lab.moves import DEEDS, WAITING, why_not
from app.lab.order import Order
from app.lab.releases import KafkaRelease
from app.lab.stage import UNREACHABLE, LabStage
from app.lab.trouble import LabError
from app.lab.voter_moves import voter_deed
from engine.moves import moves
from engine.scenarios import expectations
from engine.scenarios.expectations import Expectation
from engine.sim.run import Run

Tell = Callable[[str], None]

MOST_BROKERS: Final = 6
MOST_VOTERS: Final = 5
NO_GROUPS: Final = "Members of groups are played from Kafka 2.0 on."
NO_QUORUM: Final = "Several controllers need KRaft, from Kafka 3.3 on."
MOST_WIRE: Final = 40
MOST_LOG: Final = 30
NOT_PASSED: Final = ("retention.ms", "retention.bytes")
"""Settings under which records would go by themselves: the brokers look every five minutes."""
PATIENCE_S: Final = 6.0
"""How long an expectation may take to come true: acknowledgements travel."""

_INTERESTING: Final = re.compile(
    r"[Tt]runcat|out of range|Shrinking ISR|Expanding ISR|ISR updated|starts at leader epoch"
    r"|Halting|FATAL|diverg|[Uu]nclean|ELR|high watermark"
)
_STAMP: Final = re.compile(r"^\[[^\]]*\] ")


@dataclass(frozen=True, slots=True)
class PlayedLine:
    """A line of the script: a move to play, or an expectation to check."""

    text: str
    is_expect: bool


class LabStep(TypedDict):
    """Step of a recording: a move, the facts after it, and what went on meanwhile.

    `said`: the answer to the move; `wire`: traffic between brokers, `log` their lines.  `at`: the
    milliseconds since the beginning at which it took effect, and from and until which facts were
    read.
    """

    move: str
    seconds: float
    facts: facts.LabFacts
    listOffsets: NotRequired[int | str]
    said: NotRequired[str]
    wire: NotRequired[list[str]]
    log: NotRequired[list[str]]
    at: NotRequired[list[int]]


class LabCheck(TypedDict):
    """An expectation after step `after`: whether it is met, null if unknown, and what is so."""

    line: str
    ok: bool | None
    real: str
    after: int


@dataclass(slots=True)
class PlayedScript:
    """Result of a run: the steps of its recording, and what was expected of them."""

    steps: list[LabStep] = field(default_factory=list)
    checks: list[LabCheck] = field(default_factory=list)
    seconds: float = 0.0


def lines_of(run: Run) -> list[PlayedLine]:
    """Return what is played: the moves of a run, or the script with its expectations.

    A scenario promises nothing of a profile that it does not list.
    """
    if run.moves is not None:
        return [PlayedLine(text, False) for text in run.moves]
    promised = run.profile in run.scenario.profiles
    lines = run.scenario.lines(run.profile)
    return [
        PlayedLine(line.text, line.is_expect) for line in lines if promised or not line.is_expect
    ]


def must_be_playable(run: Run, release: KafkaRelease) -> None:
    """Raise LabError, before anything is started, where real brokers cannot play a run."""
    scenario, zookeeper = run.scenario, not release.kraft
    if len(scenario.partitions) != 1 and not scenario.groups:
        raise LabError(
            f"The laboratory plays runs of one partition; this one has {len(scenario.partitions)}."
        )
    if scenario.groups and not release.has_group_clients:
        raise LabError(NO_GROUPS)
    if any(group.reconciling for group in scenario.groups):
        raise LabError(
            "The laboratory plays groups with the classic protocol; this run has one with "
            "group.protocol=consumer."
        )
    if scenario.configs.get("remote.storage.enable"):
        raise LabError("The laboratory has no remote storage; this run has one.")
    if scenario.initial is not None:
        raise LabError("The laboratory begins with an empty topic; this run begins with records.")
    if len(scenario.brokers) > MOST_BROKERS:
        raise LabError(
            f"The laboratory starts at most {MOST_BROKERS} brokers; this run has "
            f"{len(scenario.brokers)}."
        )
    voters = len(scenario.quorum)
    if voters > MOST_VOTERS:
        raise LabError(
            f"The laboratory starts at most {MOST_VOTERS} controllers; this run has {voters}."
        )
    if voters and zookeeper:
        raise LabError(NO_QUORUM)
    if voters and scenario.fetching == "manual":
        raise LabError("With several controllers the laboratory needs “fetching: auto”.")
    for what, is_so in (
        ("a workload", scenario.workload.producers),
        ("a fault plan", scenario.faults),
        ("followers that fetch by themselves", scenario.fetching != "manual" and not voters),
        ("voters that change", scenario.configs.get("kraft.version")),
        ("groups and several controllers", scenario.groups and voters),
    ):
        if is_so:
            raise LabError(f"The laboratory plays moves; this run has {what}.")
    for name in NOT_PASSED:
        if name in scenario.configs:
            raise LabError(f"The laboratory does not set {name}; this run has it in its settings.")
    for line in lines_of(run):
        if not line.is_expect:
            move = moves.parse(line.text, scenario.brokers)
            why = why_not(move, zookeeper, voters, bool(scenario.groups))
            if why:
                raise LabError(f"“{line.text}” cannot be played on real brokers: {why}.")


class Player:
    """Player of lines on a stage, which reports each to `tell`."""

    def __init__(self, stage: LabStage, run: Run, tell: Tell) -> None:
        self.stage = stage
        self.run = run
        self.tell = tell
        played = [line.text for line in lines_of(run) if not line.is_expect]
        self.order = Order(stage, run, played)
        self.played = PlayedScript()
        self._notes = 0
        self._read: dict[int, int] = {}

    def play(self) -> PlayedScript:
        """Return the whole run.  Raises LabError where a process dies that no move has killed."""
        began = time.monotonic()
        self.stage.begin()
        self._notes = len(self.stage.cluster.hand.notes)
        for broker in self.stage.cluster.everyone:
            self._new_lines(broker)
        self._note("initial", "", 0.0)
        number = 0
        for line in lines_of(self.run):
            if line.is_expect:
                self._check(line.text)
            else:
                self._move(number, line.text)
                number += 1
        self.played.seconds = time.monotonic() - began
        return self.played

    def _move(self, number: int, text: str) -> None:
        move = moves.parse(text, self.run.scenario.brokers)
        began = time.monotonic()
        if not self.stage.quorum:
            self.order.make(number, move)
        self.stage.flushed = self.order.flushed[number]
        self.stage.acted = time.monotonic()
        said = ""
        try:
            quorum, groups = self.stage.quorum, self.stage.groups
            deed = (quorum and voter_deed(quorum, move)) or (groups and member_deed(groups, move))
            if deed:
                said = deed(self.stage, move.args) or ""
            elif move.verb.name == "detect":
                missed = self.order.missed_in(number, move)
                comments = [DEEDS["detect"](self.stage, {"broker": broker}) for broker in missed]
                said = next(filter(None, comments), "")
            else:
                said = DEEDS[move.verb.name](self.stage, move.args) or ""
        except UNREACHABLE as error:
            said = f"the broker did not answer ({error})"
        self.stage.cluster.check()
        self._note(text, said, time.monotonic() - began)
        step = self.played.steps[-1]
        replicas = " ".join(
            f"b{broker} {log['leo']}/{log['hw']}" if log else f"b{broker} -"
            for broker, log in step["facts"]["brokers"].items()
        )
        shown = f"  {text:<34} {facts.format_record(step['facts']['P'])} {replicas}"
        self.tell(f"{shown} ({said})" if said else shown)

    def _check(self, text: str) -> None:
        expected = expectations.parse(text, self.run.scenario.brokers)
        end = time.monotonic() + PATIENCE_S
        while True:
            met, real = evaluate_expectation(expected, self.stage.facts(), self.stage.answers)
            if met is not False or time.monotonic() >= end:
                break
            time.sleep(0.2)
        after = len(self.played.steps) - 1
        self.played.checks.append({"line": text, "ok": met, "real": real, "after": after})
        self.tell(f"    {'as expected' if met else 'NOT as expected'}: {text}; it is {real}")

    def _note(self, move: str, said: str, seconds: float) -> None:
        stage = self.stage
        if not stage.quorum:
            stage.await_checkpoints()
        if stage.quorum or stage.groups:
            facts, since, until = stage.stable_facts()
        else:
            facts = stage.facts()
        offset = stage.latest_offset()
        step: LabStep = {"move": move, "seconds": round(seconds, 1), "facts": facts}
        if stage.quorum:
            times = max(stage.acted, stage.began), since, until
            step["at"] = [round((when - stage.began) * 1_000) for when in times]
        wire, log = self._wire(), self._logs()
        if offset is not None:
            step["listOffsets"] = offset
        if said:
            step["said"] = said
        if wire:
            step["wire"] = wire
        if log:
            step["log"] = log
        self.played.steps.append(step)

    # -- what went on between ----------------------------------------------------------------------

    def _wire(self) -> list[str]:
        """Return the traffic between brokers since the last step; repetitions are counted."""
        notes = self.stage.cluster.hand.notes[self._notes :]
        self._notes += len(notes)
        names = (self.stage.topic, self.stage.cluster.metadata.topic_id(self.stage.topic))
        counted: list[list[Any]] = []
        for note in notes:
            text = self._told(note, names)
            if counted and counted[-1][0] == text:
                counted[-1][1] += 1
            elif text:
                counted.append([text, 1])
        return [text if n == 1 else f"{text} x{n}" for text, n in counted[:MOST_WIRE]]

    def _name(self, node: int) -> str:
        voter = self.stage.quorum.label(-node) if self.stage.quorum else ""
        return voter or {CONTROLLER: "K", CLIENT: "C"}.get(node, str(node))

    def _told(self, note: WireNote, names: tuple[str, str]) -> str:
        way = f"{self._name(note['source'])}->{self._name(note['target'])}"
        served = note.get("served")
        if served is None:
            return f"{way} {note['kind']}"
        if served.topic not in names or not served.topic:
            return ""
        lower = self.stage.adjusted.leader_epoch
        if served.error != "NONE":
            what = served.error
        elif served.diverging is not None:
            what = f"diverging epoch {served.diverging[0] - lower} end {served.diverging[1]}"
        else:
            what = " ".join(
                f"{batch.base}..{batch.last}"
                + ("" if batch.epoch is None else f"@{batch.epoch - lower}")
                for batch in served.batches
            )
        return f"{way} asked {note['asked']}: {what} hw {served.hw}"

    def _logs(self) -> list[str]:
        """Return the lines that brokers logged about this partition since the last step.

        Without the paths of this laboratory.
        """
        place = self.stage.cluster.log_directory(0).parent
        lines = [
            f"b{broker} {_STAMP.sub('', line).replace(f'{place}/', '')[:330]}"
            for broker in self.stage.cluster.brokers
            for line in self._new_lines(broker)
            if self.stage.topic in line
            and _INTERESTING.search(line)
            and "(state.change" not in line
        ]
        return lines[:MOST_LOG]

    def _new_lines(self, broker: int) -> list[str]:
        path = self.stage.cluster.server_log(broker)
        with contextlib.suppress(OSError), path.open("rb") as file:
            file.seek(self._read.get(broker, 0))
            data = file.read()
            whole = data.rfind(b"\n") + 1
            self._read[broker] = self._read.get(broker, 0) + whole
            return data[:whole].decode(errors="replace").splitlines()
        return []


Answers = Mapping[str, tuple[str, int]]
"""Record -> (error, offset) of the response to its producer."""

Seen = tuple[bool | None, str]
"""(is it so; None if the laboratory cannot know, what is really so)."""


def evaluate_expectation(expected: Expectation, facts: LabFacts, answers: Answers) -> Seen:
    """Return whether an expectation is met, and what is so instead."""
    if expected.kind == "record" and expected.partition == 0:
        return _record(expected, facts["P"])
    if expected.kind in ("ack", "waiting"):
        expected_error = "NONE" if expected.kind == "ack" else WAITING
        told_to = {name: answers.get(name, ("never sent", -1))[0] for name in expected.names}
        real = ", ".join(f"{name}: {error}" for name, error in told_to.items())
        return all(error == expected_error for error in told_to.values()), real
    if expected.kind == "refused":
        error = answers.get(expected.names[0], ("never sent", -1))[0]
        return error == expected.error, error
    if expected.kind == "consumer":
        return _position(expected, facts.get("members", {}).get(f"C{expected.who}"))
    others = facts.get("partitions", {})
    copies = others.get(str(expected.partition), facts) if expected.partition else facts
    replica = copies["brokers"].get(str(expected.who))
    if replica is None or expected.kind not in ("replica", "log", "epochs"):
        return (None if replica else False), "there is no such replica"
    return _replica(expected, replica)


def _position(expected: Expectation, member: MemberFact | None) -> Seen:
    if member is None:
        return None, "the position of a consumer without a group is not recorded"
    at = next((offset for partition, offset in member.get("at", ()) if not partition), -1)
    return expected.numbers == (at,), f"at {at}"


def _record(expected: Expectation, fact: PartitionFact | None) -> Seen:
    if fact is None:
        return False, "there is no record"
    same = (fact["leader"], fact["le"], fact["pe"]) == (expected.who, *expected.numbers)
    same = same and fact["isr"] == sorted(expected.isr)
    both = (expected.elr, fact.get("elr", ())), (expected.last, fact.get("lastKnown", ()))
    for named, real in both:
        same = same and (named is None or sorted(named) == sorted(real))
    return same, format_record(fact)


def _replica(expected: Expectation, replica: ReplicaFact) -> Seen:
    if expected.kind == "replica":
        start = replica.get("start", 0)
        marks = (replica["leo"], replica["hw"], start, start)  # the laboratory tiers nothing
        same = all(want in (-1, real) for want, real in zip(expected.numbers, marks, strict=True))
        return same, f"LEO {marks[0]} HW {marks[1]} START {marks[2]}"
    if expected.kind == "log":
        log = " ".join(
            f"{name}@{epoch}" for name, epoch in zip(expected.names, expected.numbers, strict=True)
        )
        return replica["log"] == log, replica["log"]
    flat = [number for entry in replica["epochs"] or () for number in entry]
    real = " ".join(f"{epoch}:{at}" for epoch, at in replica["epochs"] or ())
    return flat == list(expected.numbers), real
