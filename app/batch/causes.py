"""The histogram of causes: which invariant broke first, and which rule was applied last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from app.batch.runners.summary import Failure
from app.storage.batch_fields import BatchCause

TRACED_MOST: Final = 200
"""Failing runs of a study that are played once more, with a trace of rules."""
STEPS_MOST: Final = 500_000
"""Up to where they are: told, a day of virtual time would take minutes."""

Key = tuple[str, int, int]
"""(profile, cell, seed)"""
Cause = tuple[str, str]
"""(invariant, rule)"""


def to_trace(failures: Sequence[Failure], groups: int, first: int) -> list[Key]:
    """Return the first failing runs of each profile and cell, equally many of each.

    `groups` is how many pairs of profile and cell there are.

    Of an invariant only the `first` by seed are taken: the others are known because they are
    short or lost much, and would speak louder than they are frequent.
    """
    each = max(1, TRACED_MOST // groups)
    failing: dict[tuple[str, int, str], list[int]] = {}
    for one in failures:
        if 0 <= one.step <= STEPS_MOST:
            failing.setdefault((one.profile, one.cell, one.invariant), []).append(one.seed)
    found: dict[tuple[str, int], set[int]] = {}
    for (profile, cell, _), seeds in failing.items():
        found.setdefault((profile, cell), set()).update(sorted(seeds)[:first])
    keys = [(*group, seed) for group, seeds in found.items() for seed in sorted(seeds)[:each]]
    return keys[:TRACED_MOST]


def histogram(keys: Sequence[Key], causes: Sequence[Cause | None]) -> list[BatchCause]:
    """Return [{profile, invariant, rule, runs}], the most frequent first."""
    counts = Counter(
        (key[0], *cause) for key, cause in zip(keys, causes, strict=True) if cause is not None
    )
    return [
        {"profile": profile, "invariant": invariant, "rule": rule, "runs": runs}
        for (profile, invariant, rule), runs in sorted(
            counts.items(), key=lambda item: (-item[1], item[0])
        )
    ]
