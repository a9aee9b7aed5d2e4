"""Point of no return: the step from which a failing run loses in most of its futures.

A present is a place in the run.  A future of it is the run up to there, with new random draws for
the rest of the run.  The share of futures that break the invariant, step by step, says where it
came to pass.  Faults strike at their true rates in a future, whatever importance factor the past
had.

Few places are looked at first; then only those between the last that holds and the first that does
not, again and again, until no step lies between the two.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from engine.model.errors import InputError
from engine.model.json_types import Json
from engine.replay.replay import Replay
from engine.sim.run import Run, play

PLACES: Final = 8
"""Places of one look; where fewer steps are left, each of them is a place."""
LOOKS: Final = 4
"""At most: every step between the two is looked at, where there are no more than 5000."""
HALF: Final = 0.5
"""A place holds where no more of its futures than these break the invariant."""


@dataclass(frozen=True)
class Present:
    """A place in a run: the moves up to `step`, and those that are left from there."""

    step: int
    past: tuple[str, ...]
    rest: tuple[str, ...]

    def future(self, run: Run, number: int) -> Run:
        """Return future `number` of this present, a run like any other."""
        moves = (*self.past, f"future {number}", *self.rest)
        return Run(run.scenario, run.profile, run.seed, moves)

    def to_dict(self) -> Json:
        return {"step": self.step, "past": list(self.past), "rest": list(self.rest)}

    @staticmethod
    def from_dict(data: Json) -> Present:
        return Present(data["step"], tuple(data["past"]), tuple(data["rest"]))


def presents(run: Run, invariant: str) -> list[Present]:
    """Return the places of the first look.

    They are spread evenly from the first step to the last one before the violation.

    Raises InputError when the run does not break the invariant, or breaks it at once.
    """
    replay = Replay(run)
    last = _last(replay, invariant)
    count = min(last, PLACES)
    return _at(replay, {1 + (last - 1) * index // max(1, count - 1) for index in range(count)})


def closer(run: Run, shares: Iterable[tuple[int, float]]) -> list[Present]:
    """Return the places of the next look, between those that `turn` finds, if any are left."""
    held, point = turn(shares)
    if held is None or point is None:
        return []
    steps = between(held, point)
    return _at(Replay(run), steps) if steps else []


def between(held: int, point: int) -> set[int]:
    """Return steps spread evenly between two, as many as one look has."""
    count = min(point - held - 1, PLACES)
    return {held + (point - held) * index // (count + 1) for index in range(1, count + 1)}


def turn(shares: Iterable[tuple[int, float]]) -> tuple[int | None, int | None]:
    """Return the last step that holds, and the next one that was looked at.

    `shares` are (step, share of its futures that break the invariant).  None stands for no such
    step.
    """
    point = None
    for step, share in sorted(shares, reverse=True):
        if share <= HALF:
            return step, point
        point = step
    return None, point


@cache
def longest() -> list[int]:
    """Return the most steps before the violation for which 1, 2, ... places are enough.

    Longer runs have all that LOOKS allow, PLACES in each.
    """
    needed = [places_most(last) for last in range(1, 10_000)]
    return [bisect_right(needed, places) for places in range(1, PLACES * LOOKS)]


def places_most(last: int) -> int:
    """Return the most places of a run with `last` steps before the violation."""
    places = min(last, PLACES)
    gap = -(-(last - 1) // max(1, places - 1))
    for _ in range(LOOKS - 1):
        look = min(max(0, gap - 1), PLACES)
        places, gap = places + look, -(-gap // (look + 1))
    return places


def _last(replay: Replay, invariant: str) -> int:
    """Return the last step before the violation.  Raises InputError."""
    broken = [step for name, step, _ in replay.end.broken if name == invariant]
    if not broken and not replay.whole:
        raise InputError(
            "too_large",
            "Within its first {0} steps, which can be looked at, this run does not break {1}.",
            replay.total,
            invariant,
        )
    if not broken:
        raise InputError("impossible", "This run does not break {0}.", invariant)
    last = broken[0] - 1
    if last < 1:
        raise InputError("impossible", "This run breaks {0} with its first event.", invariant)
    return last


def _at(replay: Replay, steps: Iterable[int]) -> list[Present]:
    places = sorted(steps)
    until = _clock_until(replay.run, places[-1])
    return [_present(replay, step, until[step]) for step in places]


def _clock_until(run: Run, last: int) -> dict[int, tuple[int, int]]:
    """Return step -> (number of its move, until when that move lets the clock run or -1)."""
    sim = run.simulation()
    clocks: dict[int, tuple[int, int]] = {}
    for number in play(sim, run.lines()):
        clocks[sim.events] = number, sim.clock_until
        if sim.events >= last:
            break
    # Events that come without a pause between them belong to the pause after them.
    for step in range(max(clocks) - 1, 0, -1):
        clocks.setdefault(step, clocks[step + 1])
    return clocks


def _present(replay: Replay, step: int, place: tuple[int, int]) -> Present:
    number, until = place
    later = replay.lines[number + 1 :]
    rest = later if until < 0 else (f"at {until}ms", *later)
    return Present(step, replay.cut(step), rest)
