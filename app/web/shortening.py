"""API for a shorter failing run."""

from __future__ import annotations

from flask import Blueprint, Response, url_for

from app.questions.shortening import shorter
from app.server import api_schema, visitor
from app.web.api import body, json_answer
from app.web.questioning import question_context
from engine.model.json_types import Json

blueprint = Blueprint("shortening", __name__)


@blueprint.post("/api/shorten")
@api_schema.declare(Json, takes=api_schema.FailureSent, example=api_schema.FAILED)
def shorten_run() -> Response:
    """Return a shorter run that breaks the same invariant; the body is {run, invariant}."""
    visitor.require_token()
    visitor.limit_saves()
    shortened = shorter(question_context(), body())
    step = max(0, shortened["after"] - 1)
    url = url_for("pages.run", digest=shortened["digest"], step=step)
    return json_answer({"ok": True, "url": url, **shortened})
