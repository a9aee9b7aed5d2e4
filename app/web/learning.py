"""Predict: a run stops, asks what comes next, and plays on.  What comes is not sent before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from flask import Blueprint, render_template, request

from app.common.fields import whole_number
from app.common.refusals import Refusal
from app.context import naming, visitor
from app.context.services import services
from app.web.moments import address, animator, code_of, frame, recorded
from engine.learn.answers import answer_of
from engine.learn.asked import Answer
from engine.learn.course import chapter, slugs
from engine.learn.drill import drilled
from engine.learn.misconceptions import MISCONCEPTIONS
from engine.learn.probes import Probe, probe_at, probes_of
from engine.learn.telling import Teller
from engine.model.errors import BadInput
from engine.model.profiles import get_profile
from engine.properties.recording import Recording
from engine.scenarios.file import library
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import in_language
from engine.sim.run import Run

blueprint = Blueprint("learning", __name__)

PATH: Final = (
    ("S02", "K39", "hw"),
    ("S10", "K39", "leader"),
    ("S03", "K39", "ack"),
    ("S39", "K39", "isr"),
    ("S22", "K39", "truncate"),
    ("S08", "K39", "ack"),
    ("S13", "K39", "leader"),
    ("S22", "K39", "epochs"),
    ("M10", "K39+truncation=HW", "truncate"),
    ("S05", "K39", "ack"),
    ("S29", "K39", "survive"),
    ("S22", "K39", "survive"),
)
"""What is asked first, from easy to hard: the best question of this kind in this run."""
MOST_LANES: Final = 4
"""Replicas for which the stage on the page has room at once."""


@lru_cache(maxsize=64)
def _probes(run: Run) -> tuple[Probe, ...]:
    return tuple(probes_of(recorded(run)))


@lru_cache(maxsize=64)
def _drilled(run: Run) -> Run:
    with services().plays.turn():
        return drilled(run)


@dataclass(frozen=True)
class Question:
    """A run and one of its probes; `number` is its place on the path, 0 elsewhere."""

    run: Run
    recording: Recording
    probe: Probe
    number: int = 0

    @property
    def args(self) -> dict[str, str]:
        """What an address says to ask this."""
        code = code_of(self.run)
        own = {"run": self.run.digest} if code is None else {"s": code}
        own |= {"profile": self.run.profile, "q": self.probe.text}
        if self.number:
            own["n"] = str(self.number)
        return own


def _older(question: Question, profile: str) -> str:
    """The same moves under the Kafka in which the answer was right, playing the same move."""
    run = replace(question.run, profile=profile)
    try:
        turns = [one for one in recorded(run).turns if one.move == question.probe.move]
    except BadInput:  # a move that this Kafka has not
        return ""
    return frame(run, max(0, turns[0].first - 1), to=turns[-1].last) if turns else ""


@dataclass(frozen=True)
class Given:
    """An answer, and which choice it is; -1: none of those that are offered."""

    answer: Answer
    place: int


def _guess(probe: Probe, answered: Given) -> str:
    """The offset that was said, for the stage to draw beside the truth: mark:broker:offset."""
    if probe.form != "offset":
        return ""
    mark = "hw" if probe.kind == "hw" else "leo"
    return f"{mark}:{probe.who}:{answered.answer}"


def asked() -> Question:
    """The question the address names; without one the first of the path."""
    number = whole_number(request.args.get("n", "0")) or 0
    if not request.args.get("s") and not request.args.get("run"):
        return _on_path(max(1, min(number, len(PATH))))
    if request.args.get("run"):
        digest = request.args["run"]
        if not naming.DIGEST.match(digest):
            raise Refusal("not_found")
        run = _drilled(services().replays.run(digest))
    else:
        scenario = naming.scenario_named(request.args["s"])
        run = naming.default_run(scenario, naming.profile_asked())
    recording = recorded(run)
    text = request.args.get("q", "")
    probe = probe_at(recording, text[:60]) if text else _best(run)
    return Question(run, recording, probe, min(number, len(PATH)))


def _on_path(number: int) -> Question:
    code, profile, kind = PATH[number - 1]
    run = Run(naming.scenario_named(code), profile)
    recording = recorded(run)
    probe = next(one for one in _probes(run) if one.kind == kind)
    return Question(run, recording, probe, number)


def _best(run: Run) -> Probe:
    found = _probes(run)
    if not found:
        raise BadInput("impossible", "Nothing in this run is worth a question.")
    return found[0]


def _after(question: Question) -> dict[str, str]:
    """What is asked next: the path goes on, else the run's next best question."""
    if 0 < question.number < len(PATH):
        return _on_path(question.number + 1).args
    found = _probes(question.run)
    texts = [one.text for one in found]
    at = texts.index(question.probe.text) if question.probe.text in texts else -1
    probe = found[(at + 1) % len(found)]
    return Question(question.run, question.recording, probe).args


@blueprint.get("/learn")
def learn() -> str:
    """One question; with ``answer``, what became of it.  Works without JavaScript."""
    question = asked()
    services().replays.register(question.run)
    teller = Teller(question.recording, visitor.lang())
    given = given_answer(question)
    after = address("/learn", **_after(question))
    return render_template(
        "learn.html",
        told=told(question, teller),
        result=None if given is None else result(question, teller, given, after),
        chapters=[chapter(slug, visitor.lang()) for slug in slugs()],
        slugs=slugs(),
        stage=address("/learn/stage", **question.args, lang=visitor.lang()),
        lanes=min(len(question.recording.turns[0].now.parts[0].replicas), MOST_LANES),
        fields=question.args,
        number=question.number,
        path=[{"n": n, "kind": kind} for n, (_, _, kind) in enumerate(PATH, 1)],
        scenarios=[(one.code, _title(one)) for one in library().values() if one.code],
        chosen=question.run.scenario.code,
    )


def _title(scenario: Scenario) -> str:
    return in_language(scenario, visitor.lang()).title


def told(question: Question, teller: Teller) -> dict[str, Any]:
    """The question in words.  Nothing in it comes from after its step."""
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


def given_answer(question: Question) -> Given | None:
    """What was answered: the number of a choice, or what was shown on the stage by hand."""
    probe = question.probe
    number = whole_number(request.args.get("answer", ""))
    if number is not None:
        if number >= len(probe.choices):
            raise BadInput("invalid", "There is no such answer to this question.")
        return Given(probe.choices[number].answer, number)
    text = request.args.get("by", "")
    if not text:
        return None
    answer = answer_of(probe, text[:400])
    place = next((i for i, one in enumerate(probe.choices) if one.answer == answer), -1)
    return Given(answer, place)


def result(question: Question, teller: Teller, answered: Given, after: str) -> dict[str, Any]:
    """What became of an answer.  An answer that no misconception gives is wrong without a name."""
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
            {"answer": teller.answer(probe, one.answer), "belief": teller.belief(one.wrong[0])}
            for i, one in enumerate(probe.choices)
            if one.wrong and i != given
        ],
        "stage": frame(run, probe.step, to=probe.until, guess=_guess(probe, answered)),
        "open": animator(run, probe.step),
        "next": after,
        "older": _older(question, until) if until else "",
        "until": get_profile(until).stands_for if until else "",
    }
