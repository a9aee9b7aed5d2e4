"""Page of question difficulty, from opt-in counts of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, Response, render_template

from app.batch import intervals
from app.batch.intervals import Look
from app.context import naming, visitor
from app.context.moments import address, code_of, recorded
from app.context.predicting import GivenAnswer, ViewQuestion, given_of
from app.context.services import services
from app.core.memoize import ComputedValues
from app.core.request_fields import RequestFields
from app.learn.learning import PATH
from app.server import api_schema
from app.storage.answered import OTHER, RIGHT, Tally
from app.web.api import body, json_answer
from engine.learn.probes import probe_at
from engine.learn.render import SUBJECT, Teller
from engine.model.errors import InputError
from engine.model.languages import USUAL, words_of

blueprint = Blueprint("hard", __name__)

FEWEST: Final = 20
"""Answers below which a share says too little to be shown."""
SHOWN: Final = 20
"""Questions on the page, the hardest first."""
MOST_CHOICES: Final = 16
ROW_BYTES: Final = 600
"""What a visitor pays for an answer, as for anything that is kept: at most one row."""
_told = ComputedValues(400)


@dataclass(frozen=True)
class Shown:
    """A row of the page: shares from 0 to 1, `most` the name of what is wrongly believed."""

    text: str
    href: str
    n: int
    wrong: float
    low: float
    high: float
    most: str


@blueprint.post("/api/answers")
@api_schema.declare(api_schema.CountedJson, takes=api_schema.AnswerSent)
def count() -> Response:
    """Count one answer, which is judged here.

    The browser sends only the question and the chosen answer.
    """
    visitor.require_token()
    visitor.require_patience()
    asked = body()
    question = _question(asked)
    number = asked.whole("answer", 0, MOST_CHOICES) if asked.has("answer") else None
    shown = "" if number is not None else asked.text("by", most=400)
    given = given_of(question.probe, number, shown)
    assert given is not None
    plain = question.probe.text.partition("~")[0]
    code = code_of(question.run)
    name = f"{code} {question.run.profile} {plain}" if code else ""
    said = _said(question, given)
    visitor.pay_for(ROW_BYTES)
    once = name or f"{question.run.digest} {plain}"
    new = services().answers.count(visitor.owner(), once, question.probe.kind, name, said)
    return json_answer({"ok": True, "counted": new})


def _question(asked: RequestFields) -> ViewQuestion:
    if asked.has("run"):
        run = services().replays.run(naming.digest_asked(asked))
    else:
        profile = asked.text("profile", default="", most=naming.PROFILE_CHARS)
        run = naming.default_run(naming.scenario_named(asked.text("s")), profile)
    recording = recorded(run)
    return ViewQuestion(run, recording, probe_at(recording, asked.text("q", most=60)))


def _said(question: ViewQuestion, given: GivenAnswer) -> str:
    choices = question.probe.choices
    if given.place < 0:
        return OTHER
    return choices[given.place].wrong[0] if choices[given.place].wrong else RIGHT


@blueprint.get("/learn/hard")
def page() -> str:
    """Render kinds and questions by the share of wrong answers, if they have enough answers."""
    kinds, questions = services().answers.tallies()
    enough = [one for one in questions if one.n >= FEWEST]
    hardest = sorted(enough, key=lambda one: (-one.wrong / one.n, -one.n, one.question))
    few = [one.kind for one in kinds if one.n < FEWEST]
    return render_template(
        "hard.html",
        kinds=_rows([one for one in kinds if one.n >= FEWEST], hardest),
        few=sorted(few),
        questions=_rows(hardest[:SHOWN], hardest),
        fewest=FEWEST,
    )


def _rows(tallies: list[Tally], hardest: list[Tally]) -> list[Shown]:
    """Return the rows of a table, in the order of the tallies.

    All intervals of a table hold together 19 times out of 20.
    """
    alpha = Look(at_once=len(tallies)).alpha
    rows = []
    for one in tallies:
        told = _kind(one, hardest) if not one.question else _worded(one.question)
        if told is None:
            continue
        low, high = intervals.exact(one.wrong, one.n, alpha)
        share = one.wrong / one.n
        most = words_of(SUBJECT, visitor.lang()).get(f"mc.{one.most}", "") if one.most else ""
        rows.append(Shown(*told, one.n, share, float(low), float(high), most))
    return sorted(rows, key=lambda row: (-row.wrong, -row.n, row.text))


def _kind(tally: Tally, hardest: list[Tally]) -> tuple[str, str]:
    """Return the name of a kind, and the address of its hardest question.

    As long as there is no hardest question, the address is that of a question of the path.
    """
    name = services().words.text(visitor.lang(), f"learn.kind.{tally.kind}", {})
    found = next((one for one in hardest if one.kind == tally.kind), None)
    if found is not None and (told := _worded(found.question)) is not None:
        return name, told[1]
    number = next((n for n, (_, _, kind) in enumerate(PATH, 1) if kind == tally.kind), 0)
    return name, address("/learn", n=str(number)) if number else ""


def _worded(name: str) -> tuple[str, str] | None:
    """Return the question in words and its address; None if it can no longer be asked."""
    lang = visitor.lang()
    found: tuple[str, str] | None = _told.get((name, lang), lambda: _asked(name, lang))
    return found


def _asked(name: str, lang: str) -> tuple[str, str] | None:
    code, profile, text = name.split(" ")
    scenario = naming.library_names().get(code)
    if scenario is None:
        return None
    try:
        run = naming.default_run(scenario, profile)
        recording = recorded(run)
        probe = probe_at(recording, text)
    except InputError:
        return None
    teller = Teller(recording, lang)
    args: dict[str, Any] = ViewQuestion(run, recording, probe).args
    apart = " " if lang == USUAL else ""
    return f"{teller.next(probe)}{apart}{teller.question(probe)}", address("/learn", **args)
