"""Importance of a sequence of failures (a path), and the number of copies that are played of it.

With acks=all and clean elections a record is lost only if no replica is left.  The importance of a
path is the rate at which it leaves none: the rate of its first failure, times, for each further
failure, its rate and the mean time for which all replicas before it are still out.  The last
failure must also destroy records: a failed disk destroys all, a power loss those that are not
flushed, a crashed process none.

Importance only decides how many copies of a cycle are played (splitting with fixed effort).  Each
level gets about the same number of cycles, in proportion to importance.  Every path keeps some
copies, and the weight of a cycle is divided by its number of copies.  So a wrong importance makes
an estimate more expensive, but not biased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from engine.advisor.advice import FLUSH_MS, Setting

LEVELS: Final = 4
"""Maximum number of failures in a cycle; also at most one more than the replicas."""
CYCLES: Final = (3.0, 6.0, 12.0, 1.5)
"""Cycles of a tree by number of failures, divided among paths by importance ..."""
FLOOR: Final = (0.6, 0.12, 0.04, 0.01)
"""... and the minimum number of copies that a path has in each cycle before it."""
MOST: Final = 8.0
"""Maximum number of copies in one cycle: more would be too similar."""
NOTICED_MS: Final = 15_000
"""Time that a replica is out besides its repair: for detection, and to catch up."""
KEEPS: Final = 0.005
"""Share of losses if a process crashes last: almost none, kept for unforeseen causes."""
SEQUENCES: Final = 200_000
"""Maximum number of paths that the formula enumerates; beyond it a pilot is run."""
TRUST: Final = 4.0
"""Maximum factor by which a pilot reduces the importance of a path."""

Path = tuple[str, ...]


class Cause(NamedTuple):
    """One kind of failure; each target fails independently, at `rate` per ms."""

    name: str
    kind: str
    rate: float
    mttr_ms: int
    targets: tuple[tuple[int, ...], ...]


class _Order(NamedTuple):
    """A path so far: the brokers that are out, its rate, and the rate at which one is repaired."""

    path: Path
    out: frozenset[int]
    often: float
    mended: float


def levels(setting: Setting) -> int:
    return min(LEVELS, setting.factor + 1)


def losses(setting: Setting, causes: Sequence[Cause]) -> dict[Path, float]:
    """Return the losses per ms of each path that can lose a record, by the formula."""
    if setting.acks != "all" or setting.unclean:
        return {(cause.name,): cause.rate * len(cause.targets) for cause in causes}
    strikes = [(cause, group) for cause in causes for group in cause.targets]
    if len(strikes) ** min(setting.factor, LEVELS) > SEQUENCES:
        return {}
    lost_by_path: dict[Path, float] = {}
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
                lost_by_path[path] = lost_by_path.get(path, 0.0) + lost
            elif len(path) < LEVELS:
                # A process that restarts before it is detected was never out.
                late = 0 if cause.kind == "kill" else NOTICED_MS
                mended = before.mended + 1 / (cause.mttr_ms + late)
                waiting.append(_Order(path, out, often, mended))
    return lost_by_path


def _taking_share(setting: Setting, cause: Cause, before: _Order) -> float:
    """Return the share of last failures that destroy records."""
    if cause.kind == "disk_fail":
        return 1.0
    if cause.kind == "kill":
        return KEEPS
    writing = setting.factor - len(before.out) >= setting.min_isr
    return 1.0 if writing or not before.mended else min(1.0, FLUSH_MS * before.mended)


def copies(
    setting: Setting, causes: Sequence[Cause], corrected: Mapping[Path, float] | None = None
) -> dict[Path, float]:
    """Return the copies per cycle of each path, and the cycles of each first failure.

    `corrected` replaces the losses of the formula.
    """
    expected = losses(setting, causes) if corrected is None else corrected
    whole = sum(expected.values()) or 1.0
    share: dict[Path, float] = {}
    for path, lost in expected.items():
        for depth in range(1, len(path) + 1):
            share[path[:depth]] = share.get(path[:depth], 0.0) + lost / whole
    counts: dict[Path, float] = {}
    played: dict[Path, float] = {(): 1.0}
    level: list[Path] = [()]
    for depth in range(levels(setting)):
        level = [(*path, cause.name) for path in level for cause in causes]
        for path in level:
            ideal = CYCLES[depth] * share.get(path, 0.0) / played[path[:-1]]
            counts[path] = min(MOST, FLOOR[depth] + ideal)
            played[path] = played[path[:-1]] * counts[path]
    return counts


def corrected(
    expected: Mapping[Path, float], met: Mapping[Path, float], trees: int
) -> dict[Path, float]:
    """Return the losses of the formula, corrected by a pilot.

    `met` has the losses per ms in the trees of the pilot.  As the trees are few, the result is the
    mean of formula and pilot, at least 1/TRUST of the formula, and at most the larger of TRUST
    times the formula and the sum over all paths.
    """
    counts = {}
    whole = sum(expected.values())
    for path in sorted(expected.keys() | met.keys()):
        formula, seen = expected.get(path, 0.0), met.get(path, 0.0) / trees
        middle = (formula + seen) / 2
        most = max(TRUST * formula, whole) if whole else middle
        counts[path] = min(most, max(formula / TRUST, middle))
    return counts
