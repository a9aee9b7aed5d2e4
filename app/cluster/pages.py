"""Bring your own cluster: a run that starts in the state that Kafka's tools print."""

from __future__ import annotations

from flask import Blueprint, Response, render_template, url_for

from app.questions import cluster
from app.server import api_schema, visitor
from app.server.services import services
from app.web.api import body, json_answer
from app.web.questioning import question_context
from engine.model.profiles import PROFILES
from engine.scenarios import paste
from engine.sim.run import Run

blueprint = Blueprint("cluster", __name__)


@blueprint.get("/cluster")
def page() -> str:
    """Render a box to paste into."""
    boot = {"lang": visitor.lang(), "most": cluster.MOST_SENT}
    return render_template(
        "cluster/page.html", boot=boot, profiles=PROFILES.values(), formats=paste.SHOWN
    )


@blueprint.post("/api/cluster")
@api_schema.declare(api_schema.ClusterRead, takes=api_schema.ClusterSent)
def read_cluster() -> Response:
    """Parse {text, profile?} into {run, notes, problems}; nothing is stored or evaluated."""
    visitor.require_token()
    run, answer = cluster.read(question_context(), body())
    what_if = None if run is None else _what_if(run)
    return json_answer({"ok": True, **answer, "what_if": what_if})


def _what_if(run: Run) -> str:
    """Return the address of the table "What if a broker dies now?" for the pasted state."""
    digest = services().replays.register(run)
    return url_for("what_if.page", digest=digest, step=0, part=1)
