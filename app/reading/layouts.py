"""The message of a line, whatever a logger, a container or a log collector wrapped it in.

No layout is configured: colours and JSON are unwrapped, and the place of the message in what is
left is found by the message itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from app.reading import stamps

ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|\[\d{1,2}(?:;\d{1,2})*m")
_ANSI_BYTES: Final = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]")
_OPENS: Final = re.compile(r'\{\s*"')
LEVEL: Final = r"\b(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)\b"
_VARYING: Final = re.compile(
    rf"\[\d+\]|^\s*\d+[:-]|:\d+:?\s*$|{LEVEL}"
    r"|(?:[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d[.,\d]*"
)
"""Parts of a prefix that differ from line to line: process and line numbers, levels, times."""
_PUNCTUATION: Final = " \t|│:,;=-\"'[](){}<>#"
MOST_DEPTH: Final = 4
"""Levels of JSON in JSON: a container's record holds a collector's holds the logger's."""

MESSAGES: Final = (
    "message", "msg", "log", "short_message", "textpayload", "body", "line", "_raw", "text",
    "event", "full_message",
)  # fmt: skip
"""Names of fields that hold the message, lower case, the usual ones first."""
TIMES: Final = (
    "@timestamp", "timestamp", "time", "ts", "timemillis", "datetime", "date", "asctime",
    "eventtime", "log_time", "__realtime_timestamp", "_time",
)  # fmt: skip
LOGGERS: Final = ("logger", "loggername", "logger_name", "log.logger", "logger.name", "class")
_ORIGINS: Final = re.compile(r"pod|container|host|instance|node|service|source|unit", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UnwrappedLine:
    """A line without its wrapping.

    `stamp_ms`: the time that the wrapping has, for a message that has none; `origin`: the names of
    the container, pod or host that it names; `broken`: the JSON does not end.
    """

    text: str
    stamp_ms: int | None = None
    origin: str = ""
    broken: bool = False


def without_colours(line: bytes) -> bytes:
    """Remove terminal colours, which break words where a grep has marked its hits."""
    return _ANSI_BYTES.sub(b"", line) if b"\x1b" in line else line


def unwrapped(line: bytes) -> UnwrappedLine:
    """Extract a line from its JSON, if it is in one; remove colours and a byte order mark."""
    text = ANSI.sub("", line.decode("utf-8", "replace")).strip("\ufeff\r\n\0 ")
    return _of_text(text, MOST_DEPTH)


def _of_text(text: str, depth: int) -> UnwrappedLine:
    match = _OPENS.search(text) if depth else None
    if match is None:
        return UnwrappedLine(text)
    try:
        value, _ = json.JSONDecoder().raw_decode(text, match.start())
    except (ValueError, RecursionError):
        front = text[: match.start()].strip(_PUNCTUATION)
        return UnwrappedLine(text, broken=" " not in front)
    inner = _of_json(value, depth - 1)
    if inner is None:
        return UnwrappedLine(text)
    before = text[: match.start()].strip(_PUNCTUATION)
    return UnwrappedLine(inner.text, inner.stamp_ms, " ".join(filter(None, (before, inner.origin))))


def _of_json(value: Any, depth: int) -> UnwrappedLine | None:
    """Return the message of one JSON record; None for JSON that has none."""
    fields = list(_fields(value, "", depth))
    message = _first(fields, MESSAGES)
    if not isinstance(message, str):
        return None
    inner = _of_text(ANSI.sub("", message).strip(), depth)
    logger = _first(fields, LOGGERS)
    text = inner.text
    if isinstance(logger, str) and logger and logger not in text:
        text = f"{text} ({logger})"
    stamp = inner.stamp_ms
    if stamp is None:
        stamp = _time_of(fields)
    origins = [
        str(origin)
        for name, origin in fields
        if isinstance(origin, str) and len(origin) < 120 and _ORIGINS.search(name)
    ]
    return UnwrappedLine(text, stamp, " ".join([*origins, inner.origin]).strip())


def _fields(value: Any, name: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield (path, value) of the plain fields, outer ones first."""
    if isinstance(value, dict) and depth >= 0:
        deeper = []
        for key, item in value.items():
            path = f"{name}.{key}" if name else str(key)
            if isinstance(item, dict | list):
                deeper.append((path, item))
            else:
                yield path, item
        for path, item in deeper:
            yield from _fields(item, path, depth - 1)
    elif isinstance(value, list) and depth >= 0:
        for item in value[:20]:
            if isinstance(item, dict | list):
                yield from _fields(item, name, depth - 1)
            else:
                yield name, item


def _first(fields: list[tuple[str, Any]], names: tuple[str, ...]) -> Any:
    """Return the first of the named fields, by the order of the names."""
    for name in names:
        for path, value in fields:
            key = path.lower()
            if value is not None and (key == name or key.endswith(f".{name}")):
                return value
    return None


def _time_of(fields: list[tuple[str, Any]]) -> int | None:
    for name in TIMES:
        ms = stamps.of_value(_first(fields, (name,)))
        if ms is not None:
            return ms
    second, nanos = (
        _first(fields, (f"instant.{part}",)) for part in ("epochsecond", "nanoofsecond")
    )
    if isinstance(second, int):
        return second * 1_000 + (nanos // 1_000_000 if isinstance(nanos, int) else 0)
    return None


def time_of(plain: UnwrappedLine, message_at: int) -> int | None:
    """Return the time of a line in ms; None where there is none.

    The last one before its message, else that of the wrapping, else the first behind the message.
    """
    before = [ms for _, _, ms in stamps.found_in(plain.text, message_at)]
    if before:
        return _nearest(plain.text, message_at)
    if plain.stamp_ms is not None:
        return plain.stamp_ms
    return next((ms for _, _, ms in stamps.found_in(plain.text)), None)


def _nearest(text: str, end: int) -> int:
    return max(stamps.found_in(text, end))[2]


def origin_of(plain: UnwrappedLine, message_at: int) -> str:
    """Return the prefix of a container engine, a pod's log or a host before Kafka's line.

    Digits of times are left out, so that the lines of one origin have one text.
    """
    spans = sorted(stamps.found_in(plain.text, message_at))
    front = plain.text[: spans[-1][0]] if spans else ""
    for first, last, _ in reversed(spans[:-1]):
        front = front[:first] + front[last:]
    front = _VARYING.sub("", front)
    return " ".join(filter(None, (front.strip(_PUNCTUATION), plain.origin)))
