"""Breadth-first search of all a model can do: counts, and a shortest way to each violation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

UNBOUNDED: Final = 1 << 62
LOOK_EVERY: Final = 1 << 11
"""States between two questions whether to go on."""


class LadderMove(NamedTuple):
    """One move: its name, and the replicas (and epoch, or version) it is about."""

    name: str
    who: tuple[int, ...]


class Model(Protocol):
    """A model that can be searched.  A state is a number; equal numbers are equal states."""

    @property
    def invariants(self) -> tuple[str, ...]: ...
    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of all moves."""

    @property
    def initial(self) -> int: ...
    @property
    def bounded(self) -> bool:
        """Check whether there is a state constraint, so that `inside` must be called."""

    def look(self, state: int) -> tuple[int, list[int]]:
        """Return the broken invariants as bits, and the states after all moves, with doubles."""

    def labelled(self, state: int) -> Iterator[tuple[LadderMove, int]]:
        """Yield the next states, each with its move."""

    def representative(self, state: int) -> int:
        """Return one state for all that differ only by a renaming of replicas."""

    def inside(self, state: int) -> bool:
        """Check whether a state meets the state constraint."""

    def moves_fired(self) -> dict[str, int]:
        """Return the number of times `look` generated each move."""


@dataclass
class LadderProgress:
    """Progress of a search."""

    generated: int = 1
    distinct: int = 1
    depth: int = 0
    """Levels begun; the beginning is the first."""
    frontier: int = 0
    """States of this level."""


def never(progress: LadderProgress) -> bool:
    return False


@dataclass(frozen=True)
class LadderBounds:
    """Limits at which a search stops before everything was seen."""

    states: int = UNBOUNDED
    """Most distinct states."""
    stop: Callable[[LadderProgress], bool] = never
    """Asked now and then; also where progress can be shown."""
    until: Collection[str] = ()
    """Invariants: the search ends after the level in which one of them was found broken."""


@dataclass(frozen=True)
class Violation:
    """A shortest way to a state that breaks an invariant: the states, with the moves between."""

    moves: tuple[LadderMove, ...]
    states: tuple[int, ...]


@dataclass
class LadderOutcome:
    """Findings of a search; `complete` says whether everything was seen."""

    progress: LadderProgress
    complete: bool
    widths: list[int]
    """Distinct states of each level."""
    broken: dict[str, Violation] = field(default_factory=dict)
    moves_fired: dict[str, int] = field(default_factory=dict)
    invariants: tuple[str, ...] = ()


class LadderSearch:
    """One search; `run` is called once."""

    def __init__(
        self, model: Model, bounds: LadderBounds | None = None, symmetry: bool = False
    ) -> None:
        self.model = model
        self.bounds = bounds or LadderBounds()
        self.symmetry = symmetry
        self.progress = LadderProgress()
        self.widths: list[int] = []
        first = self._same(model.initial)
        self._first = first
        self._before: dict[int, int] = {first: first}
        """Each state that was met, with the one from which it was met first."""
        self._found: dict[int, tuple[int, int]] = {}
        """Bit of an invariant -> (state that breaks it, the state before)."""
        self._bits = 0
        self._unlooked = LOOK_EVERY

    def run(self) -> LadderOutcome:
        """Search level by level, until nothing new comes or a bound is met."""
        frontier = [self._first]
        open_bits = self._wanted()
        complete = True
        while frontier:
            self.progress.depth += 1
            self.progress.frontier = len(frontier)
            self.widths.append(len(frontier))
            following: list[int] = []
            if not self._level(frontier, following) or (self._bits & open_bits and following):
                complete = False
                break
            frontier = following
        return LadderOutcome(
            progress=self.progress,
            complete=complete,
            widths=self.widths,
            broken=self._violations(),
            moves_fired=self.model.moves_fired(),
            invariants=self.model.invariants,
        )

    def _wanted(self) -> int:
        names = self.model.invariants
        return sum(1 << names.index(name) for name in self.bounds.until)

    def _same(self, state: int) -> int:
        return self.model.representative(state) if self.symmetry else state

    def _level(self, frontier: list[int], following: list[int]) -> bool:
        """Go on from every state of a level; False if a bound ended it before."""
        before, look, most = self._before, self.model.look, self.bounds.states
        bounded, symmetry = self.model.bounded, self.symmetry
        generated, unlooked = 0, self._unlooked
        gone_on = True
        for state in frontier:
            broken, nexts = look(state)
            if broken & ~self._bits:
                self._note(broken, state, before[state])
            generated += len(nexts)
            if bounded:
                nexts = self._inside(state, nexts)
            if symmetry:
                nexts = list(map(self.model.representative, nexts))
            for following_state in nexts:
                if following_state not in before:
                    before[following_state] = state
                    following.append(following_state)
            unlooked -= 1
            if len(before) > most or (not unlooked and self._is_over(generated)):
                gone_on = False
                break
            unlooked = unlooked or LOOK_EVERY
        self._unlooked = unlooked
        self._count(generated)
        return gone_on

    def _count(self, generated: int) -> None:
        self.progress.generated += generated
        self.progress.distinct = len(self._before)

    def _is_over(self, generated: int) -> bool:
        now = LadderProgress(
            self.progress.generated + generated,
            len(self._before),
            self.progress.depth,
            self.progress.frontier,
        )
        return self.bounds.stop(now)

    def _inside(self, state: int, nexts: list[int]) -> list[int]:
        """Return the states within the constraint; the others are only checked."""
        states = []
        for following in nexts:
            if self.model.inside(following):
                states.append(following)
            else:
                broken, _ = self.model.look(following)
                self._note(broken, following, state)
        return states

    def _note(self, broken: int, state: int, before: int) -> None:
        for place in range(len(self.model.invariants)):
            bit = 1 << place
            if broken & bit and not self._bits & bit:
                self._found[bit] = (state, before)
                self._bits |= bit

    # -- counterexamples --------------------------------------------------------------------------

    def _violations(self) -> dict[str, Violation]:
        names = self.model.invariants
        return {
            names[bit.bit_length() - 1]: self._way(state, before)
            for bit, (state, before) in sorted(self._found.items())
        }

    def _way(self, state: int, before: int) -> Violation:
        """Return the way to a state, played again from the beginning with every move named."""
        back = [state]
        while back[-1] != self._first:
            back.append(before)
            before = self._before[before]
        return self._unfolded(back[::-1])

    def _unfolded(self, path: Sequence[int]) -> Violation:
        """Return a real run along the representatives of a path, as symmetry has it."""
        state = self.model.initial
        moves, states = [], [state]
        for target in path[1:]:
            move, state = next(
                (move, following)
                for move, following in self.model.labelled(state)
                if self._same(following) == target
            )
            moves.append(move)
            states.append(state)
        return Violation(tuple(moves), tuple(states))
