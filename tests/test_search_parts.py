"""A search whose states are dealt out: row by row what a search in one process meets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from app.batch.runners.exploring import COUNTS, Row, expanded, search_on
from engine.explore import card
from engine.explore.budgets import Budgets
from engine.explore.question import SearchQuestion, cut_at
from engine.explore.searching import Bounds, SearchOutcome, search
from engine.model.errors import InputError
from engine.scenarios import file
from engine.sim.run import Run
from tests.conftest import sample
from tests.recorded import cut_after


class Rows:
    """As much of Spark's RDD as the search asks for, in this process.

    A level is two tasks of every other row, the second first: nothing may depend on the order.
    """

    def __init__(self, rows: Iterable[Any]) -> None:
        self.rows = list(rows)

    def mapPartitions(self, work: Any) -> Any:
        parts = (self.rows[1::2], self.rows[::2])
        return Rows([made for part in parts for made in work(iter(part))])

    def filter(self, wanted: Any) -> Any:
        return Rows([row for row in self.rows if wanted(row)])

    def map(self, change: Any) -> Any:
        return Rows([change(row) for row in self.rows])

    def mapValues(self, change: Any) -> Any:
        return Rows([(key, change(value)) for key, value in self.rows])

    def reduceByKey(self, choose: Any, slices: Any) -> Any:
        found: dict[Any, Any] = {}
        for key, value in self.rows:
            found[key] = choose(found[key], value) if key in found else value
        return Rows(found.items())

    def subtractByKey(self, other: Any, slices: Any) -> Any:
        known = {key for key, _ in other.rows}
        return Rows([row for row in self.rows if row[0] not in known])

    def union(self, other: Any) -> Any:
        return Rows([*self.rows, *other.rows])

    def keys(self) -> Any:
        return Rows([key for key, _ in self.rows])

    def values(self) -> Any:
        return Rows([value for _, value in self.rows])

    def collect(self) -> Any:
        return self.rows

    def persist(self) -> Any:
        return self

    unpersist = persist

    def coalesce(self, slices: Any) -> Any:
        return self

    partitionBy = coalesce


class Context:
    """As much of a SparkContext."""

    defaultParallelism = 2

    def parallelize(self, rows: Any, slices: Any) -> Any:
        return Rows(rows)

    def broadcast(self, value: Any) -> Any:
        self.value = value
        return self


def dealt_out(question: SearchQuestion, bounds: Bounds | None = None) -> SearchOutcome:
    return search_on(Context(), lambda: None, question, bounds or Bounds())


@pytest.mark.parametrize(("profile", "never"), sample([("K39", ("I7",)), ("Z0102", ())], 2))
def test_whole_searches_give_the_same_card(profile: str, never: tuple[str, ...]) -> None:
    """States, widths, moves played, every way that was found: the digest is of all of it."""
    question = SearchQuestion(cut_after("S20", profile, 6), Budgets(crashes=2), never)
    one, other = search(question), dealt_out(question)
    assert one.complete
    assert other.complete
    assert card.card(other) == card.card(one)


def test_the_shortest_way_is_the_same() -> None:
    """Which a search in one process finds in the middle of a level, and this one after it."""
    question = SearchQuestion(cut_after("S20", "Z0102", 6), Budgets(crashes=2), ("I7",))
    one, other = search(question), dealt_out(question)
    assert other.ended
    assert not other.complete
    assert other.found["I7"].moves == one.found["I7"].moves
    assert other.found["I7"].left == one.found["I7"].left
    assert other.progress.distinct >= one.progress.distinct


def test_a_bound_and_a_question_that_cannot_be_asked() -> None:
    question = SearchQuestion(cut_after("S20", "K39", 6), Budgets(crashes=2), ("I7",))
    outcome = dealt_out(question, Bounds(states=20))
    assert not outcome.complete
    assert not outcome.ended
    broken = SearchQuestion(cut_at(Run(file.find("R20"), "Z0102")), Budgets(), ("I7",))
    with pytest.raises(InputError, match="I7 is broken before the search begins"):
        dealt_out(broken)


def test_a_goal_that_is_met_already_takes_no_move() -> None:
    question = SearchQuestion(cut_after("S20", "K39", 6), Budgets(), reach="B LEO 5")
    assert dealt_out(question).found.keys() == search(question).found.keys()


def test_each_task_tells_its_counts() -> None:
    question = SearchQuestion(cut_after("S20", "K39", 6), Budgets(crashes=1), ("I7",))
    asked = (question.run.text(), tuple(question.budgets), question.never, question.reach)
    rows: list[Row] = list(expanded([], asked, frozenset()))
    assert rows == [(COUNTS, ({}, 0, 0))]
