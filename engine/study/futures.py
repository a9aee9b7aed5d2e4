"""The point of no return: from which step on does a failing run lose in most of its futures?

A present is a place in the run.  A future of it is the run up to there, chance drawn anew, and the
rest of the run.  The share of futures that break the invariant, step by step, says where it came to
pass.  Faults strike at their true rates in a future, whatever importance factor the past had.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.model.errors import BadInput
from engine.show.replay import Replay
from engine.sim.run import Run, play

PRESENTS: Final = (40, 400)
"""Places at least and at most; a shorter run has one at every step."""
EVENTS: Final = 20_000_000
"""... and between these as many as keep all futures together below this: a minute on two cores."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Present:
    """A place in a run: the moves up to `step`, and those that are left from there."""

    step: int
    past: tuple[str, ...]
    rest: tuple[str, ...]

    def future(self, run: Run, number: int) -> Run:
        """Future `number` of this present, a run like any other."""
        moves = (*self.past, f"future {number}", *self.rest)
        return Run(run.scenario, run.profile, run.seed, moves)

    def to_dict(self) -> Json:
        return {"step": self.step, "past": list(self.past), "rest": list(self.rest)}

    @staticmethod
    def from_dict(data: Json) -> Present:
        return Present(data["step"], tuple(data["past"]), tuple(data["rest"]))


def presents(run: Run, invariant: str, each: int) -> list[Present]:
    """Places spread evenly from the beginning to one step before the violation, `each` of which
    will have so many futures.

    Raises BadInput when the run does not break the invariant, or breaks it at once.
    """
    replay = Replay(run)
    broken = [step for name, step, _ in replay.end.broken if name == invariant]
    if not broken and not replay.whole:
        raise BadInput(
            "too_large",
            f"Within its first {replay.total} steps, which can be looked at, this run does not "
            f"break {invariant}.",
        )
    if not broken:
        raise BadInput("impossible", f"This run does not break {invariant}.")
    last = broken[0] - 1
    if last < 1:
        raise BadInput("impossible", f"This run breaks {invariant} with its first event.")
    until = _clock_until(run, last)
    # A future plays the whole run, its past included.
    least, most = PRESENTS
    count = min(last, most, max(least, EVENTS // (each * replay.total)))
    steps = sorted({1 + (last - 1) * index // max(1, count - 1) for index in range(count)})
    return [_present(replay, step, until[step]) for step in steps]


def _clock_until(run: Run, last: int) -> dict[int, tuple[int, int]]:
    """Step -> (number of its move, until when that move lets the clock run or -1)."""
    sim = run.simulation()
    found: dict[int, tuple[int, int]] = {}
    for number in play(sim, run.lines()):
        found[sim.events] = number, sim.clock_until
        if sim.events >= last:
            break
    # Events that come without a pause between them belong to the pause after them.
    for step in range(max(found) - 1, 0, -1):
        found.setdefault(step, found[step + 1])
    return found


def _present(replay: Replay, step: int, place: tuple[int, int]) -> Present:
    number, until = place
    later = replay.lines[number + 1 :]
    rest = later if until < 0 else (f"at {until}ms", *later)
    return Present(step, replay.cut(step), rest)
