"""Interview questions, a mock interview that the browser runs, and a sheet to print."""

from __future__ import annotations

from functools import lru_cache
from typing import TypedDict

from flask import Blueprint, render_template, request
from markupsafe import Markup

from app.server import visitor
from app.server.services import services
from app.web.moments import animator
from engine.export.thumbnail import HEIGHT, WIDTH, draw
from engine.learn.interview import TOPICS, Item, moments, questions

blueprint = Blueprint("interview", __name__)

MOST_ON_A_SHEET = 60


class InterviewItem(TypedDict):
    """A question in the visitor's language; `then`: the next question, `open`: where it is seen."""

    id: str
    level: int
    topic: str
    ask: str
    facts: list[str]
    wrong: str
    follow: str
    answer: str
    then: str
    open: str


def _item_json(item: Item) -> InterviewItem:
    lang = visitor.lang()
    return {
        "id": item.id,
        "level": item.level,
        "topic": item.topic,
        "ask": item.ask[lang],
        "facts": [one[lang] for one in item.facts],
        "wrong": item.wrong[lang],
        "follow": item.follow[lang],
        "answer": item.answer[lang],
        "then": item.then,
        "open": animator(item.run, moments()[item.id]),
    }


@blueprint.get("/interview")
def interview() -> str:
    """Render all questions by topic; answers are opened one by one."""
    told = [_item_json(item) for item in questions().values()]
    return render_template(
        "learn/interview.html",
        topics=[(topic, [one for one in told if one["topic"] == topic]) for topic in TOPICS],
        total=len(told),
        asked={one["id"]: one["ask"] for one in told},
    )


@blueprint.get("/interview/sheet")
def sheet() -> str:
    """Render one page for paper: the questions named in ``only``, or those of level 1."""
    wanted = request.args.get("only", "")[:400].split(",")
    found = [questions()[name] for name in dict.fromkeys(wanted) if name in questions()]
    found = found or [item for item in questions().values() if item.level == 1]
    return render_template(
        "learn/sheet.html",
        items=[{**_item_json(item), "picture": Markup(_picture(item.id))} for item in found],
        size=(WIDTH, HEIGHT),
    )


@lru_cache(maxsize=MOST_ON_A_SHEET)
def _picture(name: str) -> str:
    """Return the moment that proves the answer, as the inside of an <svg>."""
    item = questions()[name]
    digest = services().replays.register(item.run)
    with services().replays.using(digest) as replay:
        (step,) = replay.steps(moments()[name], 1)
    return draw(step["view"])
