"""A step of a run as the picture that goes with a link: question, version, tanks, verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Final

from engine.export import tanks
from engine.export.tank_layout import Say, TankRoom
from engine.story.verdict import BROKEN, GONE, KEPT, LOST, UNAVAILABLE, UNTESTED
from engine.view.wire import View

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
ROOM: Final = TankRoom(
    26, 22, 18, least=74, cell=36, tallest=90, foot=84, fold=30, sunk=22, shelf=0
)
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
    say: Say | None = None
    """Words of the pages, for what each broker does: "leads · epoch 1", "crashed"."""


def postcard(card: Postcard, view: View) -> str:
    """Return the whole SVG, in colours of its own."""
    lines = wrapped(card.title)
    size = 52 if len(lines) == 1 else 44
    head = "".join(_text(EDGE, 80 + i * 52, size, line, bold=True) for i, line in enumerate(lines))
    under = 80 + 52 * len(lines) - 8
    answer = wrapped(_whole(card.answer), SAID_CHARS) if card.answer else []
    ribbon = 74 + 34 * len(answer)
    top, room = under + 20, HEIGHT - ribbon - under - 32
    place = f'<g transform="translate(100 {top})">'
    drawn = tanks.draw(view, WIDTH - 200, room, ROOM, card.say)
    drawing = "".join(
        [
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>',
            f'<g fill="var(--ink)">{head}</g>',
            _moment(card, under),
            f"{place}{drawn}</g>",
            _ribbon(card, answer, ribbon),
        ]
    )
    box = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    # A renderer takes the first family that is there for all letters, and any for those it lacks.
    han = _HAN.search(card.title + card.verdict + card.said)
    family = f"{HAN_FONTS}, {FONTS}" if han else f"{FONTS}, {HAN_FONTS}"
    body = tanks.coloured(drawing)
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
    text = ""
    for sentence in _SENTENCE.findall(answer):
        if text and _wide(text + sentence) > LINES * SAID_CHARS - 8:
            break
        text += sentence
    text = text.rstrip()
    return text[:-1] + ("。" if text[-1] == "；" else ".") if text[-1:] in (";", "；") else text


def _moment(card: Postcard, y: int) -> str:
    """Return the texts for the release and the event."""
    said = f" · {card.said}" if card.said else ""
    [line] = wrapped(card.version + said, SAID_CHARS - 10, 1)
    rest = line.removeprefix(card.version)
    version = f'<tspan font-weight="700" fill="var(--ink)">{escape(card.version)}</tspan>'
    return (
        f'<text x="{EDGE}" y="{y}" font-size="26" fill="var(--ink2)">{version}{escape(rest)}</text>'
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
