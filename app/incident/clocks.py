"""Alignment of clocks.  Brokers write their logs by their own clocks, in their own time zones.

A broker reads a record of the partition after the controller has written it, and sends a request
for a change before it is granted: both log the same epochs, so each pair bounds by how much the two
clocks differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

HEARD_MS: Final = 40.0
"""How long after the controller wrote something the quickest broker usually hears of it."""


@dataclass(slots=True)
class Skew:
    """Offset of a node's clock from the reference.

    Between `least` and `most` ms, as far as pairs of events tell.
    """

    least: float | None = None
    most: float | None = None
    pairs: int = 0

    def after(self, here_ms: int, there_ms: int) -> None:
        """Record that `here_ms` of this clock came after `there_ms` of the reference."""
        self.pairs += 1
        bound = here_ms - there_ms
        self.most = bound if self.most is None else min(self.most, bound)

    def before(self, here_ms: int, there_ms: int) -> None:
        """Record that it came before."""
        self.pairs += 1
        bound = here_ms - there_ms
        self.least = bound if self.least is None else max(self.least, bound)

    @property
    def estimate(self) -> float:
        """Correction of this clock: nothing where it may be right.

        A wrong one is set by what it heard, which is sooner by far than a start is registered.
        """
        low = float("-inf") if self.least is None else self.least
        high = float("inf") if self.most is None else self.most
        if low > high:  # pairs that contradict each other: the clock was set in between
            return (low + high) / 2
        best = low if self.most is None else max(low, high - HEARD_MS)
        return 0.0 if low <= 0.0 <= high and best <= 0.0 else best

    def told(self) -> str:
        """Return both bounds in words."""
        if self.least is not None and self.most is not None:
            return f"between {_span(self.least)} and {_span(self.most)} than"
        bound = self.least if self.most is None else self.most
        side = "at least" if self.most is None else "at most"
        return f"{side} {_span(bound or 0.0)} than"


def _span(ms: float) -> str:
    size = f"{abs(ms) / 1_000:.3f} s" if abs(ms) >= 1_000 else f"{abs(ms):.0f} ms"
    return f"{size} {'earlier' if ms < 0 else 'later'}"


@dataclass(slots=True)
class Clocks:
    """Clocks of all nodes.  The reference is the controller: its log has the order."""

    reference: str
    skews: dict[str, Skew] = field(default_factory=dict)

    def of(self, node: str) -> Skew:
        return self.skews.setdefault(node, Skew())

    def aligned(self, node: str, time_ms: int) -> float:
        """Return a time of a node by the clock of the reference."""
        if node == self.reference or node not in self.skews:
            return float(time_ms)
        return time_ms - self.skews[node].estimate

    def lines(self, whose: str = "the controller's") -> Iterable[str]:
        """Yield one sentence for each clock, beside that of the reference."""
        for node, skew in sorted(self.skews.items()):
            if node != self.reference and skew.pairs:
                yield f"the clock of broker {node} is {skew.told()} {whose}"
