"""Export of a run as a file, in one of several formats."""

from __future__ import annotations

from typing import TypedDict

from app.core.refusals import RequestError
from app.core.request_fields import RequestFields
from app.questions import names
from app.questions.context import Context
from engine.export.exports import FORMATS, file_name
from engine.replay.replay import Replay
from engine.sim.run import Run


class ExportedRun(TypedDict):
    text: str
    name: str


def exported(context: Context, request: RequestFields) -> ExportedRun:
    """Return {run} as the file of a ``form``."""
    run = context.run = context.runs.run(names.digest_asked(request))
    form = request.text("form")
    if form not in FORMATS:
        raise RequestError("not_found")
    text, name = context.compute.apart(export, run, form)
    return {"text": text, "name": name}


def export(run: Run, form: str) -> tuple[str, str]:
    """Return (text, name) of one file; `form` is one of `FORMATS`."""
    replay = Replay(run)
    return FORMATS[form].make(replay), file_name(replay, form)
