"""The lines of a paste without what mail, chats, containers and terminals put around them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from app.reading.facts import MOST_CHARS, MOST_LINES, Facts
from app.reading.format import PastedLine
from app.reading.layouts import ANSI, LEVEL

_INVISIBLE: Final = str.maketrans({"\ufeff": "", "\u200b": "", "\xa0": " ", "\u2028": " "})
_FENCE: Final = re.compile(r"\s*+(?:```|~~~)\s*+\w*\s*|\s*+\{(?:code|noformat)[^}]*\}\s*")
_ROW: Final = re.compile(
    r"Topic: ?[\w.-]+\s*(?:TopicId:|PartitionCount:|Partition:)|partition \d+, leader -?\d+"
)
_NAMES: Final = (
    r"(?!(?:Topic|TopicId|ClusterId|Leader|LeaderId|Configs|Partition|Replicas|Isr|Elr|Current\w*|"
    r"LeaderEpoch|HighWatermark|MaxFollower\w*|Metadata|Error|Dumping|data\w*)\b)"
)
_TIME: Final = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_SHAPES: Final = (
    rf"{_TIME}\s+",
    r"\S[\w.@/ ()-]{0,80}?\s{0,20}[|│]\s?",  # docker compose logs
    rf"{_NAMES}[\w.@/-]{{1,80}}:\d+[:-]\s?",  # grep -n over files
    rf"{_NAMES}[\w.@/-]{{1,80}}:\s",  # pdsh, ansible
    r"\d{1,6}[:-]\s?|\d{1,6}[\t|]",  # grep -n, cat -n
    r"\[[\w./ -]{1,80}\]\s+",  # kubectl logs --prefix
    r"[>|│+]\s?|[-*•]\s",
)
_LOGGED: Final = rf"{_TIME}\s+\[?{LEVEL}"
"""The time of a logger belongs to its line."""
_PREFIX: Final = re.compile(rf"\s*+(?:(?!{_LOGGED})(?:{'|'.join(_SHAPES)})){{1,3}}(?=\s*\S|$)")
QUOTES: Final = "\"'`"
LONGEST: Final = 120
"""Characters of a prefix that is known by nothing but its being the same everywhere."""
_HEALTHY: Final = re.compile(
    r"Leader:\s*(\d+)\s+Replicas:\s*([\d,]+)\s+Isr:\s*([\d,]+)(?!\S)(?!.*Offline:\s*\d)"
)


def lines_of(text: str, facts: Facts) -> list[PastedLine]:
    """Return the lines that are read, with their numbers; note what is removed."""
    raw = text.splitlines()
    whole = len(text) <= MOST_CHARS and len(raw) <= MOST_LINES
    lines = [PastedLine(number, _plain(one)) for number, one in enumerate(raw, 1)]
    lines = _without_fences(_unquoted(lines))
    lines = _unwrapped(_without_fences(_without_prefix(lines, facts)))
    if not whole:
        lines = _bounded(lines, raw, facts)
    return lines


def _plain(text: str) -> str:
    return ANSI.sub("", text[:MOST_CHARS].translate(_INVISIBLE)).rstrip()


def _without_fences(lines: list[PastedLine]) -> list[PastedLine]:
    return [one for one in lines if not _FENCE.fullmatch(one.text)]


def _unquoted(lines: list[PastedLine]) -> list[PastedLine]:
    """Remove the > of mail and of Markdown, if most lines have it."""
    filled = [one for one in lines if one.text.strip()]
    quoted = [one for one in filled if re.match(r"\s*>", one.text)]
    if not quoted or len(quoted) * 2 < len(filled):
        return lines
    return [PastedLine(one.number, re.sub(r"^\s*(?:> ?)+", "", one.text)) for one in lines]


def _without_prefix(lines: list[PastedLine], facts: Facts) -> list[PastedLine]:
    """Remove the prefix of every line, or of rows; digits in it may differ."""
    filled = [one for one in lines if one.text.strip()]
    shapes = Counter(shape for one in filled if (shape := _shape(one.text)))
    behind = {_shape(one.text) for one in filled if _ROW.search(one.text)} - {""}
    common = shapes.most_common(1)[0] if shapes else ("", 0)
    every = len(filled) > 1 and common[1] == len(filled)
    taken = behind or ({common[0]} if every else set())
    example, found = "", []
    for one in lines:
        match = _PREFIX.match(one.text)
        if match and _shape(one.text) in taken:
            example = example or match[0].strip()
            found.append(PastedLine(one.number, one.text[match.end() :]))
        else:
            found.append(PastedLine(one.number, _empty_behind(one.text, taken)))
    found, other = _without_marks(found)
    if example or other:
        facts.note(0, "prefix", text=example or other)
    return found


def _without_marks(lines: list[PastedLine]) -> tuple[list[PastedLine], str]:
    """Remove marks in front of rows; return the rows and one example of a mark.

    It is a mark if it is the same for all rows or has no letters, such as a number, a dash or a
    quotation mark.
    """
    rows = [(one, match) for one in lines if (match := _ROW.search(one.text))]
    fronts = Counter(_normal(one.text[: match.start()]).strip() for one, match in rows)
    del fronts[""]
    example, found = "", []
    for one in lines:
        match = _ROW.search(one.text)
        front = one.text[: match.start()].strip() if match else ""
        if match and front and front[0] != "#" and len(front) <= LONGEST:
            same = fronts[_normal(front).strip()]
            if same > 1 or not re.search(r"[A-Za-z]", front):
                example = example or front
                row = one.text[match.start() :]
                if front[-1] in QUOTES:
                    row = row.rstrip(QUOTES + ",")
                found.append(PastedLine(one.number, row))
                continue
        found.append(one)
    return found, example


def _unwrapped(lines: list[PastedLine]) -> list[PastedLine]:
    """Join rows that a terminal broke at its width, in the middle of a number too.

    Such a row has the length of the longest line, and no ISR yet.
    """
    width = max((len(one.text) for one in lines), default=0)
    found: list[PastedLine] = []
    open_row = False
    for one in lines:
        if open_row and one.text.strip() and "Topic:" not in one.text:
            found[-1] = PastedLine(found[-1].number, found[-1].text + one.text)
        else:
            found.append(one)
        row = found[-1].text
        open_row = len(one.text) == width and "Partition:" in row and "Isr:" not in row
    return found


def _empty_behind(text: str, taken: set[str]) -> str:
    """Return "" for a line that has the prefix and nothing behind it."""
    return "" if _normal(text.strip()) in {one.strip() for one in taken} else text


def _shape(text: str) -> str:
    """Return the prefix of a line with its digits made equal; "" without one."""
    match = _PREFIX.match(text)
    row = _ROW.search(text)
    if match is None or (row is not None and row.start() < match.end()):
        return ""
    return _normal(match[0]).strip()


def _normal(text: str) -> str:
    return re.sub(r"\d+", "#", re.sub(r"\s+", " ", text))


def _bounded(lines: Sequence[PastedLine], raw: list[str], facts: Facts) -> list[PastedLine]:
    """Keep what fits; rows of healthy partitions go first.

    A row stays if it is the first to show one of its brokers in sync.
    """
    kept: list[PastedLine] = []
    size = filled = 0
    for one in lines:
        match = _HEALTHY.search(one.text)
        if match and set(match[2].split(",")) == set(match[3].split(",")):
            members = {int(member) for member in match[3].split(",") if member.isdigit()}
            facts.left_out += 1
            if members <= facts.seen:
                facts.leading.add(int(match[1]))
                continue
            facts.seen |= members
            facts.left_out -= 1
        size += len(raw[one.number - 1]) + 1
        if size > MOST_CHARS:
            facts.problem(0, "too_long", most=MOST_CHARS)
            break
        filled += one.text.strip() != ""
        if filled > MOST_LINES:
            facts.problem(one.number, "too_many_lines", most=MOST_LINES)
            break
        kept.append(one)
    return kept
