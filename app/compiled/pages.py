"""The page of the engine: which one plays, what a compiled one would gain, and the button."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from flask import Blueprint, redirect, render_template
from werkzeug.wrappers import Response as AnyResponse

from app.compiled import build
from app.core import compiled_engine
from app.core.refusals import RequestError
from app.server import visitor
from app.server.operator import is_operator
from app.server.services import services
from app.web.moments import address
from engine.study.digest import is_compiled


class CancelledError(Exception):
    """Raised within a build that was cancelled."""


class CompileJob:
    """State of the build.

    `running`; `phase` and `share` (0 – 1) while it runs; `problem`: why the last one failed.
    """

    def __init__(self, build_engine: Callable[[build.Progress], Path] = build.build) -> None:
        self._build = build_engine
        self._turn = threading.Lock()
        self._cancelled = threading.Event()
        self.running = False
        self.phase, self.share = build.TRANSLATING, 0.0
        self.problem: build.CompileError | None = None

    def start(self) -> None:
        """Begin, unless it runs or there is nothing to build."""
        with self._turn:
            if self.running or compiled_engine.built() is not None:
                return
            self.running = True
            self.phase, self.share, self.problem = build.TRANSLATING, 0.0, None
            self._cancelled.clear()
            threading.Thread(target=self._run, name="compile", daemon=True).start()

    def cancel(self) -> None:
        self._cancelled.set()

    def _run(self) -> None:
        try:
            self._build(self._progress)
        except CancelledError:
            pass
        except build.CompileError as error:
            self.problem = error
        finally:
            self.running = False

    def _progress(self, phase: str, share: float) -> None:
        if self._cancelled.is_set():
            raise CancelledError
        self.phase, self.share = phase, share


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
    _require_operator()
    job.start()
    return redirect(address("/batch/engine", **visitor.lang_query()), 303)


@blueprint.post("/batch/engine/cancel")
def cancel() -> AnyResponse:
    _require_operator()
    job.cancel()
    return redirect(address("/batch/engine", **visitor.lang_query()), 303)


def _require_operator() -> None:
    visitor.require_token()
    if not is_operator():
        raise RequestError("not_found")
