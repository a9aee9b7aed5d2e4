"""A probe in words: what comes next, what is asked, the answers, and why one is right."""

from __future__ import annotations

from typing import Any, Final

from engine.controlplane.membership import R_PARTITION
from engine.learn import reasons
from engine.learn.claims import claims
from engine.learn.counterfactuals import members
from engine.learn.kinds import coming
from engine.learn.probes import Probe, event_of, told_of, trigger
from engine.learn.question_context import NOBODY, Answer, as_number
from engine.model.errors import name_of
from engine.model.languages import USUAL, words_of
from engine.model.messages import (
    ALTER_PARTITION,
    CONTROLLER,
    EPOCH_END_R,
    FETCH,
    FETCH_R,
    LATEST,
    LEADER_AND_ISR,
    LIST_OFFSETS_R,
    METADATA_FETCH_R,
    NAMES,
    PRODUCE,
)
from engine.model.profiles import RELEASES, get_profile
from engine.model.releases import line_begun_by
from engine.model.timers import PREFERRED_CHECK
from engine.properties.moment import Moment, PartitionMoment
from engine.properties.recording import MomentRecording
from engine.sim.kernel import FAILURE

MOST_NAMED: Final = 6
_TOLD: Final = ("order", "kafka", "move", "moves")
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

SUBJECT: Final = "learn"
"""Of the words of probes."""


