"""Readers of what Kafka's tools print.  Pure text in, facts out; nothing is evaluated.

A format is one module with a `FORMAT`, a line in `reader.FORMATS`, its sentence in
`static/i18n/cluster.en.json`, and a case in `tests/field/`.  A line that cannot be read is named by
its number with a reason; the rest is used all the same.
"""

from engine.scenarios.paste.facts import (
    MIN_ISR,
    MOST_CHARS,
    MOST_LINES,
    MOST_PROBLEMS,
    UNCLEAN,
    Facts,
    Notice,
    PastedPartition,
    Press,
    topic_of,
)
from engine.scenarios.paste.format import PasteFormat
from engine.scenarios.paste.reader import FORMATS, SHOWN, read

__all__ = [
    "FORMATS",
    "MIN_ISR",
    "MOST_CHARS",
    "MOST_LINES",
    "MOST_PROBLEMS",
    "SHOWN",
    "UNCLEAN",
    "Facts",
    "Notice",
    "PasteFormat",
    "PastedPartition",
    "Press",
    "read",
    "topic_of",
]
