"""Exhaustive search of the levels: `python -m tests.level_search [LEVEL ...]` prints each result.

A state is the engine's own (`engine.explore.keys`) with what is left of the hand.  Moves cost one,
time is free, so the first solution that is found is a shortest one; without a solution every state
that the hand can reach has been visited.
"""

from __future__ import annotations

import sys
from collections import deque
from typing import NamedTuple

from engine.explore.keys import Keys
from engine.learn.levels import UNLIMITED, Level, judge, kind_of, levels, make, wait
from engine.model.errors import InputError
from engine.sim.simulation import Simulation


class LevelWays(NamedTuple):
    """Result of a search: states that were visited, and a shortest solution, or ()."""

    states: int
    solution: tuple[str, ...]


def search(level: Level) -> LevelWays:
    """Search all orders of a level's moves, those with fewer moves first."""
    start = level.start()
    start.hush()
    start.rush = True
    start.seal()
    keys, visited = Keys(), set[bytes]()
    waiting: deque[tuple[Simulation, tuple[str, ...]]] = deque([(start, ())])
    while waiting:
        sim, played = waiting.popleft()
        kinds = sorted(kind_of(line) for line in played)
        spent = [kind for kind in kinds if level.hand.get(kind, UNLIMITED) < UNLIMITED]
        key = keys.of(sim, *spent)
        if key in visited:
            continue
        visited.add(key)
        if judge(sim)[0] == "lost":
            return LevelWays(len(visited), played)
        twin = sim.branch()
        lines = tuple(wait(twin))
        twin.seal()
        later = [(twin, (*played, *lines))]
        for move in level.moves(sim, played):
            twin = sim.branch()
            try:
                make(twin, move.text)
            except InputError:
                continue
            twin.seal()
            waiting.append((twin, (*played, move.text)))
        waiting.extendleft(later)
    return LevelWays(len(visited), ())


if __name__ == "__main__":
    for slug in sys.argv[1:] or levels():
        print(slug, search(levels()[slug]), flush=True)