class Teller:
    """Puts the parts of one recording's probes into one language.  Answers are plain text."""

    def __init__(self, recording: MomentRecording, language: str) -> None:
        self.recording = recording
        self.language = language
        self._words = words_of(SUBJECT, language)
        self._names = {one.id: one.label for one in recording.run.scenario.brokers}

    def say(self, key: str, **args: Any) -> str:
        """Return a sentence of the catalogue that begins with a capital letter."""
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

    def members(self, brokers: Any) -> str:
        return "{" + ", ".join(str(self._names.get(one, one)) for one in brokers) + "}"

    def _epochs(self, epochs: Any) -> str:
        told = [self._words["answer.epoch"].format(e=e, o=o) for e, o in epochs]
        return self.listed(told) if told else self._words["answer.epochs.none"]

    # -- the parts -------------------------------------------------------------------------------

    def next(self, probe: Probe) -> str:
        """Return what happens next, as far as it can be foreseen."""
        if probe.form == "moves":
            return self.say("next.stage")
        kind, _, m = trigger(self.recording, probe)
        what: Any = m
        if kind == FAILURE:
            return self._struck(probe) or self.say("next.move")
        if what is None:
            return self._noticed(probe) or self.say("next.time")
        part = next(
            (
                partition
                for partition in getattr(what, "partitions", ())
                if _tp(partition) == probe.tp
            ),
            None,
        )
        if what.kind == FETCH and part is not None:
            f, leader = self.broker(what.src), self.broker(what.dst)
            return self.say("next.fetch", f=f, l=leader, o=part.offset)
        if what.kind == FETCH_R and part is not None:
            return self._answer_arrives(what, part, probe)
        if what.kind == EPOCH_END_R and part is not None and part[3] >= 0:
            f, leader = self.broker(what.dst), self.broker(what.src)
            key = "next.epoch_end" if part[2] >= 0 else "next.epoch_end.asked"
            return self.say(key, f=f, l=leader, e=part[2], o=part[3])
        if what.kind == LIST_OFFSETS_R and what.tp == probe.tp and not what.error:
            key = "next.log_end" if what.timestamp == LATEST else "next.log_start"
            return self.say(key, f=self.broker(what.dst), l=self.broker(what.src), o=what.offset)
        if what.kind == PRODUCE:
            acks = "all" if what.acks == -1 else what.acks
            records = self.listed(_shortened(what.values))
            return self.say("next.produce", m=records, a=acks, l=self.broker(what.dst))
        if what.kind in NEWS:
            return self._news(what, probe.tp)
        wish = next((i for i in getattr(what, "items", ()) if i.tp == probe.tp), None)
        if what.kind == ALTER_PARTITION and wish is not None:
            said = "next.alter.direct" if what.direct else "next.alter"
            return self.say(
                said, l=self.broker(what.src), i=self.members(member for member, _ in wish.isr)
            )
        s, d = self._node(what.src), self._node(what.dst)
        return self.say("next.message", k=NAMES[what.kind], s=s, d=d)

    def _news(self, what: Any, tp: int) -> str:
        """Return what a broker has received of this partition, which may be out of date."""
        state = None
        if what.kind == LEADER_AND_ISR:
            state = next((record for other, record, _ in what.states if other == tp), None)
        else:
            for record in what.records:
                if record[0] == R_PARTITION and record[1] == tp:
                    state = record[2]
        if state is None:
            return self.say("next.news", d=self._node(what.dst))
        leads = "next.news.leads" if state.leader >= 0 else "next.news.nobody"
        leader = self.broker(state.leader)
        lead = self._words[leads].format(l=leader, e=state.leader_epoch)
        return self.say("next.news.of", d=self._node(what.dst), w=lead, i=self.members(state.isr))

    def _struck(self, probe: Probe) -> str:
        """Return the brokers that a fault strikes, and the kind of fault, in words.

        Returns "" for other faults: the move says it.
        """
        cues = event_of(self.recording, probe)[3]
        struck = dict.fromkeys((cue.rule, cue.node) for cue in cues if cue.rule in STRUCK)
        said = [self.say(STRUCK[rule], b=self.broker(broker)) for rule, broker in struck]
        return (" " if self.language == USUAL else "").join(said)

    def _noticed(self, probe: Probe) -> str:
        """Return in words the broker that the controller misses when its timer goes off.

        Returns "" for another timer. Without it the reader could not tell which broker the next
        moment strikes: the broker may be back already.
        """
        cues = event_of(self.recording, probe)[3]
        for cue in cues:
            if cue.rule in MISSED and cue.new in ("dead", "fenced"):
                return self.say(f"next.{cue.new}", b=self.broker(cue.about))
        timer = event_of(self.recording, probe)[2]
        balances = isinstance(timer, tuple) and timer[:1] == (PREFERRED_CHECK,)
        return self.say("next.balance") if balances else ""

    def _answer_arrives(self, what: Any, part: Any, probe: Probe) -> str:
        args = {"f": self.broker(what.dst), "l": self.broker(what.src)}
        if part.error:
            return self.say("next.refused", x=name_of(part.error), **args)
        if part.diverging is not None:
            return self.say("next.diverging", e=part.diverging[0], o=part.diverging[1], **args)
        count = sum(len(batch.values) for batch in part.batches)
        key = {0: "next.answer.none", 1: "next.answer.one"}.get(count, "next.answer")
        if probe.kind == "hw" and probe.who == what.dst:
            key += ".asked"  # the mark that it carries is what is asked
        return self.say(key, n=count, h=part.hw, **args)

    def move(self, probe: Probe) -> str:
        """Return the move during which the question is decided, in the language of moves."""
        lines = self.recording.run.lines()
        return lines[probe.move].split(" !")[0] if 0 <= probe.move < len(lines) else ""

    def question(self, probe: Probe) -> str:
        """Return the question, with its partition if the run has several."""
        if probe.form in _TOLD and probe.kind != "do":
            return self._told_question(probe)
        parts = _before(self.recording, probe).parts
        part = parts[probe.tp]
        sentence = self._asked(probe, part) if probe.kind != "do" else self._told_question(probe)
        if len(parts) == 1:
            return sentence
        return self._words["ask.partition"].format(p=part.name, q=sentence)

    def _asked(self, probe: Probe, part: PartitionMoment) -> str:
        mine = part.replicas[probe.who]
        args: dict[str, Any] = {
            "b": self.broker(probe.who),
            "i": self.members(part.record.isr),
            "n": part.min_isr,
            "o": mine.leo,
            "a": ", ".join(str(self._names.get(replica, replica)) for replica in part.replicas),
            "f": self._coming(probe) if probe.kind == "survive" else "",
            "v": self._epochs(mine.epochs) if probe.kind == "epochs" else "",
            "u": self._words["ask.unclean" if part.unclean else "ask.clean"],
        }
        return self.say(f"ask.{probe.kind}", **args)

    def _coming(self, probe: Probe) -> str:
        """Return the moves still to come, as a sentence of their own."""
        moves = coming(self.recording, self.recording.at(probe.step) + 1)
        return self._words["survive.coming"].format(l="; ".join(moves)) if moves else ""

    def _told_question(self, probe: Probe) -> str:
        """Return the question of a kind that gives away moves, a claim or a goal."""
        goal = told_of(self.recording, probe).told
        if probe.kind == "cause":
            return self.say("ask.cause", m=goal[0])
        if probe.kind == "do":
            return self.say(f"ask.do.{goal[0]}", b=self.broker(probe.who), m=goal[1])
        if probe.kind == "since" and goal:
            return self.say("ask.since.claim", c=claims()[goal].sentence[self.language])
        return self.say("ask.since.kept" if probe.kind == "since" else "ask.order")

    def _told_answer(self, probe: Probe, answer: Any) -> str:
        if probe.form == "order":
            parts = [self._words[f"order.{sort}"].format(b=self.broker(b)) for sort, b in answer]
            return self._capital(self._words["answer.then"].join(parts))
        if probe.form == "kafka":
            return self.say(f"answer.{answer[0]}", k=self._release(answer, probe))
        if probe.form == "move":
            return self.say("answer.move", n=answer, l=self.recording.run.lines()[answer - 1])
        return self._words["answer.then"].join(answer)

    def _release(self, answer: Any, probe: Probe) -> str:
        """Return the release from which or up to which it is so: the first or last of a generation.

        A claim is judged under the last release of a generation only, so that release is named.
        """
        sort, name = answer
        if not name:
            return ""
        profile = get_profile(name)
        if sort == "since" and not told_of(self.recording, probe).told:
            first = members(name)[0]
            return f"Kafka {line_begun_by(RELEASES[first.mode], first.releases[0])}"
        releases = profile.stands_for.split(" – ")
        return releases[0] if sort == "since" else f"Kafka {releases[-1].removeprefix('Kafka ')}"

    def answer(self, probe: Probe, answer: Answer) -> str:
        """Return one answer as a person says it."""
        if probe.form in _TOLD:
            return self._told_answer(probe, answer)
        if probe.form == "offset":
            said = self._words["answer.offset"].format(o=answer)
            return self._capital(said) if self.language == USUAL else said  # as on the stage
        if probe.form == "broker":
            leader = as_number(answer)
            if leader == NOBODY:
                return self.say("answer.nobody")
            return self._capital(self.broker(leader))
        if isinstance(answer, str):
            return self.say(f"answer.{answer}")
        assert isinstance(answer, tuple)
        if probe.form == "reply":
            named = self.listed([self.broker(broker) for broker in answer[1:]])
            return self.say("answer.ack.one" if len(answer) == 2 else "answer.ack", b=named)
        if probe.form == "epochs":
            return self._capital(self._epochs(answer))
        if probe.form == "records":
            return self.listed(list(answer)) if answer else self.say("answer.none")
        if not answer:
            return self.say("answer.empty")
        return self._capital(self.listed([self.broker(broker) for broker in answer]))

    def _capital(self, text: str) -> str:
        return text[:1].upper() + text[1:]

    def reason(self, probe: Probe) -> str:
        """Return the reason of the truth in this case, in one or two sentences."""
        return reasons.reason(self, probe)

    def belief(self, misconception: str) -> tuple[str, str]:
        """Return (name, the reason it does not hold) of a misconception."""
        key = f"mc.{misconception}"
        return self._words[key], self._words[f"{key}.why"]


def _before(recording: MomentRecording, probe: Probe) -> Moment:
    return recording.turns[recording.at(probe.step)].now


def _tp(part: Any) -> int:
    return int(part[0]) if isinstance(part, tuple) else int(part.tp)


def _shortened(values: tuple[str, ...]) -> list[str]:
    return list(values) if len(values) <= MOST_NAMED else [values[0], "…", values[-1]]
