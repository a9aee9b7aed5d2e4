"""The page of the engine: which one plays, what a compiled one would gain, and the button."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template
from werkzeug.wrappers import Response as AnyResponse

from app.compiled import build
from app.compiled.job import CompileJob
from app.core import compiled_engine
from app.core.refusals import RequestError
from app.server import visitor
from app.server.operator import is_operator
from app.server.services import services
from app.web.moments import address
from engine.study.digest import is_compiled

blueprint = Blueprint("compiled", __name__)
job = CompileJob()
"""One for all applications of a process, as the cache it writes to is one."""


@blueprint.get("/batch/engine")
def engine() -> str:
    """Render the state of the compiled engine; only the operator sees what to press."""
    return render_template(
        "compiled/page.html",
        built=compiled_engine.built() is not None,
        in_use=is_compiled(),
        may=is_operator(),
        why_not=_sentence(build.why_not()),
        problem=_sentence(job.problem),
        seconds=build.USUAL_CPU_S,
        installs=build.lacks_mypy(),
        job=job,
    )


def _sentence(error: build.CompileError | None) -> str:
    return error.sentence(services().words, visitor.lang()) if error is not None else ""


@blueprint.post("/batch/engine/build")
def start() -> AnyResponse:
    """Start the build; for the operator only."""
    _require_operator()
    job.start()
    return redirect(address("/batch/engine", **visitor.tongue()), 303)


@blueprint.post("/batch/engine/cancel")
def cancel() -> AnyResponse:
    """Cancel the build; for the operator only."""
    _require_operator()
    job.cancel()
    return redirect(address("/batch/engine", **visitor.tongue()), 303)


def _require_operator() -> None:
    """Raise RequestError for everybody else."""
    visitor.require_token()
    if not is_operator():
        raise RequestError("not_found")
