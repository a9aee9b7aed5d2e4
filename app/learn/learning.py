"""Predict: a run stops, asks what comes next, and plays on.  What comes is not sent before."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from flask import Blueprint, redirect, render_template, request
from werkzeug.wrappers import Response

from app.core.refusals import RequestError
from app.core.request_fields import typed, whole_number
from app.questions.names import DIGEST, default_run, parse_run
from app.server import visitor
from app.server.services import apart, services
from app.web import naming
from app.web.moments import address, animator, recorded
from app.web.question_view import GivenAnswer, ViewQuestion, given_of, question_json, result
from engine.learn.course import chapter, slugs
from engine.learn.drill import FEWEST, drilled
from engine.learn.probes import Probe, probe_at, probes_of
from engine.learn.render import Teller
from engine.model.errors import InputError
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
QUIZ: Final = FEWEST
"""Questions of a quiz about one run."""
NEXT_FEW: Final = 5
"""Moments after a step among which the best question is looked for."""
MIXED: Final = (
    ("S03", "truncate"), ("S16", "ack"), ("S06", "hw"), ("S23", "survive"),
    ("S11", "leader"), ("S05", "isr"), ("S21", "cause"), ("S30", "epochs"),
    ("S01", "since"), ("S24", "leo"), ("S33", "order"), ("S12", "leader"),
    ("S27", "do"), ("S31", "ack"), ("S04", "truncate"), ("S25", "epochs"),
    ("S36", "rule"), ("S13", "survive"), ("S32", "isr"), ("S07", "since"),
    ("S26", "leo"), ("S15", "order"), ("S39", "do"), ("S20", "leader"),
)  # fmt: skip
"""Questions after the path, in turn: the best of this kind in this run, then the next best."""
MOST_MIXED: Final = 1_000
MOST_LANES: Final = 4
"""Replicas for which the stage on the page has room at once."""


@lru_cache(maxsize=64)
def _probes(run: Run) -> tuple[Probe, ...]:
    return tuple(probes_of(recorded(run)))


@lru_cache(maxsize=64)
def _drilled(run: Run) -> Run:
    return apart(drilled, run)


def question_of_address() -> ViewQuestion:
    """Return the question that the address names; without one, the first of the path."""
    number = whole_number(request.args.get("n", "0")) or 0
    mix = min(whole_number(request.args.get("mix", "0")) or 0, MOST_MIXED)
    if mix and not request.args.get("q"):
        return _mixed(mix)
    if not request.args.get("s") and not request.args.get("run"):
        return _on_path(max(1, min(number, len(PATH))))
    if request.args.get("run"):
        digest = request.args["run"]
        if not DIGEST.match(digest):
            raise RequestError("not_found")
        run = _drilled(services().replays.run(digest))
    else:
        scenario = naming.scenario_named(request.args["s"])
        run = default_run(scenario, naming.profile_asked())
    recording = recorded(run)
    text = request.args.get("q", "")
    place = min(whole_number(request.args.get("quiz", "0")) or 0, _length(run))
    if text:
        probe = probe_at(recording, text[:60])
    else:
        probe = (
            _quiz(run)[place - 1] if place else _best(run, typed(request.args, "step", default=0))
        )
    return ViewQuestion(run, recording, probe, min(number, len(PATH)), place, mix)


def _on_path(number: int) -> ViewQuestion:
    code, profile, kind = PATH[number - 1]
    run = Run(naming.scenario_named(code), profile)
    recording = recorded(run)
    probe = next(one for one in _probes(run) if one.kind == kind)
    return ViewQuestion(run, recording, probe, number)


def _mixed(number: int) -> ViewQuestion:
    """Return question `number` after the path; each comes from another run."""
    code, kind = MIXED[(number - 1) % len(MIXED)]
    scenario = naming.scenario_named(code)
    run = Run(scenario, scenario.profiles[0])
    best = [one for one in _probes(run) if one.kind == kind]
    again = (number - 1) // len(MIXED)
    return ViewQuestion(run, recorded(run), best[again % len(best)], mix=number)


def _best(run: Run, step: int = 0) -> Probe:
    """Return the best question among the next few moments, from a step on, that have one.

    Returns the best question of the whole run where no later moment has one. Raises InputError
    where the run has no question.
    """
    found = _probes(run)
    if not found:
        raise InputError("impossible", "Nothing in this run is worth a question.")
    if not step:
        return found[0]
    coming = sorted(one.step for one in found if one.step >= step)[:NEXT_FEW]
    return next((one for one in found if one.step in coming), found[0])


def _quiz(run: Run) -> list[Probe]:
    """Return the best questions of a run in the order in which they are decided.

    No question gives away the answer of a later one.
    """
    _best(run)
    apart: dict[int, Probe] = {}
    for one in _probes(run):
        if len(apart) < QUIZ:
            apart.setdefault(one.until, one)
    return [apart[until] for until in sorted(apart)]


def _next_question(question: ViewQuestion) -> dict[str, str]:
    """Return the arguments of the next question: on the path, else the run's next best."""
    if 0 < question.number < len(PATH):
        return _on_path(question.number + 1).args
    if question.number == len(PATH):
        return {"end": "1"}
    if question.mix:
        return _mixed(question.mix % MOST_MIXED + 1).args
    if 0 < question.quiz < _length(question.run):
        probe = _quiz(question.run)[question.quiz]
        return ViewQuestion(question.run, question.recording, probe, quiz=question.quiz + 1).args
    found = _probes(question.run)
    texts = [one.text for one in found]
    at = texts.index(question.probe.text) if question.probe.text in texts else -1
    probe = found[(at + 1) % len(found)]
    return ViewQuestion(question.run, question.recording, probe).args


