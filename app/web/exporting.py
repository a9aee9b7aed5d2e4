"""A run as files to download: they never change, so they are kept for ever."""

from __future__ import annotations

from flask import Blueprint, Response, request

from app.core.refusals import RequestError
from app.core.request_fields import RequestFields
from app.questions import exports
from app.server.edition import FOR_EVER
from app.web.api import unless_known
from app.web.naming import run_named
from app.web.questioning import question_context
from engine import ENGINE_VERSION
from engine.export.exports import FORMATS

blueprint = Blueprint("exporting", __name__)


@blueprint.get("/r/<digest>/export/<form>")
def export(digest: str, form: str) -> Response:
    """Return one file; ``?show`` requests its text in the page instead of a download."""
    if form not in FORMATS:
        raise RequestError("not_found")
    run_named(digest)
    etag = f"{digest}-{form}-{ENGINE_VERSION}"
    shown = "show" in request.args

    def answer() -> Response:
        fields = RequestFields({"run": digest, "form": form})
        exported = exports.exported(question_context(), fields)
        file = Response(
            exported["text"], mimetype="text/plain" if shown else FORMATS[form].mimetype
        )
        how = "inline" if shown else "attachment"
        file.headers["Content-Disposition"] = f'{how}; filename="{exported["name"]}"'
        return file

    response = unless_known(etag, answer)
    response.headers["Cache-Control"] = FOR_EVER
    return response
