"""Reasons of the right answers, filled from the recording: which broker, set, offset and time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, Protocol

from engine.learn.probes import Probe, event_of, told_of, trigger
from engine.learn.question_context import NOBODY, Answer, as_number
from engine.model.messages import FETCH, SHUTDOWN
from engine.model.profiles import HW
from engine.properties.moment import Moment, PartitionMoment
from engine.properties.recording import MomentRecording, Turn

Reason = tuple[str, dict[str, Any]]
"""(case, the values of its sentence): the key is why.<kind><case>."""

GONE: Final = ("CP-KR-FENCE", "CP-ZK-BROKERS")
"""Cues of a controller that counts a broker as dead."""
LEAVES: Final = "CP-KR-SHUTDOWN"
EPOCHS_CAME: Final = ("since", "Z011")
"""The answer where epochs, and no high watermark, decide what is cut."""


class Speaker(Protocol):
    """Puts names, sets and answers into one language."""

    recording: MomentRecording

    def say(self, key: str, **args: Any) -> str: ...

    def broker(self, broker: int) -> str: ...

    def listed(self, texts: list[str]) -> str: ...

    def members(self, brokers: Any) -> str: ...

    def answer(self, probe: Probe, answer: Answer) -> str: ...


class Case:
    """One question, and the moments before and after it is decided."""

    def __init__(self, teller: Speaker, probe: Probe) -> None:
        self.teller = teller
        self.probe = probe
        self.recording: MomentRecording = teller.recording
        at = self.recording.at(probe.step)
        self.before: Moment = self.recording.turns[at].now
        self.turn: Turn = self.recording.turns[at + 1]
        self.right: Any = probe.choices[probe.right].answer

    @property
    def part(self) -> PartitionMoment:
        return self.before.parts[self.probe.tp]

    @property
    def old(self) -> bool:
        """True where followers truncate to their own high watermark."""
        return self.recording.profile.truncation == HW

    def name(self, broker: int) -> str:
        return self.teller.broker(broker)

    def names(self, brokers: Any) -> str:
        if not brokers:
            return ""
        return self.teller.listed([self.name(one) for one in sorted(brokers)])

    def cue_of(self, *rules: str) -> bool:
        return any(cue.rule in rules for event in self.turn.events for cue in event[3])


def reason(teller: Speaker, probe: Probe) -> str:
    """Return the reason of the truth in this case, in one or two sentences."""
    case = Case(teller, probe)
    found = REASONS[probe.kind](case) if probe.kind in REASONS else ("", {})
    text = teller.say(f"why.{probe.kind}{found[0]}", **found[1])
    return text.replace(". broker", ". Broker")


def _hw(case: Case) -> Reason:
    mine = case.part.replicas[case.probe.who]
    values = {"b": case.name(case.probe.who), "o": case.right, "a": mine.hw}
    if not mine.leads:
        values["l"] = case.name(case.part.record.leader)
        return (".stays" if case.right == mine.hw else ".follower"), values
    message: Any = trigger(case.recording, case.probe)[2]
    fetches = message is not None and message.kind == FETCH and message.src >= 0
    values["f"] = case.name(message.src) if fetches else ""
    values["i"] = _members(case, case.part.record.isr)
    return (".waits" if case.right == mine.hw else ".leader"), values


def _members(case: Case, brokers: Any) -> str:
    return case.teller.members(brokers)


def _leo(case: Case) -> Reason:
    mine = case.part.replicas[case.probe.who]
    return "", {"b": case.name(case.probe.who), "a": mine.leo, "o": case.right}


def _truncate(case: Case) -> Reason:
    values = {"b": case.name(case.probe.who), "o": case.right}
    cues = event_of(case.recording, case.probe)[3]
    if any(cue.rule == "F-9" and cue.node == case.probe.who for cue in cues):
        mine = case.part.replicas[case.probe.who]
        return (".start" if mine.leo < case.right else ".end"), {**values, "a": mine.leo}
    if case.right == case.part.replicas[case.probe.who].leo:
        return ".kept", values
    return (".hw" if case.old else ".epochs"), values


def _leader(case: Case) -> Reason:
    record, led = case.part.record, case.probe.who
    isr, elr = _members(case, record.isr), tuple(record.elr)
    new = as_number(case.right)
    values = {
        "b": case.name(new),
        "l": case.name(led),
        "i": isr,
        "a": _members(case, case.part.replicas),
    }
    after = case.turn.now.parts[case.probe.tp].record
    if new == NOBODY:
        values["e"] = case.names(set(after.elr) - {led})
        others = ".elr" if set(after.elr) - {led} else ".unclean" if case.part.unclean else ""
        return f".nobody{others}", values
    if new in elr:
        return ".elr", values
    if new not in record.isr:
        return (".last" if after.last_known_elr or record.last_known_elr else ".unclean"), values
    alive = led in case.before.alive and not case.cue_of(*GONE)
    if not alive:
        return "", values
    return (".preferred" if next(iter(case.part.replicas)) == new else ".hands"), values


def _isr(case: Case) -> Reason:
    before, after = set(case.part.record.isr), set(case.right)
    values = {"i": _members(case, case.part.record.isr), "l": case.name(case.part.record.leader)}
    if before == after:
        return ".same", values
    if not after < before:
        values["w"] = case.names(after - before)
        asked = case.recording.profile.alter_partition
        return (".grow.controller" if asked else ".grow.zookeeper"), values
    values["w"] = case.names(before - after)
    what = trigger(case.recording, case.probe)[2]
    if case.cue_of(LEAVES) or (what is not None and what.kind == SHUTDOWN):
        return ".shutdown", values
    return (".dead" if case.cue_of(*GONE) else ".lag"), values


def _ack(case: Case) -> Reason:
    what: Any = trigger(case.recording, case.probe)[2]
    part = case.part
    values = {
        "m": case.teller.listed(list(what.values)),
        "l": case.name(case.probe.who),
        "i": _members(case, part.record.isr),
        "n": part.min_isr,
    }
    if isinstance(case.right, tuple):
        return (".one" if what.acks == 1 else ".all"), values
    return f".{case.right}", values


def _epochs(case: Case) -> Reason:
    mine = case.part.replicas[case.probe.who]
    after = case.turn.now.parts[case.probe.tp].replicas[case.probe.who]
    left = set(case.right)
    gained = [entry for entry in case.right if entry not in mine.epochs]
    lost = [entry for entry in mine.epochs if entry not in left]
    epoch, start = (gained or lost or [(0, 0)])[-1]
    values = {"b": case.name(case.probe.who), "e": epoch, "s": start, "o": after.leo}
    if not lost:
        return (".lead" if after.leads else ".copy"), values
    return (".load" if after.leo == mine.leo else ".cut"), values


def _survive(case: Case) -> Reason:
    leader = case.recording.end.parts[case.probe.tp].leader()
    values = [value for one in case.part.replicas.values() for value in one.values()]
    lacks = [value for value in dict.fromkeys(values) if value not in case.right]
    told = {
        "b": case.name(leader.broker if leader is not None else NOBODY),
        "m": case.teller.listed(lacks) if lacks else "",
        "r": case.teller.listed(list(case.right)) if case.right else "",
    }
    if not lacks:
        return ".all", told
    if leader is None or not case.right:
        return ".none", told
    return _missed(case, leader.broker, lacks), told


def _missed(case: Case, broker: int, values: list[str]) -> str:
    """Return how a replica came to lack records: it never had them, truncated or lost them."""
    at = case.recording.at(case.probe.step)
    for before, turn in pairwise(case.recording.turns[at:]):
        had, has = (one.now.parts[case.probe.tp].replicas.get(broker) for one in (before, turn))
        gone = set(values).intersection(had.values() if had is not None else ())
        if gone.difference(has.values() if has is not None else ()):
            return ".struck" if broker in turn.now.struck else ".cut"
    return ""


def _order(case: Case) -> Reason:
    return (".elect" if any(sort in ("elect", "lead") for sort, _ in case.right) else ""), {}


def _since(case: Case) -> Reason:
    told = told_of(case.recording, case.probe).told
    if case.old and case.right == EPOCHS_CAME and not told:
        return ".epochs", {}
    unclean = case.recording.end.unclean and not told
    answer = case.teller.answer(case.probe, case.right).rstrip(".。")
    return (".unclean" if unclean and case.right[0] == "never" else ""), {"a": answer}


def _cause(case: Case) -> Reason:
    told = told_of(case.recording, case.probe).told
    return "", {"m": told[0], "l": case.recording.run.lines()[case.right - 1]}


REASONS: Final[dict[str, Callable[[Case], Reason]]] = {
    "hw": _hw,
    "leo": _leo,
    "truncate": _truncate,
    "leader": _leader,
    "isr": _isr,
    "ack": _ack,
    "epochs": _epochs,
    "survive": _survive,
    "order": _order,
    "since": _since,
    "cause": _cause,
}
