"""Answering of one question, state by state: a process goes on to its end, a tab in slices."""

from __future__ import annotations

import time
from typing import Any, Final, NamedTuple, TypedDict, final

from app.explore.search_request import FELL, MEMORY, Ask
from engine.explore.card import card
from engine.explore.danger import distances
from engine.explore.searching import Bounds, Graph, SearchOutcome, StateSearch
from engine.model.json_types import Json


class SearchLimits(NamedTuple):
    """Limits of what a page searches."""

    states: int
    """Most different states."""
    cpu_s: float
    distances_s: float
    """For the distances of the next moves, after the answer itself."""


SERVER_LIMITS: Final = SearchLimits(40_000, 45.0, 20.0)
TAB_LIMITS: Final = SearchLimits(10_000, 60.0, 20.0)
"""A tab plays a state three to five times more slowly, in the memory of its browser."""


@final
class ExploreProgress(TypedDict):
    """Progress of a search; `doing` is search or distances."""

    doing: str
    states: int
    depth: int
    cpu_s: float


class FoundWay(TypedDict):
    """A way to a state that was looked for: its moves, and the text of the run."""

    name: str
    moves: list[str]
    why: str
    run: str


class ExploreAnswer(TypedDict):
    """Answer of a search; `card` as `engine.explore.card` has it.

    `distances`: [move, kind, moves to the end]; `missing`: why there are none, or "".
    """

    card: Json
    ways: list[FoundWay]
    distances: list[list[Any]]
    cancelled: bool
    missing: str
    cpu_s: float


class SearchTask:
    """One question on its way: `advance` until `over`, then `answer` has the whole of it."""

    def __init__(self, ask: Ask, limits: SearchLimits = SERVER_LIMITS) -> None:
        """Begin; raises InputError for a run that the question cannot be put to."""
        self.answer: ExploreAnswer | None = None
        """What is known: the card and the ways; in the end with the distances."""
        self.over = False
        self.cpu_s = 0.0
        self._limits = limits
        self._question = ask.question()
        self._graph: Graph | None = None
        self._searching = self._begun()
        self._until = limits.cpu_s

    @property
    def progress(self) -> ExploreProgress:
        progress = self._searching.outcome.progress
        return {
            "doing": "search" if self._graph is None else "distances",
            "states": progress.distinct,
            "depth": progress.depth,
            "cpu_s": round(self.cpu_s, 1),
        }

    def advance(self, seconds: float) -> None:
        """Go on for about this many seconds of the processor, or until more is known."""
        try:
            self._advance(self.cpu_s + seconds, time.process_time() - self.cpu_s)
        except MemoryError:
            if self.answer is None:
                raise
            self._end(MEMORY)

    def cancel(self) -> None:
        """End it; what was seen so far is the answer."""
        if self.over:
            return
        if self._graph is None:
            self.answer = self._first()
            self._end("", cancelled=True)
        else:
            self._end("", self._distances(self._graph), cancelled=True)

    def _advance(self, until: float, began: float) -> None:
        while not self.over and self.cpu_s < until:
            more = self._searching.expand()
            self.cpu_s = time.process_time() - began
            if not more or self.cpu_s > self._until:
                self._go_on()
                return

    def _begun(self) -> StateSearch:
        searching = StateSearch(self._question, Bounds(self._limits.states), self._graph)
        searching.begin()
        return searching

    def _go_on(self) -> None:
        """Go on from the search to the distances, and from these to the end."""
        if self._graph is None:
            self.answer = self._first()
            self._graph = Graph()
            self._until = self.cpu_s + self._limits.distances_s
            self._searching = self._begun()
        else:
            self._end("", self._distances(self._graph))

    def _distances(self, graph: Graph) -> list[list[Any]]:
        found = distances(graph, self._searching.outcome)
        return [[one.move, one.kind, one.moves] for one in found]

    def _first(self) -> ExploreAnswer:
        outcome = self._searching.outcome
        return {
            "card": card(outcome),
            "ways": _ways(outcome),
            "distances": [],
            "cancelled": False,
            "missing": FELL,
            "cpu_s": round(self.cpu_s, 1),
        }

    def _end(
        self, missing: str, distances: list[list[Any]] | None = None, cancelled: bool = False
    ) -> None:
        assert self.answer is not None
        self.over = True
        self.answer = {
            **self.answer,
            "distances": self.answer["distances"] if distances is None else distances,
            "cancelled": cancelled,
            "missing": missing,
            "cpu_s": round(self.cpu_s, 1),
        }


def _ways(outcome: SearchOutcome) -> list[FoundWay]:
    """Return the ways that were found, as runs to open: the nearest first."""
    findings = sorted(outcome.found.items(), key=lambda item: len(item[1].moves))
    return [
        {"name": name, "moves": list(finding.moves), "why": finding.why, "run": finding.run.text()}
        for name, finding in findings
    ]
