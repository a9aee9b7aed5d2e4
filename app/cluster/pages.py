"""Bring your own cluster: a run that starts in the state that Kafka's tools print."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, Response, render_template, url_for

from app.context import visitor
from app.context.services import services
from app.server import api_schema
from app.storage.saved import RUN_BYTES
from app.web.api import body, json_answer
from engine.model.errors import InputError
from engine.model.profiles import PROFILES, get_profile
from engine.scenarios import paste, pasted
from engine.scenarios.paste import Notice
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

blueprint = Blueprint("cluster", __name__)

MOST_SENT: Final = 190_000
"""Characters that the page sends: as JSON they fit into a request."""


@blueprint.get("/cluster")
def page() -> str:
    """Render a box to paste into."""
    boot = {"lang": visitor.lang(), "most": MOST_SENT}
    return render_template(
        "cluster.html", boot=boot, profiles=PROFILES.values(), formats=paste.SHOWN
    )


@blueprint.post("/api/cluster")
@api_schema.declare(api_schema.ClusterRead, takes=api_schema.ClusterSent)
def read_cluster() -> Response:
    """Parse {text, profile?} into {run, notes, problems}; nothing is stored or evaluated."""
    visitor.require_token()
    asked = body()
    facts = paste.read(asked.text("text", most=2 * paste.MOST_CHARS))
    if asked.has("profile"):
        facts.profile = get_profile(asked.text("profile")).name
    title = services().words.text(visitor.lang(), "cluster.title.scenario", {})
    data, notes = pasted.scenario_of(facts, title)
    problems = [*facts.problems]
    run = None
    if data is not None:
        run = _run(data, problems)
    return json_answer(
        {
            "ok": True,
            "run": None if run is None else run.text(),
            "what_if": None if run is None else _what_if(run),
            "profile": None if run is None else run.profile,
            "partitions": [] if data is None else _summary(data),
            "offline": [] if data is None else data["initial"]["offline"],
            "notes": [_sentence_json(one) for one in notes],
            "problems": [_sentence_json(one) for one in problems],
        }
    )


def _what_if(run: Run) -> str:
    """Return the address of the table "What if a broker dies now?" for the pasted state."""
    digest = services().replays.register(run)
    return url_for("what_if.page", digest=digest, step=0, part=1)


def _run(data: dict[str, Any], problems: list[Notice]) -> Run | None:
    """Return the run, if the parts fit together; else add the problem and return None."""
    try:
        scenario = Scenario.from_dict(data)
        run = Run(scenario, scenario.profiles[0])
    except InputError as bad:
        problems.append(Notice("paste.refused", {"why": bad.sentence}))
        return None
    if len(run.text().encode()) > RUN_BYTES:
        problems.append(Notice("paste.large", {"most": RUN_BYTES // 1024}))
        return None
    return run


def _summary(data: dict[str, Any]) -> list[dict[str, Any]]:
    states = data["initial"]["partitions"]
    return [
        {"name": one["name"], "leader": one["leader"], "isr": one["isr"], "replicas": replicas}
        for one, replicas in zip(states, data["partitions"], strict=True)
    ]


def _sentence_json(one: Notice) -> dict[str, Any]:
    return {
        "key": one.key,
        "args": one.args,
        "line": one.line,
        "sentence": services().words.text(visitor.lang(), one.key, one.args),
        "choices": [
            {"key": each.key, "args": each.args, "put": each.put, "before": each.before}
            for each in one.choices
        ],
    }
