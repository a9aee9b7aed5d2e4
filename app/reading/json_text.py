"""JSON in the middle of other lines, over one line or over many."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from app.reading.format import PastedLine

_OPENS: Final = re.compile(r'[{\[]\s*(?:["{\[\d\]}-]|$)')
_SURELY: Final = re.compile(r'\{\s*("|$)|\[\s*(\{|$)')
_PIECE: Final = re.compile(r'[^:]*|[^":]*"[^"]*"\s*:.*')


def decoded(lines: Sequence[PastedLine], at: int) -> tuple[Any, int] | None:
    """Return the value that begins at a line, and its number of lines; None without one."""
    if not _OPENS.match(lines[at].text):
        return None
    rest = "\n".join(line.text for line in lines[at:])
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(rest)
    except (ValueError, RecursionError):
        return None
    return value, rest.count("\n", 0, end) + 1


def broken(lines: Sequence[PastedLine], at: int) -> int:
    """Count the lines of JSON that begins here and does not end; 0 where none begins."""
    if not _SURELY.match(lines[at].text):
        return 0
    count = 1
    for line in lines[at + 1 :]:
        if not line.text or not _PIECE.fullmatch(line.text):
            break
        count += 1
    return count
