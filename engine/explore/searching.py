"""Breadth-first search over the engine's own handlers: each state is a simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from engine.explore.budgets import Budgets
from engine.explore.choices import Choices, advance
from engine.explore.goals import goal
from engine.explore.keys import Key, Keys
from engine.explore.question import SearchQuestion
from engine.model.errors import InputError
from engine.moves.moves import Move
from engine.sim.run import Run
from engine.sim.simulation import Simulation


class Restarts:
    """Restarts whose result is known without playing them, as numbers of states.

    Under KRaft `bounce B` is `kill B` and then `restart B`.  A search that has played `bounce B`
    knows where `restart B` leads from the state after `kill B`, if the crash is the only event of
    `kill B`.  Another state with an equal key may differ in its clock.
    """

    def __init__(self) -> None:
        self._results: dict[tuple[int, int], int] = {}
        """(number of a state, broker that is down in it) -> state after its restart."""
        self._down: dict[tuple[int, bool], int] = {}
        """(broker, whether its power failed) -> state after that crash."""

    def begin(self) -> None:
        """Forget the crashes from the last state."""
        self._down.clear()

    def result(self, state: int, move: Move) -> int | None:
        """Return the state that a move leads to, if it is a restart with a known result."""
        if move.verb.name != "restart":
            return None
        return self._results.pop((state, move.args["broker"]), None)

    def note_crash(self, move: Move, number: int) -> None:
        """Note the new state after a move of one event, if the move is a crash."""
        if move.verb.name in ("kill", "power"):
            self._down[move.args["broker"], move.verb.name == "power"] = number

    def note(self, move: Move, number: int) -> None:
        """Note the state after a move, if it is a bounce whose crash was noted."""
        if move.verb.name == "bounce":
            broker = move.args["broker"]
            down = self._down.get((broker, move.args["power"]))
            if down is not None:
                self._results[down, broker] = number


REACHED: Final = "reached"
"""Beside the invariants: the state that a question wants to reach."""
AT_ONCE: Final = "It is so where the search begins."


@dataclass(frozen=True)
class Bounds:
    """Limits at which a search stops before everything was seen."""

    states: int = 100_000
    """Most different states."""
    stop: Callable[[SearchProgress], bool] | None = None
    """Asked after every state; also where progress can be shown."""


@dataclass
class SearchProgress:
    """Progress of a search."""

    generated: int = 1
    distinct: int = 1
    depth: int = 1
    """Levels begun; the beginning is the first."""


@dataclass(frozen=True)
class SearchFinding:
    """A shortest way to a violation, or to what was to be reached."""

    moves: tuple[str, ...]
    run: Run
    """The whole run: the moves before the search, and these."""
    left: Budgets
    """Budgets that it did not need."""
    why: str
    """The checker's sentence about it."""


@dataclass
class SearchOutcome:
    """Findings of a search; `complete`: everything within the budgets was seen."""

    question: SearchQuestion
    progress: SearchProgress
    complete: bool = False
    ended: bool = False
    """It found what it was to look for, and looked no further."""
    widths: list[int] = field(default_factory=list)
    found: dict[str, SearchFinding] = field(default_factory=dict)
    """Invariant, or REACHED -> a shortest way there."""
    played: Counter[str] = field(default_factory=Counter)
    """Verb -> how often it was played."""
    with_acked: int = 0
    """States in which some acknowledged record could be lost."""
    refused: int = 0
    """Moves that turned out to be impossible."""


@dataclass
class Graph:
    """Edges between states, which a search keeps to compute distances.

    States are numbers in the order in which they were found; 0 is the beginning.
    """

    first: dict[str, int] = field(default_factory=dict)
    """Each move that can be done at the beginning -> the state it leads to."""
    arrows: list[tuple[int, int]] = field(default_factory=list)
    """(from, to) for every move that was played, the first ones included."""
    bad: list[int] = field(default_factory=list)
    """States in which what is looked for is so; a search with a graph does not go on from them."""
    levels: int = 0
    """Levels whose states were all expanded: no shorter way is missing."""


Note = Callable[[Simulation, int, int], None]
"""Receives a state, its number, and how many moves it is from the beginning."""


@dataclass(frozen=True, slots=True)
class _State:
    sim: Simulation
    left: Budgets
    number: int


