"""`kafka-topics.sh --describe`, of every release, and of Confluent with its observers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from app.reading.facts import (
    MOST_ID,
    Facts,
    PastedPartition,
    PasteError,
    checked,
    ids_of,
    leader_of,
    number_of,
)
from app.reading.format import PasteContext, PastedLine, TextFormat
from app.reading.names import TOPIC

_KNOWN: Final = (
    "Adding Replicas|Removing Replicas|LiveObservers|Live Observers|LastKnownElr|Last Known Elr|"
    "MarkedForDeletion|ReplicationFactor|PartitionCount|Partition|TopicId|Topic|Configs|Leader|"
    "Replicas|Observers|Offline|Isr|Elr"
)
_COLUMN: Final = re.compile(rf"({_KNOWN})\s?:|(?<=\s)([A-Z][A-Za-z]+)\s?:(?=\s|$)")
"""A known column needs no blank before it: where a tab got lost, its name is still clear."""
_STARTS: Final = re.compile(rf"(?:{_KNOWN})\s?:")
_FIRST: Final = re.compile(r"Topic\s?:\s?\S+")
_SPELT: Final = {"Last Known Elr": "LastKnownElr", "Live Observers": "LiveObservers"}
_NEEDED: Final = ("Leader", "Replicas", "Isr")
_VALUES: Final = re.compile(r"[\w.,=:{}\[\]\"'-]+")
MOST_PIECES: Final = 12
"""Lines that a terminal may have made of one."""


def _read(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    text = lines[at].text
    if not _FIRST.search(text):
        if _STARTS.match(text):
            raise PasteError("no_topic")
        return 0
    count = 1
    while count < MOST_PIECES and at + count < len(lines):
        joined = _joined(text, lines[at + count].text)
        if joined is None:
            break
        text, count = joined, count + 1
    try:
        _row(lines[at].number, text, context.facts)
    except PasteError as bad:
        context.facts.refuse(lines[at].number, bad)
    return count


def _joined(row: str, after: str) -> str | None:
    """Return a row joined with the line that a terminal broke off; None for a line of its own."""
    if not after or _FIRST.match(after):
        return None
    columns = _columns(row)
    if _STARTS.match(after):
        names = {name for name, _ in _columns(after)}
        twice = names & {name for name, _ in columns}
        return None if twice else f"{row}\t{after}"
    last, value = columns[-1]
    whole = "Partition" not in dict(columns) or all(name in dict(columns) for name in _NEEDED)
    if last == "Configs":
        goes_on = value.endswith((",", "=")) or "=" in after
        return row + after if goes_on and _VALUES.fullmatch(after) else None
    if value.endswith(",") or after.startswith(",") or not value:
        return row + after if re.match(r"[\d,]|none", after) else None
    if whole and "Partition" in dict(columns):
        return row + after if _breaks_id(dict(columns), value, after) else None
    # A name that was broken in two is one again: there is a column more than in the pieces.
    more = len(_columns(row + after)) > len(columns) + len(_columns(after))
    return row + after if more else None


def _breaks_id(columns: dict[str, str], value: str, after: str) -> bool:
    """Return whether an id is broken in two: only both pieces together are replicas."""
    replicas = set(columns["Replicas"].split(","))
    pieces = re.fullmatch(r"\d+(?:,\d+)*", after)
    alone, together = (set(text.split(",")) for text in (value, value + after))
    return bool(pieces) and not alone <= replicas and together <= replicas


def _columns(row: str) -> list[tuple[str, str]]:
    """Return (name, value) of each column; what stands behind `Configs:` is its value."""
    configs = re.search(r"Configs\s?:", row)
    end = configs.end() if configs else len(row)
    matches = list(_COLUMN.finditer(row, 0, end))
    columns = []
    for match, after in itertools.zip_longest(matches, matches[1:]):
        last = after.start() if after else len(row)
        name = match[1] or match[2]
        columns.append((_SPELT.get(name, name), row[match.end() : last].strip()))
    return columns


def _row(number: int, row: str, facts: Facts) -> None:
    before = row[: match.start()] if (match := _COLUMN.search(row)) else row
    if before.strip():
        raise PasteError("unknown", text=before)
    columns: dict[str, str] = {}
    for name, value in _columns(row):
        if name in columns:
            raise PasteError("twice", column=name)
        columns[name] = value
    topic = columns.get("Topic", "")
    if not TOPIC.fullmatch(topic):
        raise PasteError("topic", text=topic or row)
    if "Partition" not in columns:
        _topic(topic, columns, facts)
        return
    for needed in _NEEDED:
        if needed not in columns:
            raise PasteError("column", column=needed)
    facts.add(checked(facts, _partition(number, topic, columns)))
    facts.elr_known |= columns.get("Elr", "N/A") != "N/A"
    facts.offline.update(ids_of(columns.get("Offline", ""), "Offline"))


def _topic(topic: str, columns: dict[str, str], facts: Facts) -> None:
    facts.ids_known |= "TopicId" in columns
    take_settings(topic, columns.get("Configs", ""), facts)


def take_settings(topic: str, text: str, facts: Facts) -> None:
    """Take `min.insync.replicas=2,…` of a topic in.  Raises PasteError."""
    for part in text.split(","):
        key, equals, value = part.strip().partition("=")
        if equals:
            facts.set(topic, key, value)


def _partition(number: int, topic: str, columns: dict[str, str]) -> PastedPartition:
    def ids(column: str) -> tuple[int, ...]:
        return ids_of(columns.get(column, ""), column)

    return PastedPartition(
        topic,
        number_of(columns["Partition"], "Partition", MOST_ID),
        leader_of(columns["Leader"]),
        ids("Replicas"),
        ids("Isr"),
        ids("Elr"),
        ids("LastKnownElr"),
        ids("Adding Replicas"),
        ids("Removing Replicas"),
        number,
        observers=ids("Observers"),
        offline_known="Offline" in columns,
    )


FORMAT: Final = TextFormat("topics", commands=("kafka-topics.sh --describe",), read_lines=_read)
