"""An incident in the browser: brokers' files are uploaded, read once, and deleted.

What reads them is what `highwater incident` reads them with.  They lie in a directory of their own
that lives as long as the request.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, render_template, request
from werkzeug.datastructures import FileStorage

from app.admission.bodies import FILES_BYTES
from app.admission.cpu_quota import CpuBudget
from app.core.refusals import RequestError
from app.incident.formats import FORMATS
from app.incident.story import story_of_files
from app.server import visitor
from app.server.services import services
from app.web.api import json_answer

blueprint = Blueprint("incident", __name__)

FILES_PATH: Final = "/incident/read"
MOST_FILES: Final = 200
MOST_PARTS: Final = 8
"""Of a path: folders below each other."""
LONGEST: Final = 120
_GIVEN: Final = re.compile(r"(\d{1,6}|K)=(.+)")
_NOT_IN_NAMES: Final = re.compile(r"[^\w.=@+-]+")


@blueprint.get("/incident")
def page() -> str:
    """Render a place to drop files on."""
    boot = {
        "lang": visitor.lang(),
        "most": FILES_BYTES,
        "files": MOST_FILES,
        "path": FILES_PATH,
    }
    rows = [row for one in FORMATS for row in one.rows]
    return render_template("incident/page.html", boot=boot, formats=rows)


@blueprint.post(FILES_PATH)
def read_files() -> Response:
    """Return the story and the run of uploaded files.

    They are a form with `file` parts whose names are paths, and perhaps a `partition`; `choose` is
    returned where the files name several partitions.
    """
    visitor.require_token()
    request.max_form_parts = MOST_FILES + 2
    given = request.files.getlist("file")
    if not given:
        raise RequestError("invalid", what="file")
    # A thread that reads files plays a run at its end: it waits at the gate for plays.
    with services().plays.turn(), tempfile.TemporaryDirectory(prefix="highwater-incident-") as root:
        arguments, known = _laid_out(Path(root), given)
        partition = request.form.get("partition", "")[:260]
        budget = CpuBudget(services().settings.build_cpu_s)
        answer = story_of_files(
            arguments, known, partition, visitor.lang(), Path(root), budget.check
        )
    return json_answer({"ok": True, **answer})


def _laid_out(root: Path, given: list[FileStorage]) -> tuple[tuple[str, ...], dict[Path, str]]:
    """Write the files below `root`, under the names they came with as far as those are names.

    What `highwater incident` would be called with, and path -> name.
    """
    known: dict[Path, str] = {}
    arguments: dict[str, None] = {}
    for number, file in enumerate(given):
        name = file.filename or "file"
        parts = [_NOT_IN_NAMES.sub("_", one)[:LONGEST] for one in re.split(r"[/\\]", name)]
        parts = [one for one in parts if one.strip(".")][-MOST_PARTS:] or ["file"]
        owner = _GIVEN.fullmatch(parts[-1])
        whose = root / (f"of_{owner[1]}" if owner else "all")
        if owner:
            parts[-1] = owner[2]
        path = whose.joinpath(*parts)
        if path in known or path.is_dir():  # two of one name are two files
            path = whose.joinpath(str(number), *parts[-2:])
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file.save(path)
        except OSError:
            raise RequestError("invalid", what=name[:LONGEST]) from None
        known[path] = name[:260]
        arguments[f"{owner[1]}={whose}" if owner else str(whose)] = None
    return tuple(arguments), known
