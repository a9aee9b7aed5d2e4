"""A probe in words: what comes next, what is asked, the answers, and why one is right."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, Final

from engine.learn.asked import NOBODY, Answer
from engine.learn.claims import claims
from engine.learn.probes import Probe, event_of, told_of, trigger
from engine.model.errors import name_of
from engine.model.messages import (
    CONTROLLER,
    EPOCH_END_R,
    FETCH,
    FETCH_R,
    LEADER_AND_ISR,
    METADATA_FETCH_R,
    NAMES,
    PRODUCE,
)
from engine.model.profiles import HW, get_profile
from engine.properties.moment import Moment
from engine.properties.recording import Recording
from engine.sim.kernel import FAILURE

MOST_NAMED: Final = 6
_TOLD: Final = ("line", "order", "kafka", "move", "moves")
"""Forms of the kinds that tell something in the question."""
MISSED: Final = ("CP-ZK-BROKERS", "CP-KR-FENCE")
"""What a controller does about a broker whose session has ended."""
STRUCK: Final = {
    "CP-8.1.kill": "next.kill",
    "CP-8.1.power": "next.power",
    "CP-8.1.disk": "next.disk",
    "CP-8.2.start": "next.start",
    "CP-8.3.pause": "next.pause",
}
"""What a plan of faults does to a broker, and the words for it."""
NEWS: Final = (METADATA_FETCH_R, LEADER_AND_ISR)


@cache
def catalogue(language: str) -> dict[str, str]:
    """The words of probes in one language: key -> text with {places}."""
    text = files("engine.learn").joinpath("words", f"{language}.json").read_text("utf-8")
    found: dict[str, str] = json.loads(text)
    return found


class Teller:
    """Puts the parts of one recording's probes into one language.  Answers are plain text."""

    def __init__(self, recording: Recording, language: str) -> None:
        self.recording = recording
        self.language = language
        self._words = catalogue(language)
        self._names = {one.id: one.label for one in recording.run.scenario.brokers}

    def say(self, key: str, **args: Any) -> str:
        """A sentence of the catalogue, beginning with a capital letter."""
        text = self._words[key].format(**args)
        return text[:1].upper() + text[1:]

    def broker(self, broker: int) -> str:
        return self._words["entity.broker"].format(b=self._names.get(broker, broker))

    def listed(self, texts: list[str]) -> str:
        *before, last = texts
        if not before:
            return last
        return self._words["entity.comma"].join(before) + self._words["entity.and"] + last

    def _node(self, node: int) -> str:
        if node >= 0:
            return self.broker(node)
        return self._words["who.controller" if node == CONTROLLER else "who.client"]

    def _isr(self, brokers: Any) -> str:
        return "{" + ", ".join(str(self._names.get(one, one)) for one in brokers) + "}"

    def _epochs(self, epochs: Any) -> str:
        told = [self._words["answer.epoch"].format(e=e, o=o) for e, o in epochs]
        return self.listed(told) if told else self._words["answer.epochs.none"]

    # -- the parts -------------------------------------------------------------------------------

    def next(self, probe: Probe) -> str:
        """What happens next, as far as everybody can see it coming."""
        if probe.form == "moves":
            return self.say("next.stage")
        kind, _, m = trigger(self.recording, probe)
        what: Any = m
        if kind == FAILURE:
            return self._struck(probe) or self.say("next.move")
        if what is None:
            return self._noticed(probe) or self.say("next.time")
        part = next((one for one in getattr(what, "partitions", ()) if _tp(one) == probe.tp), None)
        if what.kind == FETCH and part is not None:
            f, leader = self.broker(what.src), self.broker(what.dst)
            return self.say("next.fetch", f=f, l=leader, o=part.offset)
        if what.kind == FETCH_R and part is not None:
            return self._answer_arrives(what, part)
        if what.kind == EPOCH_END_R and part is not None and part[3] >= 0:
            f, leader = self.broker(what.dst), self.broker(what.src)
            return self.say("next.epoch_end", f=f, l=leader, o=part[3])
        if what.kind == PRODUCE:
            acks = "all" if what.acks == -1 else what.acks
            records = self.listed(_shortened(what.values))
            return self.say("next.produce", m=records, a=acks, l=self.broker(what.dst))
        if what.kind in NEWS:
            return self.say("next.news", d=self._node(what.dst))
        s, d = self._node(what.src), self._node(what.dst)
        return self.say("next.message", k=NAMES[what.kind], s=s, d=d)

    def _struck(self, probe: Probe) -> str:
        """Whom a fault of the plan strikes, and how; "" where the move itself says it."""
        if self.move(probe) != "run":
            return ""
        cues = event_of(self.recording, probe)[3]
        struck = dict.fromkeys((cue[0], cue[1]) for cue in cues if cue[0] in STRUCK)
        said = [self.say(STRUCK[rule], b=self.broker(one)) for rule, one in struck]
        return (" " if self.language == "en" else "").join(said)

    def _noticed(self, probe: Probe) -> str:
        """Whom the controller misses when its timer goes off; "" where it is another timer.

        Without it nobody could tell whom the next moment strikes: the broker may be back already.
        """
        cues = event_of(self.recording, probe)[3]
        for rule, _, what, _, new, *_ in cues:
            if rule in MISSED and new in ("dead", "fenced"):
                return self.say(f"next.{new}", b=self.broker(int(what.split()[-1])))
        return ""

    def _answer_arrives(self, what: Any, part: Any) -> str:
        args = {"f": self.broker(what.dst), "l": self.broker(what.src)}
        if part.error:
            return self.say("next.refused", x=name_of(part.error), **args)
        if part.diverging is not None:
            return self.say("next.diverging", e=part.diverging[0], o=part.diverging[1], **args)
        count = sum(len(batch.values) for batch in part.batches)
        key = {0: "next.answer.none", 1: "next.answer.one"}.get(count, "next.answer")
        return self.say(key, n=count, h=part.hw, **args)

    def move(self, probe: Probe) -> str:
        """The move of the run during which it is decided, in the language of moves."""
        lines = self.recording.run.lines()
        return lines[probe.move].split(" !")[0] if 0 <= probe.move < len(lines) else ""

    def question(self, probe: Probe) -> str:
        if probe.form in _TOLD:
            return self._told_question(probe)
        part = _before(self.recording, probe).parts[probe.tp]
        mine = part.replicas[probe.who]
        args: dict[str, Any] = {
            "b": self.broker(probe.who),
            "i": self._isr(part.record.isr),
            "n": part.min_isr,
            "o": mine.leo,
            "v": self._epochs(mine.epochs) if probe.kind == "epochs" else "",
        }
        return self.say(f"ask.{probe.kind}", **args)

    def _told_question(self, probe: Probe) -> str:
        """The question of a kind that gives something away: lines, moves, a claim or a goal."""
        told = told_of(self.recording, probe).told
        if probe.kind == "rule":
            return self.say("ask.rule", k=told[0])
        if probe.kind == "cause":
            return self.say("ask.cause", m=told[0])
        if probe.kind == "do":
            return self.say(f"ask.do.{told[0]}", b=self.broker(probe.who), m=told[1])
        if probe.kind == "since" and told:
            return self.say("ask.since.claim", c=claims()[told].sentence[self.language])
        return self.say("ask.since.kept" if probe.kind == "since" else "ask.order")

    def _told_answer(self, probe: Probe, answer: Any) -> str:
        if probe.form == "line":
            return str(answer)
        if probe.form == "order":
            told = [self._words[f"order.{sort}"].format(b=self.broker(b)) for sort, b in answer]
            return self._capital(self._words["answer.then"].join(told))
        if probe.form == "kafka":
            release = get_profile(answer[1]).stands_for if answer[1] else ""
            return self.say(f"answer.{answer[0]}", k=release)
        if probe.form == "move":
            return self.say("answer.move", n=answer, l=self.recording.run.lines()[answer - 1])
        return self._words["answer.then"].join(answer)

    def answer(self, probe: Probe, answer: Answer) -> str:
        """One answer as a person says it."""
        if probe.form in _TOLD:
            return self._told_answer(probe, answer)
        if probe.form == "offset":
            return self.say("answer.offset", o=answer)
        if probe.form == "broker":
            leader = int(answer)  # type: ignore[arg-type]
            if leader == NOBODY:
                return self.say("answer.nobody")
            return self._capital(self.broker(leader))
        if isinstance(answer, str):
            return self.say(f"answer.{answer}")
        assert isinstance(answer, tuple)
        if probe.form == "reply":
            named = self.listed([self.broker(one) for one in answer[1:]])
            return self.say("answer.ack.one" if len(answer) == 2 else "answer.ack", b=named)
        if probe.form == "epochs":
            return self._capital(self._epochs(answer))
        if probe.form == "records":
            return self.listed(list(answer)) if answer else self.say("answer.none")
        if not answer:
            return self.say("answer.empty")
        return self._capital(self.listed([self.broker(one) for one in answer]))

    def _capital(self, text: str) -> str:
        return text[:1].upper() + text[1:]

    def reason(self, probe: Probe) -> str:
        """Why the truth is so, in one or two sentences."""
        key = f"why.{probe.kind}"
        if probe.kind == "truncate":
            old = get_profile(self.recording.run.profile).truncation == HW
            key += ".hw" if old else ".epochs"
        return self.say(key)

    def belief(self, misconception: str) -> tuple[str, str]:
        """(name, why it does not hold) of a misconception."""
        key = f"mc.{misconception}"
        return self._words[key], self._words[f"{key}.why"]


def _before(recording: Recording, probe: Probe) -> Moment:
    return recording.turns[recording.at(probe.step)].now


def _tp(part: Any) -> int:
    return int(part[0]) if isinstance(part, tuple) else int(part.tp)


def _shortened(values: tuple[str, ...]) -> list[str]:
    return list(values) if len(values) <= MOST_NAMED else [values[0], "…", values[-1]]
