"""A run without a script in the browser: a picture and a table of one step, steps as links."""

from __future__ import annotations

from typing import TypedDict

from flask import render_template, request
from markupsafe import Markup

from app.server import visitor
from app.server.services import services
from engine.export.thumbnail import HEIGHT, WIDTH, draw
from engine.sim.run import Run
from engine.story import story
from engine.view.wire import Record, Role, StepJson, View

AROUND = 15
"""Steps listed before and after the one that is shown."""


class PlainRow(TypedDict):
    """A replica of the shown step."""

    partition: str
    broker: str
    alive: str
    in_isr: bool
    role: Role
    leo: int
    hw: int
    records: list[Record]


def is_scriptless() -> bool:
    """Check whether the address requests it, as pages do for browsers without scripts."""
    return request.args.get("plain") == "1"


def page(run: Run, step: int) -> str:
    """Render one step of a run, with links to the others; a step beyond the end is the end."""
    lang = visitor.lang()
    saved = services().replays.saved(run.digest)
    with services().replays.using(run.digest) as replay:
        facts = services().replays.facts(replay, saved, lang)
        step = min(step, replay.total)
        first = max(0, step - AROUND)
        near = replay.around(first, step, 2 * AROUND + 1)
    names = {broker.id: broker.label for broker in run.scenario.brokers}
    here = near[step - near[0]["n"]]
    chapters = [chapter for chapter in facts["chapters"] if chapter[0] <= step]
    return render_template(
        "plain.html",
        facts=facts,
        step=step,
        total=facts["total"],
        picture=Markup(draw(here["view"])),
        width=WIDTH,
        height=HEIGHT,
        told=_step_sentences(here, names, lang),
        chapter=chapters[-1] if chapters and step else None,
        rows=_rows(here["view"]),
        steps=[{"n": each["n"], "text": _step_sentences(each, names, lang)[0]} for each in near],
        moments=[moment for moment in facts["moments"] if moment != step],
    )


def _step_sentences(step: StepJson, names: dict[int, str], lang: str) -> list[str]:
    return [story.render(one, names, lang) for one in [*step["say"], *step["why"]]]


def _rows(view: View) -> list[PlainRow]:
    """Return one row for each replica of each partition."""
    brokers = {broker["id"]: broker for broker in view["brokers"]}
    return [
        {
            "partition": part["name"],
            "broker": brokers[int(number)]["name"],
            "alive": brokers[int(number)]["alive"],
            "in_isr": int(number) in part["record"]["isr"],
            "role": replica["role"],
            "leo": replica["leo"],
            "hw": replica["hw"],
            "records": replica["records"],
        }
        for part in view["partitions"]
        for number, replica in part["replicas"].items()
    ]
