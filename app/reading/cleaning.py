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
    lines = [PastedLine(number, _plain(content)) for number, content in enumerate(raw, 1)]
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
    filled = [each for each in lines if each.text.strip()]
    quoted = [line for line in filled if re.match(r"\s*>", line.text)]
    if not quoted or len(quoted) * 2 < len(filled):
        return lines
    return [PastedLine(line.number, re.sub(r"^\s*(?:> ?)+", "", line.text)) for line in lines]


def _without_prefix(lines: list[PastedLine], facts: Facts) -> list[PastedLine]:
    """Remove the prefix of every line, or of rows; digits in it may differ."""
    filled = [each for each in lines if each.text.strip()]
    shapes = Counter(shape for each in filled if (shape := _shape(each.text)))
    behind = {_shape(each.text) for each in filled if _ROW.search(each.text)} - {""}
    common = shapes.most_common(1)[0] if shapes else ("", 0)
    every = len(filled) > 1 and common[1] == len(filled)
    taken = behind or ({common[0]} if every else set())
    example, stripped = "", []
    for line in lines:
        match = _PREFIX.match(line.text)
        if match and _shape(line.text) in taken:
            example = example or match[0].strip()
            stripped.append(PastedLine(line.number, line.text[match.end() :]))
        else:
            stripped.append(PastedLine(line.number, _empty_behind(line.text, taken)))
    stripped, other = _without_marks(stripped)
    if example or other:
        facts.note(0, "prefix", text=example or other)
    return stripped


def _without_marks(lines: list[PastedLine]) -> tuple[list[PastedLine], str]:
    """Remove marks in front of rows; return the rows and one example of a mark.

    It is a mark if it is the same for all rows or has no letters, such as a number, a dash or a
    quotation mark.
    """
    rows = [(numbered, match) for numbered in lines if (match := _ROW.search(numbered.text))]
    fronts = Counter(_normal(numbered.text[: match.start()]).strip() for numbered, match in rows)
    del fronts[""]
    example, stripped = "", []
    for line in lines:
        match = _ROW.search(line.text)
        front = line.text[: match.start()].strip() if match else ""
        if match and front and front[0] != "#" and len(front) <= LONGEST:
            same = fronts[_normal(front).strip()]
            if same > 1 or not re.search(r"[A-Za-z]", front):
                example = example or front
                row = line.text[match.start() :]
                if front[-1] in QUOTES:
                    row = row.rstrip(QUOTES + ",")
                stripped.append(PastedLine(line.number, row))
                continue
        stripped.append(line)
    return stripped, example


def _unwrapped(lines: list[PastedLine]) -> list[PastedLine]:
    """Join rows that a terminal broke at its width, in the middle of a number too.

    Such a row has the length of the longest line, and no ISR yet.
    """
    width = max((len(each.text) for each in lines), default=0)
    joined: list[PastedLine] = []
    open_row = False
    for line in lines:
        if open_row and line.text.strip() and "Topic:" not in line.text:
            joined[-1] = PastedLine(joined[-1].number, joined[-1].text + line.text)
        else:
            joined.append(line)
        row = joined[-1].text
        open_row = len(line.text) == width and "Partition:" in row and "Isr:" not in row
    return joined


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
    bounded: list[PastedLine] = []
    size = filled = 0
    for line in lines:
        match = _HEALTHY.search(line.text)
        if match and set(match[2].split(",")) == set(match[3].split(",")):
            members = {int(member) for member in match[3].split(",") if member.isdigit()}
            facts.left_out += 1
            if members <= facts.seen:
                facts.leading.add(int(match[1]))
                continue
            facts.seen |= members
            facts.left_out -= 1
        size += len(raw[line.number - 1]) + 1
        if size > MOST_CHARS:
            facts.problem(0, "too_long", most=MOST_CHARS)
            break
        filled += line.text.strip() != ""
        if filled > MOST_LINES:
            facts.problem(line.number, "too_many_lines", most=MOST_LINES)
            break
        bounded.append(line)
    return bounded
