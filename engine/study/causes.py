"""Cause of a failing run: the invariant that broke first, and the rule applied last."""

from __future__ import annotations

from engine.replay.cursor import Cursor
from engine.sim.run import Run


def cause_of(run: Run) -> tuple[str, str] | None:
    """Return (invariant, rule) of the first violation of a run; None where all invariants hold.

    The rule is the last one that moved anything up to and in the event that broke the invariant,
    by its identifier in the specification; "" before any did.
    """
    cursor = Cursor(run)
    step, last = 0, ""
    rules: list[tuple[int, str]] = []
    while (events := cursor.advance()) is not None:
        for event in events:
            step += 1
            for cue in event[3]:
                last = cue.rule.partition(".")[0]
            rules.append((step, last))
        if cursor.sim.broken:
            invariant, at, _ = cursor.sim.broken[0]
            return invariant, next((rule for n, rule in reversed(rules) if n <= at), "")
        rules.clear()
    return None
