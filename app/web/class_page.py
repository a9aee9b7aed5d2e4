"""Page of a class."""

from __future__ import annotations

from flask import Blueprint

from app.live.classroom_registry import rooms_here
from app.web.pages import animator

blueprint = Blueprint("class_page", __name__)


@blueprint.get("/class/<name>")
def classroom(name: str) -> str:
    """Render a class: its followers see the run at which its leader is."""
    room = rooms_here().get(name.lower())
    place = room.place
    return animator(place.run.scenario, place.run, room=room.name, step=place.step)
