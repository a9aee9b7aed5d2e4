"""The process that answers one question, within limits of its own (`app.workers`).

It reads the question (`asked.Ask.told`), and any further input cancels it.  It sends its progress
twice a second; its answer as soon as it has one; and at the end the whole answer, or why there is
none.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from app.core.gc_settings import no_collector
from app.explore.search_request import (
    CPU_S,
    DANGER_S,
    FELL,
    MEMORY,
    Ask,
    bounded,
    counted,
    read,
)
from app.workers.worker_process import Line
from engine.explore.card import card
from engine.explore.danger import Danger, danger
from engine.explore.searching import SearchOutcome, SearchProgress, search
from engine.model.errors import InputError

EVERY_S: Final = 0.5
Tell = Callable[[dict[str, Any]], None]


class SearchWatch:
    """Monitor that reports the progress of a search, and ends it at its limits."""

    def __init__(self, what: str, seconds: float, tell: Tell, hung_up: Callable[[], bool]) -> None:
        self.cancelled = False
        self._what = what
        self._tell = tell
        self._hung_up = hung_up
        self._until = time.process_time() + seconds
        self._told = time.monotonic()

    def __call__(self, progress: SearchProgress, **more: int) -> bool:
        now = time.monotonic()
        if now - self._told >= EVERY_S:
            self._told = now
            told = {"doing": self._what, **counted(progress), **more, "cpu_s": round(cpu_s(), 1)}
            self._tell(told)
            self.cancelled = self.cancelled or self._hung_up()
        return self.cancelled or time.process_time() > self._until


def cpu_s() -> float:
    return time.process_time()


def answer(ask: Ask, tell: Tell, hung_up: Callable[[], bool]) -> dict[str, Any]:
    """Return the question's card, and the distances of the next moves if there was time for them.

    The card is sent as soon as it is known: whatever becomes of the distances, it stays.
    """
    question = ask.question()
    watch = SearchWatch("search", CPU_S, tell, hung_up)
    outcome = search(question, bounded(watch))
    told: dict[str, Any] = {"card": card(outcome), "ways": _ways(outcome), "distances": []}
    told |= {"cancelled": watch.cancelled, "missing": "", "cpu_s": round(cpu_s(), 1)}
    if watch.cancelled:
        return told
    tell({"first": {**told, "missing": FELL}})
    after = SearchWatch("distances", DANGER_S, tell, hung_up)
    try:
        told["distances"] = _distances(danger(question, bounded(after)))
    except MemoryError:
        told["missing"] = MEMORY
    return {**told, "cancelled": after.cancelled, "cpu_s": round(cpu_s(), 1)}


def _ways(outcome: SearchOutcome) -> list[dict[str, Any]]:
    """Return the ways that were found, as runs to open: the nearest first."""
    found = sorted(outcome.found.items(), key=lambda one: len(one[1].moves))
    return [
        {"name": name, "moves": list(one.moves), "why": one.why, "run": one.run.text()}
        for name, one in found
    ]


def _distances(found: Danger) -> list[list[Any]]:
    return [[one.move, one.kind, one.moves] for one in found.distances]


def work(line: Line) -> None:
    """Answer the one question that comes."""
    try:
        with no_collector():
            ask = read(line.recv())
            line.send({"answer": answer(ask, line.send, line.poll)})
    except InputError as error:
        told = {"code": error.code, "sentence": error.sentence, "where": error.where}
        line.send({"refused": told})
    except MemoryError:
        line.send({"refused": {"code": "too_large", "sentence": "", "where": MEMORY}})
