"""Probes: questions about a run that the run itself answers.

A probe is a value: which run, at which step, what is asked of whom.  The right answer is computed
by playing on, each wrong one by a misconception that is run.  Its text form is its link.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from engine.learn.kinds import KINDS
from engine.learn.misconceptions import MISCONCEPTIONS, of_kind
from engine.learn.question_context import Answer, QuestionContext
from engine.model.errors import InputError
from engine.model.messages import Message
from engine.properties.recording import Event, MomentRecording, Turn

FEWEST_WRONG: Final = 2
MOST_WRONG: Final = 4
MOST_OF_A_RUN: Final = 400
"""Questions that are kept of one run, the best first."""

_TEXT: Final = re.compile(r"([a-z]{2,12})@(\d{1,6})\.(\d{1,4})\.(\d{1,6})(?:~(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class ProbeChoice:
    """One answer that is offered.  `wrong` names the misconceptions that say it; () is right."""

    answer: Answer
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """A question after `step` of a run, about partition `tp` and broker `who`.

    `until` is the step by which playing on has decided it. `choices` are in the order in which they
    are shown.
    """

    kind: str
    step: int
    tp: int
    who: int
    until: int
    move: int
    choices: tuple[ProbeChoice, ...]
    score: float
    seed: int = 0

    @property
    def text(self) -> str:
        """The text form: kind@step.partition.broker, and ~seed if the order is another."""
        plain = f"{self.kind}@{self.step}.{self.tp}.{self.who}"
        return f"{plain}~{self.seed}" if self.seed else plain

    @property
    def right(self) -> int:
        """Number of the right choice."""
        return next(i for i, choice in enumerate(self.choices) if not choice.wrong)

    @property
    def form(self) -> str:
        """Form of an answer.

        It is offset, broker, brokers, reply, epochs, records, line, order, kafka, move or moves.
        """
        return KINDS[self.kind].form


def probes_of(recording: MomentRecording, seed: int = 0) -> list[Probe]:
    """Return every question worth asking of a run, the best first.

    The best is where much is decided and where few wrong rules agree with the truth; a question
    that was asked in the same way before counts less each time.
    """
    probes = []
    for index in range(1, len(recording.turns)):
        for kind, tp, who in _candidates(recording, index):
            probe = _probe(recording, index, kind, tp, who, seed)
            if probe is not None:
                probes.append(probe)
    probes.sort(key=lambda each: (-each.score, each.step, each.kind, each.tp, each.who))
    seen: Counter[tuple[str, tuple[str, ...]]] = Counter()
    ranked = []
    for probe in probes:
        sort = (
            probe.kind,
            tuple(sorted(name for choice in probe.choices for name in choice.wrong)),
        )
        ranked.append((seen[sort], -probe.score, probe.step, probe))
        seen[sort] += 1
    ranked.sort(key=lambda entry: entry[:3])
    return [probe for *_, probe in ranked[:MOST_OF_A_RUN]]


def probe_at(recording: MomentRecording, text: str) -> Probe:
    """Return the probe with this text form.

    Raises InputError where it cannot be read, and where there is nothing of this kind to ask.
    """
    match = _TEXT.fullmatch(text)
    if match is None or match[1] not in KINDS:
        raise InputError("invalid", "A question is written like hw@12.0.2: kind, step, partition.")
    kind, step, tp, who = match[1], *(int(match[n]) for n in (2, 3, 4))
    seed = int(match[5] or 0)
    index = recording.at(step) + 1
    there = index < len(recording.turns) and recording.turns[index].first == step + 1
    if there and (kind, tp, who) in _candidates(recording, index):
        probe = _probe(recording, index, kind, tp, who, seed)
        if probe is not None:
            return probe
    raise InputError("unknown", f"After step {step} of this run there is no such question.")


def _candidates(recording: MomentRecording, index: int) -> Iterator[tuple[str, int, int]]:
    for kind in KINDS.values():
        for tp, who in kind.asked(recording, index):
            yield kind.name, tp, who


def _context_of(
    recording: MomentRecording, index: int, kind: str, tp: int, who: int
) -> QuestionContext:
    turn, before = recording.turns[index], recording.turns[index - 1].now
    _, node, what = _event(turn)
    tell = KINDS[kind].told
    told_of_it = None if tell is None else tell(recording, index, tp, who)
    return QuestionContext(kind, tp, who, before, recording.profile, node, what, told_of_it)


def _event(turn: Turn) -> tuple[int, int, Message | None]:
    kind, node, what, _ = turn.events[0]
    return kind, node, what if isinstance(what, Message) else None


def _probe(
    recording: MomentRecording, index: int, kind: str, tp: int, who: int, seed: int
) -> Probe | None:
    """Return the question, or None if fewer than two misconceptions would answer it wrongly."""
    context = _context_of(recording, index, kind, tp, who)
    truth = KINDS[kind].truth(context, recording, index)
    if truth is None:
        return None
    right, until = truth
    said: dict[Answer, list[str]] = {}
    spoke = 0
    also = KINDS[kind].holds
    for row in of_kind(kind):
        answer = row.rule(context)
        if answer is not None:
            spoke += 1
            possible = KINDS[kind].form != "epochs" or _is_a_history(answer)
            held = also is not None and also(context, recording, index, answer)
            if answer != right and possible and not held:
                said.setdefault(answer, []).append(row.id)
    if len(said) < FEWEST_WRONG:
        return None
    wrong = sum(len(names) for names in said.values())
    offered = [
        ProbeChoice(answer, tuple(names)) for answer, names in list(said.items())[:MOST_WRONG]
    ]
    step = recording.turns[index - 1].last
    score = KINDS[kind].worth * (1 + wrong / spoke) + len(offered) / 4
    name = f"{kind}@{step}.{tp}.{who}~{seed}"
    choices = _sorted_choices([ProbeChoice(right), *offered], name, KINDS[kind].form)
    turn = recording.turns[index]
    return Probe(kind, step, tp, who, until, turn.move, choices, round(score, 3), seed)


def _is_a_history(answer: Answer) -> bool:
    """Check that each epoch is newer than the one before it; no broker remembers another."""
    assert isinstance(answer, tuple)
    epochs = [entry[0] for entry in answer]
    return epochs == sorted(set(epochs))


def _sorted_choices(choices: list[ProbeChoice], name: str, form: str) -> tuple[ProbeChoice, ...]:
    """Sort offsets by size, and other choices by a hash that does not know the right answer."""
    if form == "offset":
        return tuple(sorted(choices, key=lambda choice: choice.answer))

    def key(choice: ProbeChoice) -> str:
        return sha256(f"{name}|{choice.answer!r}".encode()).hexdigest()

    return tuple(sorted(choices, key=key))


def event_of(recording: MomentRecording, probe: Probe) -> Event:
    return recording.turns[recording.at(probe.step) + 1].events[0]


def trigger(recording: MomentRecording, probe: Probe) -> tuple[int, int, Message | None]:
    """Return (kind, node, message or None) of the event that decides."""
    return _event(recording.turns[recording.at(probe.step) + 1])


def best_moment(recording: MomentRecording, misconception: str) -> Probe | None:
    """Return the best question of this run that offers the answer of this misconception.

    A question is preferred if no other misconception is listed first for that answer.
    """
    if misconception not in MISCONCEPTIONS:
        raise InputError("unknown", "There is no misconception of that name.")
    probes = probes_of(recording)
    for said in (
        lambda candidate: candidate.wrong[:1] == (misconception,),
        lambda candidate: misconception in candidate.wrong,
    ):
        for probe in probes:
            if any(said(choice) for choice in probe.choices):
                return probe
    return None


def told_of(recording: MomentRecording, probe: Probe) -> QuestionContext:
    """Return the moment of the question, and what it gives away."""
    return _context_of(recording, recording.at(probe.step) + 1, probe.kind, probe.tp, probe.who)
