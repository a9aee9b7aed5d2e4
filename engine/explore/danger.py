"""Distance of each possible move from the state that must not happen.

One search that goes on where an ordinary one ends, and then the way back from every bad state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

from engine.explore.searching import Graph, SearchOutcome

SAFE: Final = "safe"
"""Nothing bad can follow within the budgets: everything was seen."""
FAR: Final = "far"
"""Nothing bad follows within the moves that were searched."""
NEAR: Final = "near"
"""Something bad can follow."""


class Distance(NamedTuple):
    """Distance of a move that can be done where the search begins."""

    move: str
    kind: str
    moves: int
    """NEAR: moves to the nearest bad state, this one counted.  FAR: moves without a bad state.
    SAFE: 0."""


def distances(graph: Graph, outcome: SearchOutcome) -> tuple[Distance, ...]:
    """Return the distance of each next move, in the order of the search, from its graph.

    A distance is exact: a shorter way would have been seen at an earlier level.
    """
    back = _back(graph.arrows, graph.bad)
    return tuple(
        _distance(move, back.get(number), graph.levels, outcome.complete)
        for move, number in graph.first.items()
    )


def _distance(move: str, moves: int | None, levels: int, complete: bool) -> Distance:
    if moves is not None:
        return Distance(move, NEAR, moves + 1)
    return Distance(move, SAFE, 0) if complete else Distance(move, FAR, levels)


def _back(arrows: Iterable[tuple[int, int]], bad: Iterable[int]) -> dict[int, int]:
    """Return state -> moves to the nearest bad one, without states that reach none."""
    before: dict[int, list[int]] = {}
    for source, target in arrows:
        before.setdefault(target, []).append(source)
    steps_back = dict.fromkeys(bad, 0)
    waiting = deque(steps_back)
    while waiting:
        number = waiting.popleft()
        for source in before.get(number, ()):
            if source not in steps_back:
                steps_back[source] = steps_back[number] + 1
                waiting.append(source)
    return steps_back
