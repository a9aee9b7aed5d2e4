"""The checkpoint files of a broker: high watermarks, log starts, leader epochs.

A version, a number of entries, then one entry a line.  In a paste each stands below a line that
says whose it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from app.kafka.cursor import MalformedError
from app.reading.events import Event
from app.reading.facts import (
    MOST_EPOCH,
    MOST_ID,
    MOST_LINES,
    MOST_NUMBER,
    PasteError,
    Press,
    number_of,
)
from app.reading.files import Gathered, IncidentFile, folder_partition, named_owner, owner_of
from app.reading.format import FormatRow, PasteContext, PastedLine, TextFormat
from app.reading.names import TOPIC
from app.reading.sampling import FileSample
from engine.model.phrases import phrase

MARKS: Final = "replication-offset-checkpoint"
STARTS: Final = "log-start-offset-checkpoint"
EPOCHS: Final = "leader-epoch-checkpoint"
RECOVERY: Final = "recovery-point-offset-checkpoint"
NEEDED: Final = (MARKS, STARTS, EPOCHS)
NOT_NEEDED: Final = (RECOVERY, "cleaner-offset-checkpoint")
FILES: Final = (EPOCHS, MARKS, RECOVERY)
"""Files of which a paste may have the contents."""

_EPOCH: Final = re.compile(r"(-?\d+) (-?\d+)")
_OFFSET: Final = re.compile(r"(\S+) (-?\d+) (-?\d+)")
_ENDS: Final = re.compile(r"#|==>|\$ |Topic\s?:|\[.*\]\s*[$#]|[^@\s]+@[^\s$#][^$#]*[$#]")
"""Lines that end a file even if more entries were announced."""


def epochs(text: str) -> list[tuple[int, int]]:
    """Parse `leader-epoch-checkpoint`: (epoch, first offset).  Raises MalformedError."""
    return [(int(row[1]), int(row[2])) for row in _entries(text, _EPOCH)]


def offsets(text: str) -> dict[tuple[str, int], int]:
    """Parse `replication-offset-checkpoint` and its like: (topic, partition) -> offset.

    Raises MalformedError.
    """
    return {(row[1], int(row[2])): int(row[3]) for row in _entries(text, _OFFSET)}


def _entries(text: str, form: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the entries; none of an empty file.  Raises MalformedError where the file is none."""
    if not text:
        return
    lines = [" ".join(line.split()) for line in text.split("\n")]
    if len(lines) < 2 or not lines[0].isdigit() or not lines[1].isdigit():
        raise MalformedError(
            "Line 1: a checkpoint begins with its version and its number of entries."
        )
    entries = [line for line in lines[2:] if line]
    if len(entries) < int(lines[1]):
        raise MalformedError(
            phrase("Line {0}: {1} entries are announced.", len(entries) + 3, lines[1])
        )
    for number, line in enumerate(entries, 3):
        row = form.fullmatch(line)
        if row is None:
            raise MalformedError(
                phrase("Line {0}: an entry has {1} fields, not “{2}”.", number, form.groups, line)
            )
        yield row


def _owner(path: Path, file: str) -> str:
    """Find the broker: by meta.properties, by a number in the name, or by the folders."""
    beside = path.with_name(path.name.replace(file, "").strip("-_. ") or file)
    return owner_of(path) or named_owner(beside)


def _recognise(path: Path, node: str, sample: Callable[[], FileSample]) -> IncidentFile | None:
    file = next((one for one in NEEDED if one in path.name), "")
    return IncidentFile(path, "checkpoint", node or _owner(path, file)) if file else None


def _recognise_useless(
    path: Path, node: str, sample: Callable[[], FileSample]
) -> IncidentFile | None:
    file = next((one for one in NOT_NEEDED if one in path.name), "")
    return IncidentFile(path, "recovery", node) if file else None


def _read(source: IncidentFile, gathered: Gathered) -> Iterator[Event]:
    partition, path = gathered.wanted, source.path
    if partition is None:
        return
    file = next(name for name in NEEDED if name in path.name)
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise MalformedError(
            phrase("Byte {0}: this is not the text of a checkpoint.", error.start)
        ) from None
    of_folder = folder_partition(path)
    if file == EPOCHS:
        about = of_folder
        if about is not None and about != partition:
            return
        entries = epochs(text)
        if about is None:
            gathered.complain(
                phrase(
                    "{0}: the partition of these epochs is unknown; keep the file in the "
                    "partition's folder, as {1}.",
                    path,
                    f"{partition}/{file}",
                )
            )
        elif not source.node:
            gathered.complain(_nobody(path))
        else:
            gathered.replica(source.node).epochs = entries
        return
    offset = offsets(text).get((partition.topic, partition.index))
    if not source.node:
        gathered.complain(_nobody(path))
    elif offset is None:
        gathered.complain(phrase("{0}: it has no line of {1}.", path, partition))
    elif file == MARKS:
        gathered.replica(source.node).hw = offset
    else:
        gathered.replica(source.node).start = offset
    yield from ()


def _nobody(path: Path) -> str:
    return phrase(
        "{0}: the broker of this checkpoint is unknown; name the file like 2={1}.", path, path.name
    )


def _read_lines(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
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
    after = [line.text for line in lines[at + 1 : at + 3]]
    if not after or not re.fullmatch(r"\d{1,6}", after[0]):
        return False
    if after[0] == "0" or len(after) < 2:
        return named
    return named or bool(_EPOCH.fullmatch(after[1]) or _OFFSET.fullmatch(after[1]))


def _take(first: PastedLine, entries: list[PastedLine], context: PasteContext) -> None:
    facts = context.facts
    try:
        _check_owner(first.number, entries, context)
    except PasteError as bad:
        facts.refuse(first.number, bad)
        return
    pairs: list[tuple[int, int]] = []
    for line in entries:
        try:
            if context.file == EPOCHS:
                pairs.append(_epoch(line.text, pairs))
                facts.epochs[context.broker, context.partition] = pairs
            else:
                _offset(line.text, context)
        except PasteError as bad:
            facts.refuse(line.number, bad)


def _check_owner(number: int, entries: list[PastedLine], context: PasteContext) -> None:
    """Raise PasteError where nothing says whose file this is, and offer what a prompt suggests."""
    if not context.file:
        pairs = bool(entries) and _EPOCH.fullmatch(entries[0].text) is not None
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


def _epoch(text: str, entries: list[tuple[int, int]]) -> tuple[int, int]:
    pair = _EPOCH.fullmatch(text)
    if pair is None:
        raise PasteError("pair", text=text)
    epoch = number_of(pair[1], "epoch", MOST_EPOCH)
    offset = number_of(pair[2], "offset", MOST_NUMBER)
    if entries and not (entries[-1][0] < epoch and entries[-1][1] <= offset):
        raise PasteError("falling", text=text)
    return epoch, offset


def _offset(text: str, context: PasteContext) -> None:
    entry = _OFFSET.fullmatch(text)
    if entry is None or not TOPIC.fullmatch(entry[1]):
        raise PasteError("entry", text=text)
    where = context.facts.marks if context.file == MARKS else context.facts.recovery
    name = f"{entry[1]}-{number_of(entry[2], 'partition', MOST_ID)}"
    where[context.broker, name] = number_of(entry[3], "offset", MOST_NUMBER)


FORMAT: Final = TextFormat(
    "checkpoint",
    commands=FILES,
    read_lines=_read_lines,
    rows=(FormatRow(NEEDED, "incident.known.disk"),),
    recognise=_recognise,
    read_file=_read,
)
UNUSED: Final = TextFormat("recovery", recognise=_recognise_useless)
