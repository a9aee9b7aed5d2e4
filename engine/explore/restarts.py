"""Restarts of brokers whose result a search knows without playing them.

Under KRaft `bounce B` is `kill B` and then `restart B`.  A search that has played `bounce B` knows
where `restart B` leads from the state after `kill B`, if the crash is the only event of `kill B`.
This holds for that very state: another one with an equal key may differ in its clock.
"""

from __future__ import annotations

from engine.moves.moves import Move


class Restarts:
    """Results of restarts as numbers of states; `begin` is called before a state is expanded."""

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
