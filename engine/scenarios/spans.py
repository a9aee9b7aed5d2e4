"""Spans of time as people write them: 500, 1.5s, 6h, 30d."""

from __future__ import annotations

import re
from typing import Final

DAY_MS: Final = 86_400_000
UNITS: Final = {"": 1, "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": DAY_MS}
WRITTEN: Final = ("d", "h", "m")
"""Below a minute, milliseconds are read as easily."""

_SPAN: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h|d|)")


def span_ms(text: str) -> int:
    """Return a span of time in ms; -1 for what is none."""
    match = _SPAN.fullmatch(text)
    return -1 if match is None else round(float(match[1]) * UNITS[match[2]])


def has_unit(text: str) -> bool:
    return text[-1:].isalpha()


def span_text(ms: int) -> str | int:
    """Return the largest unit of which it is a whole number: 30d, 6h, 5m; less stays ms."""
    for unit in WRITTEN:
        if ms and ms % UNITS[unit] == 0:
            return f"{ms // UNITS[unit]}{unit}"
    return ms
