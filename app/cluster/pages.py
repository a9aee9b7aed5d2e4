"""Bring your own cluster: a run that starts in the state that Kafka's tools print."""

from __future__ import annotations

from flask import Blueprint, Response, render_template, url_for

from app.admission.bodies import FILES_BYTES
from app.cluster.box import BoxJson, read_box
from app.cluster.findings import ClusterReport, report_of
from app.incident.formats import FORMATS
from app.incident.pages import FILES_PATH, MOST_FILES
from app.questions import cluster
from app.server import api_schema, visitor
from app.server.services import apart, services
from app.web.api import body, json_answer
from app.web.questioning import question_context
from engine.model.profiles import PROFILES
from engine.scenarios import paste
from engine.sim.run import Run

blueprint = Blueprint("cluster", __name__)


@blueprint.get("/cluster")
def page() -> str:
    """Render the box to paste into, and a place to drop files on."""
    return _box(files_first=False)


@blueprint.get("/incident")
def incident() -> str:
    """Render the same with the place for files open."""
    return _box(files_first=True)


def _box(files_first: bool) -> str:
    boot = {
        "lang": visitor.lang(),
        "most": cluster.MOST_SENT,
        "most_bytes": FILES_BYTES,
        "files": MOST_FILES,
        "path": FILES_PATH,
    }
    return render_template(
        "cluster/page.html",
        boot=boot,
        profiles=PROFILES.values(),
        formats=paste.SHOWN,
        rows=[row for one in FORMATS for row in one.rows],
        files_first=files_first,
    )


@blueprint.post("/api/cluster")
@api_schema.declare(api_schema.ClusterRead, takes=api_schema.ClusterSent)
def read_cluster() -> Response:
    """Parse {text, profile?, partition?}; nothing is stored or evaluated.

    `box` has what the text means besides: kinds of lines, known bugs, the story of an incident.
    """
    visitor.require_token()
    request = body()
    run, answer, facts = cluster.read(question_context(), request)
    what_if = None if run is None else _what_if(run)
    text = request.text("text", most=2 * paste.MOST_CHARS)
    partition = request.text("partition") if request.has("partition") else ""
    report, box = apart(_meaning, run, text, facts, partition, visitor.lang())
    return json_answer({"ok": True, **answer, "what_if": what_if, "report": report, "box": box})


def _meaning(
    run: Run | None, text: str, facts: paste.Facts, partition: str, language: str
) -> tuple[ClusterReport | None, BoxJson]:
    """Return the report on the cluster, and what the text means besides."""
    report = None if run is None else report_of(run.scenario.to_dict(), facts)
    return report, read_box(text, facts, partition, language)


def _what_if(run: Run) -> str:
    """Return the address of the table "What if a broker dies now?" for the pasted state."""
    digest = services().replays.register(run)
    return url_for("what_if.page", digest=digest, step=0, part=1)
