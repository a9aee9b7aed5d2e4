"""The verdict of a run as a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

MOST_NAMED: Final = 4

Text = Callable[[str, Mapping[str, Any]], str]
"""Returns the words of a key with its places filled."""


def verdict_text(text: Text, verdict: Mapping[str, Any]) -> str:
    """Return the sentence of a verdict (`engine.story.verdict`); "" while nothing is decided."""
    if not verdict:
        return ""
    fault = verdict.get("fault")
    args = {
        "m": listed(text, verdict["records"]),
        "n": verdict.get("kept", 0),
        "fault": text(f"through.{fault}", {}) if fault else "",
    }
    return text(verdict["key"], args)


def listed(text: Text, records: Sequence[str]) -> str:
    """Return names as "a, b and c"; of a long list the first, and the number of the others."""
    if len(records) > MOST_NAMED:
        named = ", ".join(records[:MOST_NAMED])
        return text("bad.more", {"m": named, "n": len(records) - MOST_NAMED})
    if len(records) > 1:
        return text("bad.and", {"a": ", ".join(records[:-1]), "b": records[-1]})
    return "".join(records)
