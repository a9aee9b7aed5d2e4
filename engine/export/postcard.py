"""A step of a run as the picture that goes with a link: question, version, tanks, verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Final

from engine.export import tanks
from engine.story.verdict import BROKEN, GONE, KEPT, LOST, UNAVAILABLE, UNTESTED
from engine.view.wire import PartitionView, View

WIDTH: Final = 1200
HEIGHT: Final = 630
GROUND: Final = "#fbfbf9"
LINE_CHARS: Final = 46
"""Letters of the title in one line; a letter of Chinese counts twice."""
SAID_CHARS: Final = 86
"""Letters of the smaller sentences in one line."""
LINES: Final = 2
EDGE: Final = 60
"""Units left free at either side."""
WORDS: Final = 34
"""Units below the tanks for what each broker is doing."""
RIBBONS: Final = {
    LOST: "bad",
    BROKEN: "bad",
    GONE: "warn",
    UNAVAILABLE: "warn",
    KEPT: "ok",
    UNTESTED: "ink2",
    "open": "hw",
}
"""Kind of a verdict, or "open" while nothing is decided -> colour of the ribbon."""
FONTS: Final = "Noto Sans, DejaVu Sans"
HAN_FONTS: Final = "Noto Sans CJK SC, Noto Sans SC, WenQuanYi Micro Hei, PingFang SC"


@dataclass(frozen=True)
class Postcard:
    """Texts on the picture beside the tanks."""

    title: str
    version: str
    verdict: str
    kind: str
    """One of RIBBONS."""
    said: str = ""
    """Sentence of the event at this step."""
    answer: str = ""
    """Lesson of the whole run, below the verdict."""
    names: Mapping[int, str] = field(default_factory=dict)
    doing: Mapping[int, str] = field(default_factory=dict)
    """In a word or two what each broker does: "leads · epoch 1", "crashed"."""


def partition_of(view: View) -> PartitionView | None:
    """Return the partition to draw: acknowledged records are gone, else logs differ."""
    lost = set(view["ledger"]["lost"])

    def interest(part: PartitionView) -> tuple[bool, bool, bool]:
        known = [*part["replicas"].values()]
        ids = {one["id"] for replica in known for one in [*replica["records"], *replica["cut"]]}
        cut = any(replica["cut"] for replica in known)
        return bool(ids & lost), cut or part["differ"] is not None, part["record"]["leader"] < 0

    return max(view["partitions"], key=interest, default=None)


def postcard(card: Postcard, view: View) -> str:
    """Return the whole SVG, in colours of its own."""
    part = partition_of(view)
    view = {**view, "partitions": [part] if part else []}
    lines = wrapped(card.title)
    size = 52 if len(lines) == 1 else 44
    head = "".join(_text(EDGE, 80 + i * 52, size, line, bold=True) for i, line in enumerate(lines))
    under = 80 + 52 * len(lines) - 8
    answer = wrapped(_whole(card.answer), SAID_CHARS) if card.answer else []
    ribbon = 74 + 34 * len(answer)
    top, room = under + 20, HEIGHT - ribbon - under - 20 - WORDS
    place = f'<g transform="translate(100 {top})">'
    drawn = tanks.draw(view, WIDTH - 200, room, names=card.names)
    told = "".join(
        [
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>',
            f'<g fill="var(--ink)">{head}</g>',
            _moment(card, under),
            f"{place}{drawn}</g>{_doing(card, part, top + room + 16)}",
            _ribbon(card, answer, ribbon),
        ]
    )
    box = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    # A renderer takes the first family that is there for all letters, and any for those it lacks.
    han = _HAN.search(card.title + card.verdict + card.said)
    family = f"{HAN_FONTS}, {FONTS}" if han else f"{FONTS}, {HAN_FONTS}"
    body = tanks.coloured(told)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="{family}, sans-serif">'
        f"{body}</svg>"
    )


_HAN: Final = re.compile("[\u3400-\u9fff]")


def _text(x: float, y: float, size: int, words: str, bold: bool = False, more: str = "") -> str:
    style = f'font-size="{size}"{_BOLD if bold else ""}{more}'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(words)}</text>'


_BOLD: Final = ' font-weight="700"'
_SENTENCE: Final = re.compile(r".+?(?:[.;] |[。；]|\Z)", re.DOTALL)


def _whole(answer: str) -> str:
    """Return as many whole sentences as two lines take; the first one in any case."""
    kept = ""
    for sentence in _SENTENCE.findall(answer):
        if kept and _wide(kept + sentence) > LINES * SAID_CHARS - 8:
            break
        kept += sentence
    kept = kept.rstrip()
    return kept[:-1] + ("。" if kept[-1] == "；" else ".") if kept[-1:] in (";", "；") else kept


def _moment(card: Postcard, y: int) -> str:
    """Return the texts for the release and the event."""
    said = f" · {card.said}" if card.said else ""
    [line] = wrapped(card.version + said, SAID_CHARS - 10, 1)
    rest = line.removeprefix(card.version)
    version = f'<tspan font-weight="700" fill="var(--ink)">{escape(card.version)}</tspan>'
    return (
        f'<text x="{EDGE}" y="{y}" font-size="26" fill="var(--ink2)">{version}{escape(rest)}</text>'
    )


def _doing(card: Postcard, part: PartitionView | None, y: int) -> str:
    """Return what each broker does, for the text under its tank."""
    shown = tanks.in_order(part) if part else []
    col = (WIDTH - 200) / max(1, len(shown))
    return "".join(
        _text(
            100 + col * (i + 0.5),
            y,
            22 if col > 180 else 16,
            card.doing.get(broker, ""),
            more=' text-anchor="middle" fill="var(--ink2)"',
        )
        for i, broker in enumerate(shown)
    )


def _ribbon(card: Postcard, answer: list[str], high: int) -> str:
    top = HEIGHT - high
    lines = [_text(EDGE, top + 50, 36, card.verdict, bold=True)]
    lines += [_text(EDGE, top + 86 + 34 * i, 24, line) for i, line in enumerate(answer)]
    brand = _text(WIDTH - EDGE, top + 48, 24, "≈ Highwater", more=' text-anchor="end"')
    return (
        f'<rect y="{top}" width="{WIDTH}" height="{high}" fill="var(--{RIBBONS[card.kind]})"/>'
        f'<g fill="#ffffff">{"".join(lines)}{brand}</g>'
    )


def wrapped(title: str, most: int = LINE_CHARS, lines_most: int = LINES) -> list[str]:
    """Return a title wrapped to at most `lines_most` lines of at most `most` letters.

    Lines are parted between words where there are any; an … stands for what is left out.
    """
    lines, line = [], ""
    for word in _WORD.findall(title):
        if line and _wide(line + word.rstrip()) > most:
            lines.append(line.rstrip())
            line = ""
        line += word
    lines.append(line.rstrip())
    if len(lines) > lines_most:
        last = lines[lines_most - 1]
        while _wide(last) > most - 1:
            last = last[:-1]
        lines = [*lines[: lines_most - 1], last.rstrip(" ,，、;；") + "…"]
    return lines


_WORD: Final = re.compile(r"[ -~]+? |[ -~]+|[^ -~][，。；：、！？）》”’]*")
"""No line begins with a mark that ends what is before it."""


def _wide(text: str) -> int:
    return sum(2 if ord(letter) > 0x2E7F else 1 for letter in text)
