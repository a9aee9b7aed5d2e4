"""Partitioned search: the successors of one state, computed in any process.

A level of a search is a number of states, each expanded by itself; only which of their successors
are new has to be known of all.  A distributor deals the states out to machines, and puts the rows
that come back together by key: the least rank of a key is the one that a search in one process
would have met first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.explore.budgets import Budgets
from engine.explore.choices import Choices, advance
from engine.explore.goals import goal
from engine.explore.keys import Key, Keys
from engine.explore.question import SearchQuestion
from engine.explore.searching import REACHED
from engine.model.errors import InputError
from engine.sim.simulation import Simulation

Rank = tuple[int, ...]
"""The places of the choices that led to a state: in order of these a search meets its states."""
Broken = tuple[tuple[str, str], ...]
"""(invariant or REACHED, why) of what a state has and the beginning had not."""


class SearchState(NamedTuple):
    """One state of a level.  `key` differs from all others that were ever met."""

    key: Key
    rank: Rank
    moves: tuple[str, ...]
    left: Budgets
    broken: Broken
    sim: Simulation


@dataclass
class Counts:
    """Statistics of states that were expanded."""

    played: Counter[str] = field(default_factory=Counter)
    """Verb -> how often it was played."""
    refused: int = 0
    with_acked: int = 0


class SearchParts:
    """Goes on from single states of a question's search."""

    def __init__(self, question: SearchQuestion, before: frozenset[str] = frozenset()) -> None:
        """Set up a search; `before`: the invariants that are broken where it begins."""
        self.question = question
        self.before = before
        scenario = question.run.scenario
        self._choices = Choices(scenario)
        self._keys = Keys()
        self._goal = goal(question.reach, scenario.brokers) if question.reach else None

    def first(self) -> SearchState:
        """Return the beginning.  Raises InputError for a question that cannot be asked."""
        sim, self.before = self.question.begun()
        return self._state(sim, self.question.budgets, (), ())

    def after(self, state: SearchState, counts: Counts) -> Iterator[SearchState]:
        """Return every state that a choice leads to, one for each move that was played."""
        counts.with_acked += any(state.sim.ledger.acked)
        for place, (move, pays) in enumerate(self._choices.of(state.sim, state.left)):
            twin = state.sim.copy()
            try:
                advance(twin, move)
            except InputError:
                counts.refused += 1
                continue
            counts.played[move.verb.name] += 1
            yield self._state(
                twin, state.left.less(pays), (*state.rank, place), (*state.moves, move.text)
            )

    def is_wanted(self, broken: Broken) -> bool:
        """Check whether the search ends with such a state."""
        return any(name == REACHED or name in self.question.never for name, _ in broken)

    def _state(
        self, sim: Simulation, left: Budgets, rank: Rank, moves: tuple[str, ...]
    ) -> SearchState:
        broken = [(name, why) for name, _, why in sim.broken if name not in self.before]
        if self._goal is not None and self._goal(sim):
            broken.append((REACHED, ""))
        return SearchState(self._keys.of(sim, *left), rank, moves, left, tuple(broken), sim)
