"""The stage of a question or of a scene: it knows the run up to one step and nothing beyond."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flask import Blueprint, render_template, request

from app.core.request_fields import typed
from app.learn.course import stage_of
from app.learn.learning import question_of_address
from app.server import visitor
from app.server.services import services
from app.web.embeds import sentences, table_rows
from engine import ENGINE_VERSION
from engine.model.json_types import Json
from engine.sim.run import Run
from engine.view.wire import Message, StepJson, View

blueprint = Blueprint("held", __name__)

LED_IN: Final = 5
"""Steps of a scene that are played before it stands."""


@blueprint.get("/learn/stage")
def stage() -> str:
    """Render the stage at a question's step, or with ``c`` and ``scene`` that of a scene."""
    if "c" in request.args:
        stand = stage_of(request.args["c"], typed(request.args, "scene", 1))
        since = typed(request.args, "since", default=stand.step)
        return _scene(stand.run, max(since, stand.step - LED_IN), stand.step)
    question = question_of_address()
    probe = question.probe
    # With ``watch`` the page takes no answer: it is the stage of a class leader.
    form = "" if request.args.get("watch") == "1" else probe.form
    ask = {"form": form, "kind": probe.kind, "tp": probe.tp, "who": probe.who}
    step = probe.step
    facts, (shown,) = _hold_step(question.run, step, step)
    shown = {**shown, "say": [], "why": [], "cues": [], "view": _untold(shown["view"])}
    boot = _boot(facts, [shown], step) | {"controls": "none", "panel": "none", "ask": ask}
    return _page(boot, facts, shown, [])


def _scene(run: Run, since: int, step: int) -> str:
    facts, steps = _hold_step(run, min(since, step), step)
    boot = _boot(facts, steps, steps[0]["n"])
    boot |= {"to": step, "controls": "play", "panel": "now"}
    return _page(boot, facts, steps[-1], sentences(steps[-1], facts, visitor.lang()))


def _hold_step(run: Run, first: int, step: int) -> tuple[Json, list[StepJson]]:
    lang = visitor.lang()
    digest = services().replays.register(run)
    saved = services().replays.saved(digest)
    with services().replays.using(digest) as replay:
        facts = _cut(services().replays.facts(replay, saved, lang), step)
        return facts, replay.around(first, step, step - first + 1)


def _boot(facts: Json, steps: list[StepJson], step: int) -> dict[str, object]:
    return {
        "run": facts["digest"],
        "step": step,
        "lang": visitor.lang(),
        "engine": ENGINE_VERSION,
        "facts": facts,
        "steps": steps,
        "theme": "auto",
        "layers": "ends",  # lessons and questions speak of them
    }


def _page(boot: Mapping[str, object], facts: Json, shown: StepJson, said: list[str]) -> str:
    chosen = {name: boot[name] for name in ("controls", "panel", "theme")}
    return render_template(
        "embed.html",
        boot=boot,
        chosen=chosen,
        problems=[],
        title=facts["scenario"]["title"],
        step=shown["n"],
        total=shown["n"],
        sentences=said,
        rows=table_rows(shown["view"]),
        asked="ask" in boot,
    )


def _untold(view: View) -> View:
    """Return the view without the fields of messages that say where logs diverge.

    From these fields the stage draws where the log will be cut, and the question may ask for that.
    """
    hidden = ("diverging", "end")
    messages: list[Message] = [
        {**m, "fields": {name: value for name, value in m["fields"].items() if name not in hidden}}
        for m in view["messages"]
    ]
    return {**view, "messages": messages}


def _cut(facts: Json, step: int) -> Json:
    """Return the facts that are known at this step: no verdict, no marks, no moves to come."""
    marks = [mark for mark in facts["marks"] if mark[0] <= step]
    chapters = [chapter for chapter in facts["chapters"] if chapter[0] <= step]
    return {
        **facts,
        "total": step,
        "whole": True,
        "marks": marks,
        "beats": [],
        "highest": {},
        "moments": [moment for moment in facts["moments"] if moment <= step],
        "chapters": [[at, move, ""] for at, move, _ in chapters],
        "moves": facts["moves"][: len(chapters)],
        "clock": [tick for tick in facts["clock"] if tick[0] <= step],
        "verdict": {"holds": True, "expected": None, "broken": [], "counts": {}},
        "outcome": "",
        "scenario": {**facts["scenario"], "title": "", "teaches": ""},
    }
