"""A place inside a run from which it is played on, event by event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from engine.model.effects import Cue
from engine.model.messages import Message
from engine.moves import moves
from engine.replay.checkpoints import Checkpoint, Growths
from engine.sim.run import Run, play, run_to_end
from engine.sim.simulation import Simulation

Happened = tuple[int, int, Any, list[Cue], list[Message]]
"""(kind, node, what, cues, messages that went out) of one event."""
CLOCK_STANDS: Final = object()


def played(
    run: Run, lines: tuple[str, ...], events: int, start: Checkpoint | None = None
) -> Simulation:
    """Return the simulation after these moves, which end with event number `events`; to look at.

    From a checkpoint on the way it is the same, and sooner: listening changes nothing.
    """
    if start is None:
        sim, first = run.simulation(), 0
    else:
        sim, first = start.world(), start.move + 1
        sim.hush()
        here = first == len(lines) and moves.limit_of(lines[-1]) >= 0
        rest = start.rest(sim)
        while not (here and sim.events >= events) and next(rest, CLOCK_STANDS) is None:
            pass
        rest.close()
    run_to_end(sim, lines, first)
    return sim


class Cursor:
    """Plays a run, one pause between events after the other, and reports what happened."""

    def __init__(
        self,
        run: Run,
        ended: Callable[[int], None] | None = None,
        start: Checkpoint | None = None,
    ) -> None:
        self._lines = run.lines()
        self._events: list[Happened] = []
        self._ended = ended
        self.move = -1
        if start is None:
            self.sim = run.simulation(cues=True)
            self._moves = play(self.sim, self._lines, ended=ended)
        else:
            self.sim = start.world()
            self.move = start.move
            self._moves = self._take_up(start)
        self.sim.listener = self._listen

    def _take_up(self, start: Checkpoint) -> Iterator[int]:
        """Return the rest of the move that was under way, then the moves after it."""
        for _ in start.rest(self.sim):
            yield start.move
        yield from play(self.sim, self._lines, start.move + 1, self._ended)

    def _listen(self, kind: int, node: int, what: Any) -> None:
        out = self.sim.out
        self._events.append((kind, node, what, list(out.cues or ()), list(out.sends)))

    def skip(self, upto: int) -> None:
        """Play on to the first pause after which `upto` events are over, and report none of them.

        What is not reported is played without cues, as in a batch.
        """
        sim = self.sim
        if sim.events >= upto:
            return
        sim.listener, sim.out.cues = None, None
        sim.out.sends.clear()
        while sim.events < upto and (number := next(self._moves, None)) is not None:
            self.move = number
        sim.listener, sim.out.cues = self._listen, []

    def advance(self) -> list[Happened] | None:
        """Play to the next pause between events; return what happened, or None at the end."""
        self._events = []
        number = next(self._moves, None)
        if number is None and not self._events:
            return None
        if number is not None:
            self.move = number
        return self._events

    def checkpoint(self, over: int = -1, growths: Growths | None = None) -> Checkpoint | None:
        """Return a copy of here, which shares `growths`, if the run can be resumed from here.

        It can while a move lets the clock run, between two rounds of one that settles, or where
        move `over` has just ended; not within a move that is cut short (`!n`), as that counts its
        events.
        """
        if over >= 0:
            # An event that no pause has reported yet would never be reported from here.
            return None if self._events else Checkpoint(self.sim, over, growths=growths)
        until, settling = self.sim.clock_until, self.sim.settle_round
        if max(until, settling) < 0 or moves.limit_of(self._lines[self.move]) >= 0:
            return None
        return Checkpoint(self.sim, self.move, until, settling, growths)
