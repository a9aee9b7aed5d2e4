"""Bring your own cluster: a run that starts in the state that Kafka's tools print."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, Response, render_template, request, url_for

from app.admission.bodies import FILES_BYTES
from app.cluster.reading import MOST_SENT, note_json, read_text
from app.incident.pages import FILES_PATH, MOST_FILES
from app.reading.facts import MOST_CHARS
from app.reading.formats import FORMATS, SHOWN
from app.server import api_schema, visitor
from app.server.services import apart, services
from app.web.api import body, json_answer
from app.web.questioning import question_context
from engine.model.profiles import PROFILES, get_profile
from engine.sim.run import Run

blueprint = Blueprint("cluster", __name__)

LONGEST_QUERY: Final = 2_000
"""Characters of `?ask=`."""


@blueprint.get("/cluster")
def page() -> str:
    """Render the box to paste into, and a place to drop files on.

    ``?ask=`` is a text that is read at once: an error, a line of a log, a version, a question.
    """
    return _box(files_first=False)


@blueprint.get("/incident")
def incident() -> str:
    """Render the same with the place for files open."""
    return _box(files_first=True)


def _box(files_first: bool) -> str:
    query = request.args.get("ask", "")[:LONGEST_QUERY]
    boot = {
        "lang": visitor.lang(),
        "asked": bool(query.strip()),
        "most": MOST_SENT,
        "most_bytes": FILES_BYTES,
        "files": MOST_FILES,
        "path": FILES_PATH,
    }
    return render_template(
        "cluster/page.html",
        boot=boot,
        asked=query,
        profiles=PROFILES.values(),
        formats=SHOWN,
        rows=[row for layout in FORMATS for row in layout.rows],
        files_first=files_first,
    )


@blueprint.post("/api/cluster")
@api_schema.declare(
    api_schema.ClusterRead,
    takes=api_schema.ClusterSent,
    example={"text": "Topic: a Partition: 0 Leader: 1 Replicas: 1,2 Isr: 1", "profile": "K39"},
)
def read_cluster() -> Response:
    """Parse {text, profile?, partition?}; nothing is stored or evaluated.

    `box` has what the text means besides: kinds of lines, known bugs, the story of an incident.
    """
    visitor.require_token()
    sent, context = body(), question_context()
    text = sent.text("text", most=2 * MOST_CHARS)
    profile = get_profile(sent.text("profile")).name if sent.has("profile") else ""
    partition = sent.text("partition") if sent.has("partition") else ""
    title = context.text("cluster.title.scenario")
    read = apart(read_text, text, profile, partition, title, visitor.lang())
    return json_answer(
        {
            "ok": True,
            **read.summary,
            "notes": [note_json(context, note) for note in read.notes],
            "problems": [note_json(context, problem) for problem in read.problems],
            "what_if": None if read.run is None else _what_if(read.run),
            "report": read.report,
            "box": read.box,
        }
    )


def _what_if(run: Run) -> str:
    """Return the address of the table "What if a broker dies now?" for the pasted state."""
    digest = services().replays.register(run)
    return url_for("what_if.page", digest=digest, step=0, part=1)
