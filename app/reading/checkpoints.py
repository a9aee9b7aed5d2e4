"""The checkpoint files of a broker: a version, a number of entries, then one entry a line."""

from __future__ import annotations

from app.kafka.cursor import MalformedError
from engine.model.phrases import phrase


def rows(text: str) -> list[list[str]]:
    """Return the entries, each split at blanks; none of an empty file.

    Raises Malformed where the file is none.
    """
    if not text:
        return []
    lines = text.split("\n")
    if len(lines) < 2 or not lines[0].strip().isdigit() or not lines[1].strip().isdigit():
        raise MalformedError(
            "Line 1: a checkpoint begins with its version and its number of entries."
        )
    found = [line.split() for line in lines[2:] if line.strip()]
    if len(found) < int(lines[1]):
        raise MalformedError(
            phrase("Line {0}: {1} entries are announced.", len(found) + 3, lines[1].strip())
        )
    return found


def epochs(text: str) -> list[tuple[int, int]]:
    """Parse `leader-epoch-checkpoint`: (epoch, first offset).  Raises Malformed."""
    return [(int(first), int(second)) for first, second in _numbers(text, 2)]


def offsets(text: str) -> dict[tuple[str, int], int]:
    """Parse `replication-offset-checkpoint` and its like: (topic, partition) -> offset.

    Raises Malformed.
    """
    return {(row[0], int(row[1])): int(row[2]) for row in _numbers(text, 3)}


def _numbers(text: str, width: int) -> list[list[str]]:
    found = rows(text)
    for number, row in enumerate(found, 3):
        if len(row) != width or not all(_whole(word) for word in row[width == 3 :]):
            raise MalformedError(
                phrase(
                    "Line {0}: an entry has {1} fields, not “{2}”.", number, width, " ".join(row)
                )
            )
    return found


def _whole(word: str) -> bool:
    return word.lstrip("-").isdigit()
