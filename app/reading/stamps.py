"""Timestamps as loggers, containers and log collectors write them, in milliseconds.

A time without a zone is taken as written; one with a zone is converted to UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

_ZONE: Final = r"(?:\s?(?P<zone>Z|[+-]\d\d:?\d\d)(?![\d:]))?"
_CLOCK: Final = r"(?P<clock>\d\d:\d\d:\d\d)(?:[.,:](?P<part>\d{1,9}))?(?!\d)"
NO_DATE: Final = "2000-01-01"
"""The day of a time that has none: only differences between times matter."""

Parser = Callable[[str], datetime]


def _as(form: str) -> Parser:
    return lambda text: datetime.strptime(text, form)


def _slashes(text: str) -> datetime:
    """Parse 02/03/2025 with the month first unless it cannot be."""
    first = int(text[:2])
    return datetime.strptime(text, "%d/%m/%Y %H:%M:%S" if first > 12 else "%m/%d/%Y %H:%M:%S")


FORMS: Final[tuple[tuple[re.Pattern[str], Parser], ...]] = tuple(
    (re.compile(rf"(?<![\d-])(?P<day>{day})(?P<gap>{gap}){_CLOCK}{_ZONE}"), parse)
    for day, gap, parse in (
        (r"\d{4}-\d\d-\d\d", "[T ]", _as("%Y-%m-%d %H:%M:%S")),
        (r"\d{4}/\d\d/\d\d", "[T ]", _as("%Y/%m/%d %H:%M:%S")),
        (r"\d{4}\.\d\d\.\d\d", "[T ]", _as("%Y.%m.%d %H:%M:%S")),
        (r"\d\d/[A-Z][a-z]{2}/\d{4}", "[: ]", _as("%d/%b/%Y %H:%M:%S")),
        (r"\d\d-[A-Z][a-z]{2}-\d{4}", " ", _as("%d-%b-%Y %H:%M:%S")),
        (r"\d\d [A-Z][a-z]{2} \d{4}", " ", _as("%d %b %Y %H:%M:%S")),
        (r"\d\d/\d\d/\d{4}", " ", _slashes),
        (r"\d\d-\d\d-\d{4}", " ", _as("%d-%m-%Y %H:%M:%S")),
        (r"\d\d\.\d\d\.\d{4}", " ", _as("%d.%m.%Y %H:%M:%S")),
        (r"\d\d/\d\d/\d\d", " ", _as("%y/%m/%d %H:%M:%S")),
        (r"\d\d-\d\d-\d\d", " ", _as("%y-%m-%d %H:%M:%S")),
    )
)  # fmt: skip
_NO_YEAR: Final = re.compile(rf"(?<!\w)(?P<day>[A-Z][a-z]{{2}} [ \d]\d)(?P<gap> ){_CLOCK}")
_NO_DAY: Final = re.compile(rf"(?<![\d:T])(?<!\d )(?P<day>)(?P<gap>){_CLOCK}(?!:)")
_EPOCH: Final = re.compile(r"^\W{0,3}(1\d{9}(?:\.\d{1,9})?|1\d{12})(?=\W)")
LOOSE: Final[tuple[tuple[re.Pattern[str], Parser], ...]] = (
    (_NO_YEAR, lambda text: datetime.strptime(f"2000 {text}", "%Y %b %d %H:%M:%S")),
    (_NO_DAY, lambda text: datetime.strptime(f"{NO_DATE}{text}", "%Y-%m-%d %H:%M:%S")),
)
"""Forms without a year or without a day, for lines that have no other."""


@lru_cache(maxsize=256)
def _second(form: re.Pattern[str], parse: Parser, text: str, zone: str) -> int:
    """Convert a second to ms.  Raises ValueError for 2026-13-45."""
    moment = parse(text).replace(tzinfo=UTC)
    if zone:
        offset = datetime.strptime(zone, "%z").utcoffset()
        moment -= offset if offset else timedelta()
    return int(moment.timestamp()) * 1_000


def _value(match: re.Match[str], parse: Parser) -> int | None:
    text = f"{match['day']} {match['clock']}"
    zone = match.groupdict().get("zone") or ""
    part = (match["part"] or "")[:3].ljust(3, "0")
    try:
        return _second(match.re, parse, text, zone) + int(part)
    except ValueError:
        return None


def found_in(text: str, end: int | None = None) -> Iterator[tuple[int, int, int]]:
    """Yield (first character, one past the last, ms) of the times in a text.

    Dated ones only if there are any.  `end`: where to stop looking.
    """
    end = len(text) if end is None else end
    for forms in (FORMS, LOOSE):
        any_yet = False
        for pattern, parse in forms:
            for match in pattern.finditer(text, 0, end):
                ms = _value(match, parse)
                if ms is not None:
                    any_yet = True
                    yield match.start(), match.end(), ms
            if any_yet:
                return
    epoch = _EPOCH.search(text, 0, end)
    ms = of_value(epoch[1]) if epoch else None
    if epoch and ms is not None:
        yield epoch.start(1), epoch.end(1), ms


def of_value(value: object) -> int | None:
    """Convert a JSON value to ms: a number of s, ms, µs or ns since 1970, or a written time."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        for _, _, ms in found_in(value):
            return ms
        if not re.fullmatch(r"\d{9,19}(\.\d{1,9})?", value):
            return None
        value = float(value) if "." in value else int(value)
    if isinstance(value, int | float) and 1e8 <= value < 1e19:
        for least, divisor in ((1e17, 1e6), (1e14, 1e3), (1e11, 1)):
            if value >= least:
                return int(value / divisor)
        return int(value * 1_000)
    return None
