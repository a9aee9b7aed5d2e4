"""An incident in the browser: brokers' files are uploaded, read once, and deleted.

A worker process reads them as `highwater incident` does.  They lie in a folder of their own that
lives as long as the request.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_options_header

from app.core.refusals import RequestError
from app.core.uploads import upload_folder
from app.incident.story import IncidentStory, PartitionChoice, laid_out, story_of_files
from app.server import visitor
from app.server.services import apart, services
from app.web.api import json_answer

blueprint = Blueprint("incident", __name__)

FILES_PATH: Final = "/incident/read"
MOST_FILES: Final = 200


@blueprint.post(FILES_PATH)
def read_files() -> Response:
    """Return the story and the run of uploaded files.

    They are a form with `file` parts whose names are paths, and perhaps a `partition`; `choose` is
    returned where the files name several partitions.
    """
    visitor.require_token_header()  # the form itself is read by the worker
    with upload_folder(services().settings.instance) as root:
        body = root / "body"
        with body.open("wb") as file:
            shutil.copyfileobj(request.stream, file)
        answer = apart(_story_of_form, body, request.content_type or "", visitor.lang())
    return json_answer({"ok": True, **answer})


# -- in a worker process --------------------------------------------------------------------------


def _story_of_form(body: Path, kind: str, language: str) -> IncidentStory | PartitionChoice:
    """Return the story of the files in the body of a form, which are written beside it."""
    parser = FormDataParser(max_form_parts=MOST_FILES + 2)
    mimetype, options = parse_options_header(kind)
    with body.open("rb") as stream:
        try:
            _, form, files = parser.parse(stream, mimetype, body.stat().st_size, options)
        except RequestEntityTooLarge:
            raise RequestError("too_large", "too_large.parts", most=MOST_FILES) from None
    given = files.getlist("file")
    if not given:
        raise RequestError("invalid", what="file")
    root = body.parent
    arguments, names = laid_out(
        root, ((upload.filename or "file", upload.save) for upload in given)
    )
    return story_of_files(arguments, names, form.get("partition", "")[:260], language, root)
