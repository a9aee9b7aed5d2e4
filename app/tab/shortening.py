"""API of a tab for a shorter failing run; a server has it beside its batches."""

from __future__ import annotations

from flask import Blueprint, Response, url_for

from app.context.questioning import question_context
from app.questions.shortening import shorter
from app.web.api import body, json_answer

blueprint = Blueprint("shortening", __name__)


@blueprint.post("/api/shorten")
def shorten_run() -> Response:
    """Return a shorter run that breaks the same invariant; the body is {run, invariant}."""
    found = shorter(question_context(), body())
    step = max(0, found["after"] - 1)
    url = url_for("pages.run", digest=found["digest"], step=step)
    return json_answer({"ok": True, "url": url, **found})
