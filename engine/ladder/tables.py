"""Tables of results that are computed once, and counts of moves packed into one number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from engine.ladder.search import LadderMove

Value = TypeVar("Value")

COUNT_BITS: Final = 40
"""Bits of each kind of move in a number that counts all kinds."""


class TooLargeError(Exception):
    """The model has more states of one kind than its numbers can distinguish."""


class StateTable(dict[int, Value], Generic[Value]):
    """Table from key to result, computed at the first access."""

    def __init__(self, compute: Callable[[int], Value]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: int) -> Value:
        value = self[key] = self._compute(key)
        return value


class Moves(NamedTuple):
    """Moves out of a state: what each adds to it, the number of each kind, and their names."""

    added: tuple[int, ...]
    fired: int
    labels: tuple[LadderMove, ...]


NOTHING: Final = Moves((), 0, ())


def moves_of(kinds: Sequence[str], changes: list[tuple[LadderMove, int]]) -> Moves:
    """Gather (move, what it adds to the state)."""
    if not changes:
        return NOTHING
    return Moves(
        tuple(added for _, added in changes),
        sum(1 << COUNT_BITS * kinds.index(move.name) for move, _ in changes),
        tuple(move for move, _ in changes),
    )


def counts_of(kinds: Sequence[str], counted: int) -> dict[str, int]:
    """Return the counts in a number to which `Moves.fired` was added."""
    mask = (1 << COUNT_BITS) - 1
    return {kind: counted >> COUNT_BITS * place & mask for place, kind in enumerate(kinds)}
