"""Searches of a tab: each is played in slices, one whenever its page asks how far it is."""

from __future__ import annotations

from typing import Final

from app.core.refusals import RequestError
from app.explore.answering import TAB_LIMITS, SearchTask
from app.explore.search import DONE, REFUSED, RUNS, Search
from app.explore.search_request import Ask
from engine.model.errors import InputError

SLICE_S: Final = 0.6
KEPT: Final = 16


class TabSearches:
    """Searches of one page, without processes or threads; the interface of `Searches`."""

    limits = TAB_LIMITS
    pictures = False

    def __init__(self) -> None:
        self._known: dict[str, tuple[Search, SearchTask | None]] = {}

    def ask(self, ask: Ask, address: str) -> Search:
        """Return the search of this question, begun if there is none."""
        ask.check()
        known = self._known.get(ask.number)
        if known is not None and known[0].stands:
            return known[0]
        search, task = Search(ask, address, RUNS), None
        try:
            task = SearchTask(ask, TAB_LIMITS)
        except InputError as error:
            search.refusal = RequestError(error.code, text=error.sentence, where=error.where)
            search.state = REFUSED
        self._known[ask.number] = search, task
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        return search

    def find(self, number: str) -> Search | None:
        """Return the search of a question, a slice further."""
        search, task = self._known.get(number, (None, None))
        if search is None or task is None or search.over:
            return search
        try:
            task.advance(SLICE_S)
        except MemoryError:
            search.refusal, search.state = RequestError("too_large", "search.memory"), REFUSED
            return search
        search.progress = task.progress
        _take(search, task)
        return search

    def place(self, search: Search) -> int:
        """Return 0: no search waits for another one."""
        del search
        return 0

    def cancel(self, number: str, address: str) -> None:
        """End a search; what it has seen so far becomes its answer."""
        del address
        search, task = self._known.get(number, (None, None))
        if search is not None and task is not None and not search.over:
            task.cancel()
            _take(search, task)


def _take(search: Search, task: SearchTask) -> None:
    """Take over the answer of a task that is over."""
    if task.over and task.answer is not None:
        search.answer = task.answer
        search.cancelled = task.answer["cancelled"]
        search.state = DONE
