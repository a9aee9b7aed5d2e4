"""Predict: a run stops, asks what comes next, and plays on.  What comes is not sent before."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from flask import Blueprint, redirect, render_template, request
from werkzeug.wrappers import Response

from app.core.request_fields import typed, whole_number
from app.questions.names import default_run, parse_run
from app.server import visitor
from app.server.services import apart, services
from app.web import naming
from app.web.moments import MOST_LANES, address, animator, recorded
from app.web.question_view import GivenAnswer, ViewQuestion, given_of, question_json, result
from engine.learn.deck import PREDICTIONS
from engine.learn.drill import FEWEST, drilled
from engine.learn.probes import Probe, probe_at, probes_of
from engine.learn.render import Teller
from engine.model.errors import InputError
from engine.sim.run import Run

blueprint = Blueprint("learning", __name__)

QUIZ: Final = FEWEST
"""Questions of a quiz about one run."""
NEXT_FEW: Final = 5
"""Moments after a step among which the best question is looked for."""
"""Replicas for which the stage on the page has room at once."""


@lru_cache(maxsize=64)
def _probes(run: Run) -> tuple[Probe, ...]:
    return tuple(probes_of(recorded(run)))


@lru_cache(maxsize=64)
def _drilled(run: Run) -> Run:
    return apart(drilled, run)


def question_of_address() -> ViewQuestion:
    """Return the question that the address names; without one, the first of the deck."""
    if request.args.get("run"):
        run = _drilled(naming.run_named(request.args["run"]))
    elif request.args.get("s"):
        run = default_run(naming.scenario_named(request.args["s"]), naming.profile_asked())
    else:
        return _of_deck(0)
    text, kind = (request.args.get(name, "") for name in ("q", "kind"))
    recording = recorded(run)
    if text:
        return ViewQuestion(run, recording, probe_at(recording, text[:60]), quiz=_place(run))
    if kind:
        return ViewQuestion(run, recording, _of_kind(run, kind), kind=kind)
    place = _place(run)
    probe = _quiz(run)[place - 1] if place else _best(run, typed(request.args, "step", default=0))
    return ViewQuestion(run, recording, probe, quiz=place)


def _place(run: Run) -> int:
    """Return the place in the quiz of a run that the address names, 0 for none."""
    return min(whole_number(request.args.get("quiz", "0")) or 0, _length(run))


def _of_deck(number: int) -> ViewQuestion:
    code, profile, kind, _ = PREDICTIONS[number]
    run = Run(naming.scenario_named(code), profile)
    return ViewQuestion(run, recorded(run), _of_kind(run, kind), kind=kind)


def _of_kind(run: Run, kind: str) -> Probe:
    """Return the best question of a kind.  Raises InputError where the run has none."""
    first = next((probe for probe in _probes(run) if probe.kind == kind), None)
    if first is None:
        raise InputError("impossible", "Nothing in this run is worth a question.")
    return first


def _best(run: Run, step: int = 0) -> Probe:
    """Return the best question among the next few moments, from a step on, that have one.

    Returns the best question of the whole run where no later moment has one. Raises InputError
    where the run has no question.
    """
    probes = _probes(run)
    if not probes:
        raise InputError("impossible", "Nothing in this run is worth a question.")
    if not step:
        return probes[0]
    coming = sorted(probe.step for probe in probes if probe.step >= step)[:NEXT_FEW]
    return next((probe for probe in probes if probe.step in coming), probes[0])


def _quiz(run: Run) -> list[Probe]:
    """Return the best questions of a run in the order in which they are decided.

    No question gives away the answer of a later one.
    """
    _best(run)
    apart: dict[int, Probe] = {}
    for probe in _probes(run):
        if len(apart) < QUIZ:
            apart.setdefault(probe.until, probe)
    return [apart[until] for until in sorted(apart)]


def _next_question(question: ViewQuestion) -> dict[str, str]:
    """Return the arguments of the next question: of the deck, of the quiz, else the next best."""
    run = question.run
    named = (run.scenario.code, run.profile, question.kind)
    places = [place for place, prediction in enumerate(PREDICTIONS) if prediction[:3] == named]
    if places:
        return _of_deck((places[0] + 1) % len(PREDICTIONS)).args
    if 0 < question.quiz < _length(run):
        probe = _quiz(run)[question.quiz]
        return ViewQuestion(run, question.recording, probe, quiz=question.quiz + 1).args
    probes = _probes(run)
    texts = [candidate.text for candidate in probes]
    at = texts.index(question.probe.text) if question.probe.text in texts else -1
    return ViewQuestion(run, question.recording, probes[(at + 1) % len(probes)]).args


def _length(run: Run) -> int:
    return len(_quiz(run)) if _probes(run) else 0


@blueprint.get("/practice/question")
def question() -> str:
    """Render one question; with ``answer``, its result.

    Works without JavaScript. With ``within`` it is asked in the place of a run's stage, and there
    is nothing around it.
    """
    question = question_of_address()
    services().replays.register(question.run)
    teller = Teller(question.recording, visitor.lang())
    given = given_answer(question)
    within = {"within": "1"} if request.args.get("within") == "1" else {}
    after = address("/practice/question", **_next_question(question), **within)
    length = _length(question.run) if question.quiz else 0
    if length and question.quiz == length:
        after = animator(question.run, 0)
    return render_template(
        "learn/question.html",
        told=question_json(question, teller),
        result=None if given is None else result(question, teller, given, after),
        stage=address("/learn/stage", **question.args, lang=visitor.lang()),
        lanes=min(len(question.recording.turns[0].now.parts[0].replicas), MOST_LANES),
        fields={**question.args, **within},
        within=bool(within),
        card=question.card,
        quiz=question.quiz,
        quiz_length=length,
    )


@blueprint.post("/practice/quiz")
def quiz() -> Response:
    """Open a quiz about a run that is given by its text; nothing of it is stored."""
    visitor.require_token()
    run = apart(parse_run, request.form.get("run", ""))
    return redirect(address("/practice/question", run=services().replays.register(run), quiz="1"))


def given_answer(question: ViewQuestion) -> GivenAnswer | None:
    """Return the answer: the number of a choice, or what was shown on the stage."""
    number = whole_number(request.args.get("answer", ""))
    return given_of(question.probe, number, request.args.get("by", ""))
