"""A question about a run, put into words, and what becomes of an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict

from app.web.moments import animator, code_of, frame, recorded
from engine.learn.answers import answer_of
from engine.learn.misconceptions import MISCONCEPTIONS
from engine.learn.probes import Probe
from engine.learn.question_context import Answer
from engine.learn.render import Teller
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.properties.recording import MomentRecording
from engine.sim.run import Run


@dataclass(frozen=True)
class ViewQuestion:
    """A run and one of its probes.

    `quiz` is its place in the quiz of the run, 0 elsewhere; `kind` is set where the address asks
    for the best question of a kind.
    """

    run: Run
    recording: MomentRecording
    probe: Probe
    quiz: int = 0
    kind: str = ""

    @property
    def args(self) -> dict[str, str]:
        code = code_of(self.run)
        own = {"run": self.run.digest} if code is None else {"s": code}
        own |= {"profile": self.run.profile}
        own |= {"kind": self.kind} if self.kind else {"q": self.probe.text}
        return own | ({"quiz": str(self.quiz)} if self.quiz else {})

    @property
    def card(self) -> str:
        """Name under which a browser remembers it: a card's id in the deck, or run and probe."""
        code = code_of(self.run)
        names = (code or "", "" if code else self.run.digest, self.run.profile, self.probe.text)
        return f"{code} {self.run.profile} {self.kind}" if self.kind else " ".join(names)


@dataclass(frozen=True)
class GivenAnswer:
    """An answer, and which choice it is; -1: none of those that are offered."""

    answer: Answer
    place: int


def given_of(probe: Probe, number: int | None, text: str) -> GivenAnswer | None:
    """Return the answer: the number of a choice, or what was shown on the stage."""
    if number is not None:
        if number >= len(probe.choices):
            raise InputError("invalid", "There is no such answer to this question.")
        return GivenAnswer(probe.choices[number].answer, number)
    if not text:
        return None
    answer = answer_of(probe, text[:400])
    place = next((i for i, choice in enumerate(probe.choices) if choice.answer == answer), -1)
    return GivenAnswer(answer, place)


class QuestionWords(TypedDict):
    """A question in words; `next` and `move`: the event that is about to happen."""

    form: str
    text: str
    kafka: str
    move: str
    next: str
    ask: str
    choices: list[str]
    kind: str


class OtherChoice(TypedDict):
    """A wrong choice that was not taken, and the misconception that gives it: (name, why)."""

    answer: str
    belief: tuple[str, str]


class AnswerResult(TypedDict):
    """Result of an answer; `given` and `right` are numbers of choices.

    `beliefs` and `ids` are the misconceptions that give the answer. `older` is a stage of the Kafka
    `until` which it was right, "" where there is none.
    """

    given: int
    text: str
    right: int
    beliefs: list[tuple[str, str]]
    ids: list[str]
    why: str
    others: list[OtherChoice]
    stage: str
    open: str
    onward: dict[str, str | int]
    next: str
    older: str
    until: str


def question_json(question: ViewQuestion, teller: Teller) -> QuestionWords:
    """Return the question in words.

    It contains nothing that happens after the step of the question.
    """
    probe = question.probe
    return {
        "form": probe.form,
        "text": probe.text,
        "kafka": get_profile(question.run.profile).stands_for,
        "move": teller.move(probe),
        "next": teller.next(probe),
        "ask": teller.question(probe),
        "choices": [teller.answer(probe, choice.answer) for choice in probe.choices],
        "kind": probe.kind,
    }


def result(
    question: ViewQuestion, teller: Teller, answered: GivenAnswer, after: str
) -> AnswerResult:
    """Judge an answer.  One that no misconception gives is wrong without a name."""
    probe, run, given = question.probe, question.run, answered.place
    wrong = probe.choices[given].wrong if given >= 0 else ()
    beliefs = [teller.belief(name) for name in wrong[:2]]
    until = next((MISCONCEPTIONS[name].until for name in wrong if MISCONCEPTIONS[name].until), "")
    return {
        "given": given,
        "text": teller.answer(probe, answered.answer),
        "right": probe.right,
        "beliefs": beliefs,
        "ids": list(wrong),
        "why": teller.reason(probe),
        "others": [
            {
                "answer": teller.answer(probe, choice.answer),
                "belief": teller.belief(choice.wrong[0]),
            }
            for i, choice in enumerate(probe.choices)
            if choice.wrong and i != given
        ],
        "stage": frame(run, probe.step, to=probe.until, guess=guess(probe, answered)),
        "open": animator(run, probe.step),
        "onward": {"run": run.digest, "from": probe.step, "to": probe.until},
        "next": after,
        "older": _older(question, until) if until else "",
        "until": get_profile(until).stands_for if until else "",
    }


def _older(question: ViewQuestion, profile: str) -> str:
    """Return the same moves under `profile`, the Kafka in which the answer was right.

    The stage plays the move of the question. Returns "" where that Kafka does not have one of the
    moves.
    """
    run = replace(question.run, profile=profile)
    try:
        turns = [turn for turn in recorded(run).turns if turn.move == question.probe.move]
    except InputError:  # a move that this Kafka has not
        return ""
    return frame(run, max(0, turns[0].first - 1), to=turns[-1].last) if turns else ""


def guess(probe: Probe, answered: GivenAnswer) -> str:
    """Return the answered offset as mark:broker:offset; the stage draws it beside the truth.

    Returns "" for a question that does not ask for an offset.
    """
    if probe.form != "offset":
        return ""
    mark = "hw" if probe.kind == "hw" else "leo"
    return f"{mark}:{probe.who}:{answered.answer}"
