"""Search on Spark, level by level; states are partitioned by key.

The memory of the driver does not grow with the search: states and keys stay in the executors, which
spill them to disk.  Counts and paths are the same as those of a search in one process.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from engine.explore.budgets import Budgets
from engine.explore.parts import SearchParts
from engine.explore.question import SearchQuestion
from engine.explore.searching import (
    AT_ONCE,
    REACHED,
    Bounds,
    SearchFinding,
    SearchOutcome,
    SearchProgress,
)
from engine.sim.run import Run

STATES_A_TASK: Final = 200
"""Of a level: so that a task is some seconds long, and a small level is one task."""
COUNTS: Final = b""
"""In place of a key: the counts of a task."""

Row = tuple[bytes, tuple[Any, ...]]
"""(key, (rank, moves, left, broken, state as bytes)), or (COUNTS, its counts): plain tuples, since
a worker unpickles them before it knows any class of ours."""


def search_on(
    context: Any, ready: Callable[[], object], question: SearchQuestion, bounds: Bounds
) -> SearchOutcome:
    """Return a search in a SparkContext; `ready` makes the engine known to a worker.

    Bounds are checked after each level.  Raises InputError as the search in one process does.
    """
    parts = SearchParts(question)
    outcome = SearchOutcome(question, SearchProgress())
    first = parts.first()
    if parts.is_wanted(first.broken):
        outcome.found[REACHED] = SearchFinding((), question.run, first.left, AT_ONCE)
        outcome.ended = True
        return outcome
    terms = (question.run.text(), tuple(question.budgets), question.never, question.reach)
    shared = context.broadcast((terms, parts.before))
    slices = context.defaultParallelism

    def go_on(rows: Iterable[Row]) -> Iterator[Row]:
        ready()
        return expanded(rows, *shared.value)

    frontier = context.parallelize([_row(first)], 1)
    seen = frontier.keys().map(_with_nothing).partitionBy(slices).persist()
    width = 1
    while width:
        outcome.widths.append(width)
        outcome.progress.depth = len(outcome.widths)
        tasks = max(1, min(width // STATES_A_TASK, 50 * slices))
        after = frontier.coalesce(tasks).mapPartitions(go_on).persist()
        _count(outcome, after.filter(_is_count).values().collect())
        met = after.filter(_is_state).reduceByKey(_first_met, slices)
        following = met.subtractByKey(seen, slices).persist()
        told_of = following.mapPartitions(_level_parts).collect()
        width = sum(states for states, _ in told_of)
        outcome.progress.distinct += width
        broken = sorted(row for _, rows in told_of for row in rows)
        if _look(outcome, broken, parts.is_wanted):
            outcome.ended = True
            return outcome
        seen = seen.union(following.mapValues(_nothing)).persist()
        frontier.unpersist()
        after.unpersist()
        frontier = following
        over = bounds.stop is not None and bounds.stop(outcome.progress)
        if width and (over or outcome.progress.distinct > bounds.states):
            return outcome
    outcome.complete = True
    return outcome


def expanded(rows: Iterable[Row], terms: tuple[Any, ...], before: frozenset[str]) -> Iterator[Row]:
    """Yield, in a worker, every successor of these states, and the counts.

    The engine is imported here, so that it is the one that the driver sent.
    """
    from engine.explore.budgets import Budgets
    from engine.explore.parts import Counts, SearchParts, SearchState
    from engine.explore.question import SearchQuestion

    run, budgets, never, reach = terms
    parts = SearchParts(SearchQuestion(Run.from_text(run), Budgets(*budgets), never, reach), before)
    counts = Counts()
    for key, (rank, moves, left, broken, packed) in rows:
        state = SearchState(key, rank, moves, Budgets(*left), broken, pickle.loads(packed))
        for following in parts.after(state, counts):
            yield _row(following)
    yield COUNTS, (dict(counts.played), counts.refused, counts.with_acked)


def _row(state: Any) -> Row:
    packed = pickle.dumps(state.sim, pickle.HIGHEST_PROTOCOL)
    return state.key, (state.rank, state.moves, tuple(state.left), state.broken, packed)


def _is_count(row: Row) -> bool:
    return row[0] == COUNTS


def _is_state(row: Row) -> bool:
    return row[0] != COUNTS


def _first_met(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return one if one[0] <= other[0] else other


def _nothing(value: object) -> None:
    return None


def _with_nothing(key: bytes) -> tuple[bytes, None]:
    return key, None


def _level_parts(rows: Iterable[Row]) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
    """Yield the number of states and the violations of a part of a level, without its states."""
    states, broken = 0, []
    for _, value in rows:
        states += 1
        if value[3]:
            broken.append(value[:4])
    yield states, broken


def _count(outcome: SearchOutcome, counts: Iterable[tuple[dict[str, int], int, int]]) -> None:
    for played, refused, with_acked in counts:
        outcome.played.update(Counter(played))
        outcome.progress.generated += sum(played.values())
        outcome.refused += refused
        outcome.with_acked += with_acked


def _look(
    outcome: SearchOutcome, rows: Iterable[tuple[Any, ...]], is_wanted: Callable[[Any], bool]
) -> bool:
    """Record the violations of a level; return True if one of them is the goal.

    The order is that of a search in one process.
    """
    for _, moves, left, broken in rows:
        for name, why in broken:
            if name not in outcome.found:
                whole = outcome.question.followed_by(moves)
                outcome.found[name] = SearchFinding(moves, whole, Budgets(*left), why)
        if is_wanted(broken):
            return True
    return False
