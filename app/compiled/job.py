"""The build that a page has started: one in a process, which can be watched and cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from app.compiled import build
from app.core import compiled_engine


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
