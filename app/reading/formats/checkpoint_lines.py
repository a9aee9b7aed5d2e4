"""The checkpoint files of a broker, each below a line that says whose it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.reading.context import PasteContext, PastedLine, PasteFormat
from app.reading.facts import (
    MOST_EPOCH,
    MOST_ID,
    MOST_LINES,
    MOST_NUMBER,
    TOPIC,
    PasteError,
    Press,
    number_of,
)

EPOCHS: Final = "leader-epoch-checkpoint"
MARKS: Final = "replication-offset-checkpoint"
RECOVERY: Final = "recovery-point-offset-checkpoint"
FILES: Final = (EPOCHS, MARKS, RECOVERY)

_PAIR: Final = re.compile(r"(\d+) (\d+)")
_OFFSET: Final = re.compile(r"(\S+) (\d+) (\d+)")
_ENDS: Final = re.compile(r"#|==>|\$ |Topic\s?:|\[.*\]\s*[$#]|[^@\s]+@[^\s$#][^$#]*[$#]")
"""Lines that end a file even if more entries were announced."""


def _read(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    if lines[at].text != "0" or not _is_file(lines, at, bool(context.file)):
        return 0
    count = int(lines[at + 1].text) if at + 1 < len(lines) else 0
    entries = []
    for line in lines[at + 2 : at + 2 + min(count, MOST_LINES)]:
        if not line.text or _ENDS.match(line.text):
            break
        entries.append(line)
    _take(lines[at], entries, context)
    if len(entries) < count:
        context.facts.problem(lines[at].number, "short", left=count - len(entries))
    return min(2 + len(entries), len(lines) - at)


def _is_file(lines: Sequence[PastedLine], at: int, named: bool) -> bool:
    """Check for a 0, a number of entries, and at least one entry; a named file may be empty."""
    after = [one.text for one in lines[at + 1 : at + 3]]
    if not after or not re.fullmatch(r"\d{1,6}", after[0]):
        return False
    if after[0] == "0" or len(after) < 2:
        return named
    return named or bool(_PAIR.fullmatch(after[1]) or _OFFSET.fullmatch(after[1]))


def _take(first: PastedLine, entries: list[PastedLine], context: PasteContext) -> None:
    facts = context.facts
    try:
        _check_owner(first.number, entries, context)
    except PasteError as bad:
        facts.refuse(first.number, bad)
        return
    found: list[tuple[int, int]] = []
    for line in entries:
        try:
            if context.file == EPOCHS:
                found.append(_epoch(line.text, found))
                facts.epochs[context.broker, context.partition] = found
            else:
                _offset(line.text, context)
        except PasteError as bad:
            facts.refuse(line.number, bad)


def _check_owner(number: int, entries: list[PastedLine], context: PasteContext) -> None:
    """Raise Bad where nothing says whose file this is, and offer what a prompt suggests."""
    if not context.file:
        pairs = bool(entries) and _PAIR.fullmatch(entries[0].text) is not None
        raise PasteError("headless_epochs" if pairs else "headless")
    if context.broker < 0:
        args: dict[str, object] = {"file": context.file}
        choices = []
        named = f" {context.partition}" if context.partition else ""
        if context.guess >= 0:
            put = f"# broker {context.guess}{named} {context.file}"
            choices.append(Press("cluster.put.broker", {"broker": context.guess}, put, number))
        of = context.partition if context.file == EPOCHS and context.partition else ""
        raise PasteError(
            "whose_of" if of else "whose", tuple(choices), **args, **({"name": of} if of else {})
        )
    if context.file == EPOCHS and not context.partition:
        raise PasteError("which", file=context.file)


def _epoch(text: str, found: list[tuple[int, int]]) -> tuple[int, int]:
    pair = _PAIR.fullmatch(text)
    if pair is None:
        raise PasteError("pair", text=text)
    epoch = number_of(pair[1], "epoch", MOST_EPOCH)
    offset = number_of(pair[2], "offset", MOST_NUMBER)
    if found and not (found[-1][0] < epoch and found[-1][1] <= offset):
        raise PasteError("falling", text=text)
    return epoch, offset


def _offset(text: str, context: PasteContext) -> None:
    entry = _OFFSET.fullmatch(text)
    if entry is None or not TOPIC.fullmatch(entry[1]):
        raise PasteError("entry", text=text)
    where = context.facts.marks if context.file == MARKS else context.facts.recovery
    name = f"{entry[1]}-{number_of(entry[2], 'partition', MOST_ID)}"
    where[context.broker, name] = number_of(entry[3], "offset", MOST_NUMBER)


FORMAT: Final = PasteFormat("files", FILES, _read)
