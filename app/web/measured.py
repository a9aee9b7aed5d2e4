"""Ten questions before the course and ten after it.

The answers so far are in the address, and the server keeps nothing: a visitor who stops half-way
goes on by her own link.
"""

from __future__ import annotations

import re
from typing import Any, Final

from flask import Blueprint, redirect, render_template, request
from werkzeug.wrappers import Response

from app.context import visitor
from app.context.moments import address, recorded
from app.context.predicting import ViewQuestion, question_json
from app.context.services import services
from app.core.refusals import RequestError
from app.core.request_fields import whole_number
from app.learn.learning import given_answer
from engine.learn import measured
from engine.learn.measured import NONE, PAIRS, SIDES
from engine.learn.probes import probe_at
from engine.learn.render import Teller

blueprint = Blueprint("measured", __name__)

_GIVEN: Final = re.compile(f"[0-9{NONE}]{{0,{len(PAIRS)}}}")
CERTAIN: Final = 3
_SURE: Final = re.compile(f"[0-3]{{0,{len(PAIRS)}}}")
"""For each answer how sure it was, from 1, a guess, to 3, certain; 0 where that was not said."""


@blueprint.get("/learn/test/<side>")
def page(side: str) -> str | Response:
    """Render the next question after the answers in ``a``, whose certainty is in ``said``.

    Behind the last one, how many were right.
    """
    if side not in SIDES:
        raise RequestError("not_found")
    given = request.args.get("a", "")
    if not _GIVEN.fullmatch(given):
        raise RequestError("invalid", what="a")
    said = request.args.get("said", "").ljust(len(given), "0")
    if not _SURE.fullmatch(said) or len(said) > len(given):
        raise RequestError("invalid", what="said")
    if len(given) == len(PAIRS):
        return _result(side, given, said)
    question = _question(side, len(given) + 1)
    answer = given_answer(question)
    if answer is not None:
        sign = str(answer.place) if answer.place >= 0 else NONE
        sure = whole_number(request.args.get("sure", "0")) or 0
        said += str(sure if sure <= CERTAIN else 0)
        so_far = _so_far(given + sign, said)
        return redirect(address(f"/learn/test/{side}", **so_far, **visitor.tongue()))
    services().replays.register(question.run)
    return render_template(
        "learn/measured.html",
        side=side,
        told=question_json(question, Teller(question.recording, visitor.lang())),
        number=len(given) + 1,
        total=len(PAIRS),
        fields={**_so_far(given, said), **visitor.tongue()},
        stage=address("/learn/stage", **question.args, lang=visitor.lang()),
        lanes=len(question.recording.turns[0].now.parts[0].replicas),
    )


def _so_far(given: str, said: str) -> dict[str, str]:
    """Return the answers up to now that an address holds."""
    return ({"said": said} if said.strip("0") else {}) | {"a": given}


def _question(side: str, number: int) -> ViewQuestion:
    run, text = measured.question(side, number)
    recording = recorded(run)
    return ViewQuestion(run, recording, probe_at(recording, text))


def _result(side: str, given: str, said: str) -> str:
    with services().plays.turn():
        marks = measured.marks(side, given)
    return render_template(
        "learn/measured.html",
        side=side,
        told=None,
        marks="".join("1" if one else "0" for one in marks),
        sure=said,
        right=sum(marks),
        total=len(PAIRS),
        rows=[_row(side, n, sign, marks[n - 1]) for n, sign in enumerate(given, 1)],
    )


def _row(side: str, number: int, sign: str, right: bool) -> dict[str, Any]:
    """Return a kind's name, whether it was right, and where its answer is explained."""
    run, text = measured.question(side, number)
    kind = text.partition("@")[0]
    args = {"run": services().replays.register(run), "profile": run.profile, "q": text}
    if sign != NONE:
        args["answer"] = sign
    name = services().words.text(visitor.lang(), f"learn.kind.{kind}", {})
    return {"kind": name, "right": right, "href": address("/learn", **args)}
