"""Context of one process without a server: its runs, and computation in its own thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from app.core.memoize import once
from app.core.refusals import RequestError
from app.core.words import Catalogue
from app.questions.context import Context, described
from engine.model.json_types import Json
from engine.replay.replay import STEPS_MOST, Replay
from engine.sim.run import Run

T = TypeVar("T")


class LocalRuns:
    """Runs of one caller, each played on first use and held as long as the caller lives."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}
        self._replays: dict[str, Replay] = {}

    def register(self, run: Run) -> str:
        digest: str = run.digest
        self._runs[digest] = run
        return digest

    def borrow(self, other: LocalRuns) -> None:
        """Add the runs of another caller, and what it has played of them."""
        self._runs |= other._runs
        self._replays |= other._replays

    def run(self, digest: str) -> Run:
        """Return a known run.  Raises `RequestError` "gone"."""
        try:
            return self._runs[digest]
        except KeyError:
            raise RequestError("gone", run=digest) from None

    @contextmanager
    def using(self, digest: str, beyond: int | None = None) -> Iterator[Replay]:
        replay = self._replays.get(digest)
        if replay is None:
            replay = self._replays[digest] = Replay(self.run(digest))
        yield replay

    def describe(self, digest: str, lang: str) -> Callable[[Replay], Json]:
        """Return a function that gives the facts of a replay in a language."""
        return lambda replay: described(replay, lang)


class LocalCompute:
    """Computation in the caller's thread, one question after another."""

    def apart(self, work: Callable[..., T], *args: object) -> T:
        return work(*args)

    def turn(self) -> AbstractContextManager[object]:
        """Return at once: nothing else computes here."""
        return nullcontext()


@once
def _words() -> Catalogue:
    return Catalogue()


def local_context(runs: LocalRuns, lang: str) -> Context:
    """Return a context around these runs, which compares runs of any length."""

    def saved(_digest: str) -> Any:
        return None

    return Context(
        runs=runs,
        compute=LocalCompute(),
        words=_words(),
        lang=lang,
        saved_scenario=saved,
        compared_most=STEPS_MOST,
    )
