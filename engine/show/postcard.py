"""A step of a run as the picture that goes with a link: question, version, tanks, verdict."""

from __future__ import annotations

import re
from typing import Any, Final

from engine.show import miniature

WIDTH: Final = 1200
HEIGHT: Final = 630
GROUND: Final = "#fbfbf9"
LINE_CHARS: Final = 46
"""Letters of the title in one line; a letter of Chinese counts twice."""
LINES: Final = 2


def postcard(
    title: str, version: str, verdict: str, bad: bool, view: dict[str, Any], names: dict[int, str]
) -> str:
    """The whole SVG, in colours of its own; `verdict` is the ribbon's sentence, red when `bad`."""
    lines = wrapped(title)
    size = 52 if len(lines) == 1 else 44
    head = "".join(
        f'<text x="60" y="{84 + i * 52}" font-size="{size}" font-weight="700">'
        f"{miniature.escaped(line)}</text>"
        for i, line in enumerate(lines)
    )
    top = 100 + 52 * len(lines)
    place = f'<g transform="translate(100 {top + 8})">'
    drawn = miniature.draw(view, names, WIDTH - 200, HEIGHT - top - 96)
    ribbon = miniature.COLOURS["bad" if bad else "ok"]
    told = "".join(
        [
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>',
            f'<g fill="{miniature.COLOURS["ink"]}">{head}</g>',
            f'<text x="60" y="{top - 24}" font-size="28" fill="var(--ink2)">',
            f"{miniature.escaped(version)}</text>",
            f"{place}{drawn}</g>",
            f'<rect y="{HEIGHT - 72}" width="{WIDTH}" height="72" fill="{ribbon}"/>',
            f'<text x="60" y="{HEIGHT - 25}" font-size="32" font-weight="650" fill="#ffffff">'
            f"{miniature.escaped(verdict)}</text>",
            f'<text x="{WIDTH - 60}" y="{HEIGHT - 27}" font-size="24" text-anchor="end" '
            'fill="#ffffff">≈ Highwater</text>',
        ]
    )
    box = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    body = miniature.coloured(told)
    family = "Noto Sans, DejaVu Sans, Noto Sans CJK SC, sans-serif"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="{family}">{body}</svg>'


def wrapped(title: str) -> list[str]:
    """At most LINES lines of at most LINE_CHARS, parted between words where there are any."""
    lines, line = [], ""
    for word in re.findall(r"[ -~]+? |[ -~]+|[^ -~]", title):
        if line and _wide(line + word.rstrip()) > LINE_CHARS:
            lines.append(line.rstrip())
            line = ""
        line += word
    lines.append(line.rstrip())
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], lines[LINES - 1][: LINE_CHARS - 1].rstrip() + "…"]
    return lines


def _wide(text: str) -> int:
    return sum(2 if ord(letter) > 0x2E7F else 1 for letter in text)
