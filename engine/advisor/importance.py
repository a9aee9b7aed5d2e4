"""Importance of states: the failures that lead to a loss, their order, and copies for each.

A loss by acks=all and clean elections needs that no replica is left.  So the importance of an order
of failures is how often it leaves none: the rate of the first, times the rate of each next one and
the mean time for which all before it are still out.  What strikes last must also take something
with it: a disk takes all, power what is not flushed yet, a process nothing.

It only decides how many copies of a cycle are played (fixed effort): each level gets about the same
number of cycles, shared out by importance.  No path is forbidden, and each copy weighs the less the
more there are, so that a wrong guess here makes an answer dearer, never wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from engine.advisor.advice import FLUSH_MS, Setting

LEVELS: Final = 4
"""Failures in one cycle at most; and never more than one beyond the replicas."""
CYCLES: Final = (3.0, 6.0, 12.0, 1.5)
"""Cycles of a tree by number of failures that have struck, shared out by importance ..."""
FLOOR: Final = (0.6, 0.12, 0.04, 0.01)
"""... and copies that a path has in each cycle before it, however unimportant."""
MOST: Final = 8.0
"""Copies in one cycle at most: more are too alike."""
NOTICED_MS: Final = 15_000
"""A replica is out for a bit longer than its repair: it has to be noticed, and to catch up."""
KEEPS: Final = 0.005
"""Losses of a process that crashes last: nothing, but for surprises."""
SEQUENCES: Final = 200_000
"""Orders of failures that are looked through at most; of wider settings a pilot is run."""
TRUST: Final = 4.0
"""Greatest factor by which a pilot makes a path less important."""

Path = tuple[str, ...]


class Cause(NamedTuple):
    """One kind of failure: each of its targets fails by itself, `rate` times a ms."""

    name: str
    kind: str
    rate: float
    mttr_ms: int
    targets: tuple[tuple[int, ...], ...]


class _Order(NamedTuple):
    """Failures that have struck, in their order.

    It has their rate, and the rate at which one of them is repaired while all are out.
    """

    path: Path
    out: frozenset[int]
    often: float
    mended: float


def levels(setting: Setting) -> int:
    return min(LEVELS, setting.factor + 1)


def losses(setting: Setting, causes: Sequence[Cause]) -> dict[Path, float]:
    """Return the losses a ms of each path that may lose, as far as the formula knows."""
    if setting.acks != "all" or setting.unclean:
        return {(cause.name,): cause.rate * len(cause.targets) for cause in causes}
    strikes = [(cause, group) for cause in causes for group in cause.targets]
    if len(strikes) ** min(setting.factor, LEVELS) > SEQUENCES:
        return {}
    found: dict[Path, float] = {}
    waiting = [_Order((), frozenset(), 1.0, 0.0)]
    while waiting:
        before = waiting.pop()
        for cause, group in strikes:
            out = before.out.union(group)
            if out == before.out:
                continue
            often = before.often * cause.rate / (before.mended or 1.0)
            path = (*before.path, cause.name)
            if len(out) == setting.factor:
                lost = often * _taking_share(setting, cause, before)
                found[path] = found.get(path, 0.0) + lost
            elif len(path) < LEVELS:
                # A process that is back before it was missed was never out.
                late = 0 if cause.kind == "kill" else NOTICED_MS
                mended = before.mended + 1 / (cause.mttr_ms + late)
                waiting.append(_Order(path, out, often, mended))
    return found


def _taking_share(setting: Setting, cause: Cause, before: _Order) -> float:
    """Return the part of the last failures that take something with them."""
    if cause.kind == "disk_fail":
        return 1.0
    if cause.kind == "kill":
        return KEEPS
    writing = setting.factor - len(before.out) >= setting.min_isr
    return 1.0 if writing or not before.mended else min(1.0, FLUSH_MS * before.mended)


def copies(
    setting: Setting, causes: Sequence[Cause], corrected: Mapping[Path, float] | None = None
) -> dict[Path, float]:
    """Return the copies a cycle of each path, and the cycles of each first failure.

    `corrected` are losses in place of those of the formula.
    """
    expected = losses(setting, causes) if corrected is None else corrected
    whole = sum(expected.values()) or 1.0
    share: dict[Path, float] = {}
    for path, lost in expected.items():
        for depth in range(1, len(path) + 1):
            share[path[:depth]] = share.get(path[:depth], 0.0) + lost / whole
    found: dict[Path, float] = {}
    played: dict[Path, float] = {(): 1.0}
    level: list[Path] = [()]
    for depth in range(levels(setting)):
        level = [(*path, cause.name) for path in level for cause in causes]
        for path in level:
            wanted = CYCLES[depth] * share.get(path, 0.0) / played[path[:-1]]
            found[path] = min(MOST, FLOOR[depth] + wanted)
            played[path] = played[path[:-1]] * found[path]
    return found


def corrected(
    expected: Mapping[Path, float], met: Mapping[Path, float], trees: int
) -> dict[Path, float]:
    """Return the formula's losses corrected by a pilot.

    `met` are the losses that its trees met, a ms.  A few trees say little: half of what is believed
    is the formula's, a path loses no more than the TRUSTth of its importance, and one that was met
    by luck does not outweigh all others.
    """
    found = {}
    whole = sum(expected.values())
    for path in sorted(expected.keys() | met.keys()):
        formula, seen = expected.get(path, 0.0), met.get(path, 0.0) / trees
        middle = (formula + seen) / 2
        most = max(TRUST * formula, whole) if whole else middle
        found[path] = min(most, max(formula / TRUST, middle))
    return found