class StateSearch:
    """One search: `run` is called once, or `begin` and then `expand` until it returns False."""

    def __init__(
        self,
        question: SearchQuestion,
        bounds: Bounds | None = None,
        graph: Graph | None = None,
        note: Note | None = None,
    ) -> None:
        """Set up a search; `note` is called with every new state, the beginning included."""
        self.question = question
        self.bounds = bounds or Bounds()
        self._graph = graph
        self._noted = note
        scenario = question.run.scenario
        self._choices = Choices(scenario)
        self._keys = Keys()
        self._restarts = Restarts()
        self._goal = goal(question.reach, scenario.brokers) if question.reach else None
        self._seen: dict[Key, int] = {}
        self._parents: list[tuple[int, str]] = []
        """Number of the state before each state, and the move."""
        self.outcome = SearchOutcome(question, SearchProgress())
        self._frontier: list[_State] = []
        """States of this level that were not expanded yet, the next one last."""
        self._following: list[_State] = []
        self._before: frozenset[str] = frozenset()
        """Invariants that are broken at the beginning of the search."""

    def run(self) -> SearchOutcome:
        """Search level by level, until nothing new comes, the goal is found, or a bound is met."""
        self.begin()
        while self.expand():
            pass
        return self.outcome

    def begin(self) -> None:
        """Play the run to where the search begins; `expand` goes on from there."""
        outcome = self.outcome
        sim, self._before = self.question.begun()
        sim.seal()
        first = _State(sim, self.question.budgets, 0)
        self._parents.append((-1, ""))
        self._seen[self._keys.of(sim, *first.left)] = 0
        if self._noted is not None:
            self._noted(sim, 0, 0)
        if self._goal is not None and self._goal(sim):
            self._note(REACHED, AT_ONCE, first)
            outcome.ended = True
        else:
            self._frontier = [first]
            outcome.widths.append(1)

    def expand(self) -> bool:
        """Expand the next state; return False where the search is over."""
        outcome = self.outcome
        if outcome.ended or not self._frontier:
            return False
        if not self._go_on(self._frontier.pop(), self._following):
            outcome.ended = True
            return False
        bounds, progress = self.bounds, outcome.progress
        if progress.distinct > bounds.states:
            return False
        if bounds.stop is not None and bounds.stop(progress):
            return False
        return bool(self._frontier) or self._next_level()

    def _next_level(self) -> bool:
        """Go on to the states that the last level led to; False where there are none."""
        outcome = self.outcome
        if self._graph is not None:
            self._graph.levels += 1
        if not self._following:
            outcome.complete = True
            return False
        self._frontier, self._following = self._following, []
        self._frontier.reverse()
        outcome.widths.append(len(self._frontier))
        outcome.progress.depth = len(outcome.widths)
        return True

    def _go_on(self, state: _State, following: list[_State]) -> bool:
        """Play every choice of a state; False if one of them leads to what is looked for."""
        outcome, restarts = self.outcome, self._restarts
        sim = state.sim
        outcome.with_acked += any(sim.ledger.acked)
        choices = self._choices.of(sim, state.left)
        restarts.begin()
        for place, (move, pays) in enumerate(choices):
            successor = restarts.result(state.number, move)
            if successor is not None:
                self._count(state, move, successor)
                continue
            twin = sim if place == len(choices) - 1 else sim.branch()
            events = twin.events
            try:
                advance(twin, move)
            except InputError:
                outcome.refused += 1
                continue
            left = state.left.less(pays)
            key = self._keys.of(twin, *left)
            successor = self._seen.get(key)
            number = len(self._parents) if successor is None else successor
            self._count(state, move, number)
            restarts.note(move, number)
            if successor is not None:
                continue
            if twin.events == events + 1 and twin.profile.kraft:
                restarts.note_crash(move, number)
            self._seen[key] = number
            outcome.progress.distinct += 1
            after = _State(twin, left, number)
            self._parents.append((state.number, move.text))
            if self._noted is not None:
                self._noted(twin, number, outcome.progress.depth)
            if not self._looks(after):
                following.append(after)
            elif self._graph is None:
                return False
            else:
                self._graph.bad.append(number)
        return True

    def _count(self, state: _State, move: Move, number: int) -> None:
        """Count a move, and keep it as an edge of the graph."""
        progress, graph = self.outcome.progress, self._graph
        progress.generated += 1
        self.outcome.played[move.verb.name] += 1
        if graph is not None:
            graph.arrows.append((state.number, number))
            if not state.number:
                graph.first[move.text] = number

    def _looks(self, state: _State) -> bool:
        """Note what is broken in a new state; True if it is what was looked for."""
        watched = False
        for name, _, why in state.sim.broken:
            if name in self._before:
                continue
            watched = watched or name in self.question.never
            if name not in self.outcome.found:
                self._note(name, why, state)
        if self._goal is not None and self._goal(state.sim):
            watched = True
            if REACHED not in self.outcome.found:
                self._note(REACHED, "", state)
        return watched

    def _note(self, name: str, why: str, state: _State) -> None:
        moves = self.way(state.number)
        whole = self.question.followed_by(moves)
        self.outcome.found[name] = SearchFinding(moves, whole, state.left, why)

    def way(self, number: int) -> tuple[str, ...]:
        """Return the moves that first led to a state."""
        moves: list[str] = []
        while number:
            number, text = self._parents[number]
            moves.append(text)
        return tuple(reversed(moves))


def search(question: SearchQuestion, bounds: Bounds | None = None) -> SearchOutcome:
    """Answer a question.  Raises InputError for one that cannot be asked."""
    return StateSearch(question, bounds).run()
