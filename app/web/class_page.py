"""Page of a class, and the table of its answers."""

from __future__ import annotations

from flask import Blueprint, Response

from app.live.classroom_registry import rooms_here
from app.server import visitor
from app.web.api import csv_answer
from app.web.pages import animator

blueprint = Blueprint("class_page", __name__)


@blueprint.get("/class/<name>")
def classroom(name: str) -> str:
    """Render a class: its followers see the run at which its leader is."""
    room = rooms_here().get(name.lower())
    place = room.place
    return animator(place.run.scenario, place.run, room=room.name, step=place.step)


@blueprint.get("/class/<name>/answers.csv")
def answers(name: str) -> Response:
    """Return a row for each answer of a class, to its leader's browser: pupils are numbers."""
    room = rooms_here().get(name.lower())
    return csv_answer(rooms_here().table(room.name, visitor.owner()), f"class-{room.name}.csv")
