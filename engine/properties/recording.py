"""A run as the sequence of its moments: what questions and properties are computed from."""

from __future__ import annotations

from typing import Any, Final

from engine.model.declared import declared
from engine.model.effects import Cue
from engine.properties.moment import Moment, ObserverNotes
from engine.sim.run import Run, play
from engine.sim.simulation import Simulation

MOST_STEPS: Final = 4_000
"""Steps of a run that are looked at; a longer run is looked at up to there."""

Event = tuple[int, int, Any, tuple[Cue, ...]]
"""(kind, node, what, cues)"""


@declared
class Turn:
    """Events between two pauses: events `first` to `last`, and the moment after them.

    No one can look at the cluster between events of one turn, so a turn is what is asked about.
    """

    first: int
    last: int
    move: int
    events: tuple[Event, ...]
    now: Moment


class MomentRecording:
    """The moments of one run.  `turns[0]` is its beginning and has no event.

    `whole` says whether the run was looked at to its end.
    """

    __slots__ = ("known", "profile", "run", "turns", "whole")

    def __init__(self, run: Run, most: int = MOST_STEPS) -> None:
        self.run = run
        self.known = ObserverNotes()
        self.whole = True
        sim = run.simulation(cues=True)
        self.profile = sim.profile
        self.known.note(sim, 0)
        self.turns = [Turn(0, 0, -1, (), Moment(sim, 0, self.known))]
        events: list[Event] = []

        def listen(kind: int, node: int, what: Any) -> None:
            events.append((kind, node, what, tuple(sim.out.cues or ())))

        sim.listener = listen
        moves, move = play(sim, run.lines()), 0
        while self.whole:
            number = next(moves, None)  # of the move that just had an event; None at the end
            move = move if number is None else number
            if events:
                self._add(sim, move, tuple(events))
                events.clear()
            if number is None:
                break
            self.whole = self.turns[-1].last < most

    def _add(self, sim: Simulation, move: int, events: tuple[Event, ...]) -> None:
        first = self.turns[-1].last + 1
        last = first + len(events) - 1
        self.known.note(sim, last)
        for *_, cues in events:
            self.known.strike(cues)
        touched = {node for _, node, _, _ in events}
        now = Moment(sim, last, self.known, self.turns[-1].now, touched)
        self.turns.append(Turn(first, last, move, events, now))

    @property
    def end(self) -> Moment:
        return self.turns[-1].now

    def at(self, step: int) -> int:
        """Return the index of the turn that ends at `step`, or that contains it."""
        low, high = 0, len(self.turns) - 1
        while low < high:
            middle = (low + high) // 2
            if self.turns[middle].last >= step:
                high = middle
            else:
                low = middle + 1
        return low
