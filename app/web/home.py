"""The first page: a question that plays, three doors, the path, and eight topics of four runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypedDict

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.core.refusals import located
from app.learn.cards import LibraryCard, OutcomesCard, cards, pictures_version, with_outcomes
from app.learn.path import PATH, path
from app.server import visitor
from app.web.loop import hero
from engine.scenarios import file

blueprint = Blueprint("home", __name__)

LIVING: Final = "S82"
"""The cluster under traffic that *Break it yourself* opens."""
TOPICS: Final = (
    ("committed", ("S01", "S02", "S08", "S26")),
    ("acks", ("S03", "S04", "S05", "S37")),
    ("elections", ("S10", "S13", "S14", "S30")),
    ("epochs", ("R20", "S20", "S21", "S23")),
    ("isr", ("S07", "S27", "S39", "S32")),
    ("zombies", ("S25", "S38", "S41", "S42")),
    ("power", ("S31", "S29", "S31B", "S50")),
    ("operating", ("S15", "S11", "S45", "S46")),
)
"""Name of a topic and the codes of its four runs, from the plain to the surprising."""
SHOWN: Final = {
    LIVING,
    *(stop.code for stop in PATH),
    *(code for _, codes in TOPICS for code in codes),
}
FILTERS: Final = ("q", "tag", "difficulty", "profile")
"""Addresses that ask for these mean the page of all scenarios, which once was this one."""


class HomeTopic(TypedDict):
    name: str
    cards: list[OutcomesCard]


def topics(listed: Iterable[LibraryCard]) -> list[HomeTopic]:
    """Return each topic with the cards of its runs; one that the library lacks is left out."""
    by_code = {card["code"]: with_outcomes(card) for card in listed}
    return [
        {"name": name, "cards": [by_code[code] for code in codes if code in by_code]}
        for name, codes in TOPICS
    ]


@blueprint.get("/")
def home() -> str | AnyResponse:
    """Render the page for first and for returning visitors."""
    if any(name in request.args for name in FILTERS):
        return redirect(f"{url_for('shelf.library')}?{request.query_string.decode('latin-1')}")
    library = file.library().values()
    shown = cards((scenario for scenario in library if scenario.code in SHOWN), visitor.lang())
    return render_template(
        "home.html",
        unreadable=[located(bad) for bad in file.unreadable().values()],
        hero=hero(visitor.lang()),
        path=path(shown),
        topics=topics(shown),
        scenarios=len(library),
        living=next((card for card in shown if card["code"] == LIVING), None),
        pictures=url_for("shelf.sheet", version=pictures_version()),
    )
