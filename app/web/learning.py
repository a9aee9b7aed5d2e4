"""Predict: a run stops, asks what comes next, and plays on.  What comes is not sent before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from flask import Blueprint, render_template, request

from app.common.fields import whole_number
from app.common.refusals import Refusal
from app.context import naming, visitor
from app.context.services import services
from app.web.embeds import table_rows
from app.web.moments import address, animator, code_of, frame, recorded
from engine import ENGINE_VERSION
from engine.learn.misconceptions import MISCONCEPTIONS
from engine.learn.probes import Probe, probe_at, probes_of
from engine.learn.telling import Teller
from engine.model.errors import BadInput
from engine.model.profiles import get_profile
from engine.properties.recording import Recording
from engine.scenarios.file import library
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import in_language
from engine.show.view import Json
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


def _asked() -> Question:
    """The question the address names; without one the first of the path."""
    number = whole_number(request.args.get("n", "0")) or 0
    if not request.args.get("s") and not request.args.get("run"):
        return _on_path(max(1, min(number, len(PATH))))
    if request.args.get("run"):
        digest = request.args["run"]
        if not naming.DIGEST.match(digest):
            raise Refusal("not_found")
        run = services().replays.run(digest)
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
    question = _asked()
    services().replays.register(question.run)
    teller = Teller(question.recording, visitor.lang())
    given = whole_number(request.args.get("answer", ""))
    if given is not None and given >= len(question.probe.choices):
        raise BadInput("invalid", "There is no such answer to this question.")
    return render_template(
        "learn.html",
        told=_told(question, teller),
        result=None if given is None else _result(question, teller, given),
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


def _told(question: Question, teller: Teller) -> dict[str, Any]:
    """The question in words.  Nothing in it comes from after its step."""
    probe = question.probe
    return {
        "kafka": get_profile(question.run.profile).stands_for,
        "move": teller.move(probe),
        "next": teller.next(probe),
        "ask": teller.question(probe),
        "choices": [teller.answer(probe, choice.answer) for choice in probe.choices],
        "kind": probe.kind,
    }


def _result(question: Question, teller: Teller, given: int) -> dict[str, Any]:
    probe, run = question.probe, question.run
    wrong = probe.choices[given].wrong
    beliefs = [teller.belief(name) for name in wrong[:2]]
    until = next((MISCONCEPTIONS[name].until for name in wrong if MISCONCEPTIONS[name].until), "")
    return {
        "given": given,
        "right": probe.right,
        "beliefs": beliefs,
        "ids": list(wrong),
        "why": teller.reason(probe),
        "others": [
            {"answer": teller.answer(probe, one.answer), "belief": teller.belief(one.wrong[0])}
            for i, one in enumerate(probe.choices)
            if one.wrong and i != given
        ],
        "stage": frame(run, probe.until),
        "open": animator(run, probe.step),
        "next": address("/learn", **_after(question)),
        "until": get_profile(until).stands_for if until else "",
    }


@blueprint.get("/learn/stage")
def stage() -> str:
    """The stage at the question's step: the page of an embedded run that knows one step only."""
    question = _asked()
    lang, step = visitor.lang(), question.probe.step
    digest = services().replays.register(question.run)
    with services().replays.using(digest) as replay:
        facts = _cut(services().replays.facts(replay, lang), step)
        (shown,) = replay.steps(step, 1)
    shown = {**shown, "say": [], "why": [], "cues": [], "view": _untold(shown["view"])}
    boot = {
        "run": digest,
        "step": step,
        "lang": lang,
        "engine": ENGINE_VERSION,
        "facts": facts,
        "steps": [shown],
        "controls": "none",
        "panel": "none",
        "theme": "auto",
    }
    return render_template(
        "embed.html",
        boot=boot,
        chosen={"controls": "none", "panel": "none", "theme": "auto"},
        problems=[],
        title=facts["scenario"]["title"],
        step=step,
        total=step,
        sentences=[],
        rows=table_rows(shown["view"]),
        asked=True,
    )


def _untold(view: Json) -> Json:
    """The view without what messages under way say of where logs part: from that the stage draws
    where the log will be cut, which may be what is asked."""
    told = ("diverging", "end")
    messages = [
        {**m, "fields": {name: one for name, one in m["fields"].items() if name not in told}}
        for m in view["messages"]
    ]
    return {**view, "messages": messages}


def _cut(facts: Json, step: int) -> Json:
    """Of a run's facts what is known at this step: no verdict, no marks, no moves to come."""
    marks = [one for one in facts["marks"] if one[0] <= step]
    chapters = [one for one in facts["chapters"] if one[0] <= step]
    return {
        **facts,
        "total": step,
        "whole": True,
        "marks": marks,
        "moments": [one for one in facts["moments"] if one <= step],
        "chapters": [[at, move, ""] for at, move, _ in chapters],
        "moves": facts["moves"][: len(chapters)],
        "clock": [one for one in facts["clock"] if one[0] <= step],
        "verdict": {"holds": True, "expected": None, "broken": [], "counts": {}},
        "outcome": "",
        "scenario": {**facts["scenario"], "title": "", "teaches": ""},
    }
