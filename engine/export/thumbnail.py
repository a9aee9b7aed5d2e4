"""A run in one small picture: its most important step, drawn without a browser."""

from __future__ import annotations

from typing import Final

from engine.export import tanks
from engine.export.tank_layout import TankRoom
from engine.replay.replay import Replay
from engine.view.wire import View

WIDTH: Final = 288
HEIGHT: Final = 160
ROOM: Final = TankRoom(
    15, 8, 8, least=32, cell=13, tallest=37, foot=27, fold=13, sunk=8, shelf=0, margin=0.19
)
TELLING: Final = ("violation", "truncation", "leader", "isr", "fault", "ack")
"""Kinds of marks, the most important first."""


def telling_step(replay: Replay) -> int:
    """Return where something breaks; else where a log is cut, or the weightiest step."""
    marks = replay.facts()["marks"]
    for kind in TELLING:
        steps = [step for step, mark in marks if mark == kind]
        if steps:
            return int(steps[0] if kind == "violation" else steps[-1])
    return replay.total


def draw(view: View) -> str:
    """Return a step as the inside of an <svg> of WIDTH x HEIGHT."""
    return tanks.draw(view, WIDTH, HEIGHT, ROOM)


def whole(view: View) -> str:
    """Return a step as an SVG file that needs nothing of a page."""
    box = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    ground = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{tanks.COLOURS["panel"]}"/>'
    family = "Noto Sans, DejaVu Sans, Noto Sans CJK SC, sans-serif"
    body = ground + tanks.coloured(draw(view))
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="{family}">{body}</svg>'