def _length(run: Run) -> int:
    return len(_quiz(run)) if _probes(run) else 0


@blueprint.get("/learn")
def learn() -> str:
    """Render one question; with ``answer``, its result; with ``end``, the card after the path.

    Works without JavaScript. With ``within`` it is asked in the place of a run's stage, and there
    is nothing around it.
    """
    if request.args.get("end") == "1":
        return _end()
    question = question_of_address()
    services().replays.register(question.run)
    teller = Teller(question.recording, visitor.lang())
    given = given_answer(question)
    within = {"within": "1"} if request.args.get("within") == "1" else {}
    after = address("/learn", **_next_question(question), **within)
    if question.quiz and question.quiz == _length(question.run):
        after = animator(question.run, 0)
    return render_template(
        "learn/page.html",
        told=question_json(question, teller),
        result=None if given is None else result(question, teller, given, after),
        chapters=[chapter(slug, visitor.lang()) for slug in slugs()],
        slugs=slugs(),
        stage=address("/learn/stage", **question.args, lang=visitor.lang()),
        lanes=min(len(question.recording.turns[0].now.parts[0].replicas), MOST_LANES),
        fields={**question.args, **within},
        within=bool(within),
        number=question.number,
        quiz=question.quiz,
        quiz_length=_length(question.run),
        path=[{"n": n, "kind": kind} for n, (_, _, kind) in enumerate(PATH, 1)],
        scenarios=[(one.code, _title(one)) for one in library().values() if one.code],
        chosen=question.run.scenario.code,
    )


def _end() -> str:
    """Render the card after the last question of the path; the browser shows the score."""
    return render_template(
        "learn/end.html",
        path=[{"n": n, "kind": kind} for n, (_, _, kind) in enumerate(PATH, 1)],
        more=address("/learn", mix="1"),
    )


@blueprint.post("/learn/quiz")
def quiz() -> Response:
    """Open a quiz about a run that is given by its text; nothing of it is stored."""
    visitor.require_token()
    run = apart(parse_run, request.form.get("run", ""))
    return redirect(address("/learn", run=services().replays.register(run), quiz="1"))


def _title(scenario: Scenario) -> str:
    return in_language(scenario, visitor.lang()).title


def given_answer(question: ViewQuestion) -> GivenAnswer | None:
    """Return the answer: the number of a choice, or what was shown on the stage."""
    number = whole_number(request.args.get("answer", ""))
    return given_of(question.probe, number, request.args.get("by", ""))
