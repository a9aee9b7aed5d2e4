"""Reasons of the right answers, filled from the recording: which broker, set, offset and time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, Protocol

from engine.learn.claims import claims
from engine.learn.probes import Probe, event_of, told_of, trigger
from engine.learn.question_context import NOBODY, Answer, as_number
from engine.model.messages import FETCH, SHUTDOWN
from engine.model.profiles import HW
from engine.properties.moment import Moment, PartitionMoment, ReplicaMoment
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
    language: str

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
    key, values = REASONS[probe.kind](case)
    text = teller.say(f"why.{probe.kind}{key}", **values)
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
        by_controller = case.recording.profile.alter_partition
        return (".grow.controller" if by_controller else ".grow.zookeeper"), values
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
    broker = leader.broker if leader is not None else NOBODY
    values = [value for replica in case.part.replicas.values() for value in replica.values()]
    lacks = [value for value in dict.fromkeys(values) if value not in case.right]
    blanks = {"b": case.name(broker), "m": case.teller.listed(lacks or list(case.right))}
    return (_missed(case, case.probe.tp, broker, lacks) if lacks else ".all"), blanks


def _replica(now: Moment, tp: int, broker: int) -> ReplicaMoment | None:
    return now.parts[tp].replicas.get(broker) if tp in now.parts else None


def _missed(case: Case, tp: int, broker: int, values: list[str]) -> str:
    """Return how a replica came to lack records: it never had them, truncated or lost them."""
    for before, turn in pairwise(case.recording.turns):
        had, has = (_replica(moment.now, tp, broker) for moment in (before, turn))
        missed = set(values).intersection(had.values() if had is not None else ())
        if missed.difference(has.values() if has is not None else ()):
            return ".struck" if broker in turn.now.struck else ".cut"
    return ""


def _order(case: Case) -> Reason:
    """Name the two happenings whose order is most often mistaken."""
    sorts = [sort for sort, _ in case.right]
    at = {sort: sorts.index(sort) for sort in sorts}
    where = {sort: case.name(broker) for sort, broker in case.right}
    copies = {broker for sort, broker in case.right if sort == "copy"}
    values = {"l": case.name(case.part.record.leader), "c": case.names(copies)}
    if "lead" in at:
        values["w"] = where["lead"]
        if "die" in at and at["die"] < at.get("notice", -1) < at["lead"]:
            return ".elect", {**values, "d": where["die"]}
        if "elect" in at:
            return ".lead", values
    if "cut" in at and at["cut"] < at.get("copy", -1):
        return ".cut", {**values, "b": where["cut"]}
    if not copies:
        return "", {}
    message: Any = trigger(case.recording, case.probe)[2]
    if getattr(message, "acks", None) == 1 and "answer" in at and at["answer"] < at["copy"]:
        return ".early", values
    if "mark" not in at:
        return "", {}
    values["l"] = where["mark"]
    isr = case.part.record.isr
    if at["copy"] < at["mark"]:
        return ".mark", values
    return ("" if copies.intersection(isr) else ".outside"), {**values, "i": _members(case, isr)}


def _since(case: Case) -> Reason:
    claim = told_of(case.recording, case.probe).told
    answer = case.teller.answer(case.probe, case.right).rstrip(".。")
    if claim:
        return ".claim", {"a": answer, "c": claims()[claim].truth[case.teller.language]}
    if case.old and case.right == EPOCHS_CAME:
        return ".epochs", {}
    lost = case.recording.known.lost
    lost_by_then = [value for value, step in lost.items() if step <= case.turn.last]
    values = {"a": answer, **_without(case, lost_by_then)}
    unclean = case.recording.end.unclean and case.right[0] == "never"
    return (".unclean" if unclean and values["b"] else ""), values


def _without(case: Case, values: list[str]) -> dict[str, str]:
    """Return the lost records, and the leader that lacks them; "" where no broker leads."""
    leader = _leads_without(case, values[0])[1]
    return {"b": case.name(leader) if leader != NOBODY else "", "m": case.teller.listed(values)}


def _leads_without(case: Case, value: str) -> tuple[int, int]:
    """Return the partition of a lost record, and its leader now, -1 for none."""
    for turn in case.recording.turns:
        for tp, part in turn.now.parts.items():
            if any(value in replica.values() for replica in part.replicas.values()):
                leader = case.turn.now.parts[tp].leader() if tp in case.turn.now.parts else None
                return tp, leader.broker if leader is not None else NOBODY
    return case.probe.tp, NOBODY


def _cause(case: Case) -> Reason:
    value = told_of(case.recording, case.probe).told[0]
    values = {**_without(case, [value]), "l": case.recording.run.lines()[case.right - 1]}
    tp, leader = _leads_without(case, value)
    if leader == NOBODY:
        return "", values
    return _missed(case, tp, leader, [value]) or ".never", values


def _do(case: Case) -> Reason:
    sort, value, *_ = told_of(case.recording, case.probe).told
    record = case.part.record
    return f".{sort}", {
        "b": case.name(case.probe.who),
        "l": case.name(record.leader),
        "m": value,
        "i": _members(case, record.isr),
    }


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
    "do": _do,
}
