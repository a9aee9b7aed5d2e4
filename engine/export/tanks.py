"""A step as tanks: a log is an upright tank, its high watermark the water in it.

Records are stacked, so that equal height is equal offset in all tanks; below the water is
committed.  The markup names colours by custom properties of the page, so one picture serves both
themes; `COLOURS` says what they are where there is no page.

A picture that says nothing but names and records serves as a thumbnail.  With words it says under
each tank what its broker does.  With a prefix every part that lasts from one step to the next has a
key (`data-k`), by which a page moves it instead of redrawing it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Final

from engine.export import voter_band
from engine.export.tank_layout import (
    ON_HUE,
    PHONE,
    Label,
    Say,
    ShelvedSegments,
    Tank,
    TankCell,
    TankRoom,
    fitted,
    lay_out,
    telling_partition,
    text_width,
)
from engine.view.wire import StoreView, View

COLOURS: Final = {
    "panel": "#ffffff",
    "ink": "#1a1c1e",
    "ink2": "#565b61",
    "edge": "#7c828a",
    "line": "#dfe0e2",
    "water": "#cfe3f8",
    "crest": "#2b7fdb",
    "hw": "#0b3d91",
    "ok": "#1b6e3c",
    "bad": "#b3261e",
    "warn": "#8a5a00",
    "div": "#a3157a",
    "accent": "#0b5cad",
    "e0": "#f0cf8e",
    "e1": "#ee8866",
    "e2": "#9fd09a",
    "e3": "#d8a9e0",
    "e4": "#f3ef9b",
    "e5": "#c2a878",
    "e6": "#c9ced6",
}
"""Names of these colours on the page, in light."""

TICK_ON_HUE: Final = "#0d3b20"
"""A tick there: the page's own green is as pale as the hues in the dark theme."""
CROWN: Final = "M0 9l0-8 3.5 4 2.5-5 2.5 5 3.5-4v8z"
HOURGLASS: Final = "M0 0h8l-8 10h8z"
CREST: Final = 'stroke="var(--crest)" stroke-width="1.8"'


def coloured(markup: str) -> str:
    """Return the markup with its colours filled in, for places without a page."""
    return re.sub(r"var\(--(\w+)\)", lambda found: COLOURS[found[1]], markup)


def draw(
    view: View,
    width: float,
    height: float,
    room: TankRoom = PHONE,
    say: Say | None = None,
    prefix: str = "",
    highest: int = 0,
) -> str:
    """Return the inside of an <svg> of width x height: the partition in which most is to be seen.

    The voters of a quorum stand above it.  `lay_out` says what the other arguments mean.  Pictures
    that stand on one page have different prefixes: what has an id in one is found by it.
    """
    part = telling_partition(view)
    if part is None:
        return ""
    voters, band = "", 0.0
    if "quorum" in view:
        voters = voter_band.draw(view["quorum"], width, room, say)
        band = voter_band.height(room)
        room = room.within(height - band)
    tanks = lay_out(view, part, (width, height - band), say, room, highest)
    drawn = [
        TankDrawing(tank, room, f"{prefix}b{tank.broker}" if prefix else "").markup()
        for tank in tanks
    ]
    if "store" in view:
        drawn.insert(0, _board(view["store"], tanks, room, say))
    below = "".join(drawn)
    return f'{voters}<g transform="translate(0 {_n(band)})">{below}</g>' if voters else below


def _board(store: StoreView, tanks: list[Tank], room: TankRoom, say: Say | None) -> str:
    """Return the board of remote storage below all tanks, red where the store fails."""
    if not room.shelf or not tanks:
        return ""
    x, w = tanks[0].x - 4, tanks[-1].x + tanks[-1].w - tanks[0].x + 8
    high = room.small + 6
    y = tanks[0].floor + room.shelf - high
    state = "down" if not store["up"] else "slow" if store["slow"] else "head"
    words = say(f"store.{state}", {"n": store["slow"]}) if say else ""
    label = fitted(words, w - 8, room.small, room.small)
    tone, edge = ("ink", "edge") if store["up"] else ("bad", "bad")
    dash = "" if store["up"] else ' stroke-dasharray="5 4"'
    return (
        f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(high)}" rx="3" '
        f'fill="var(--line)" stroke="var(--{edge})"{dash}/>'
    ) + _text(x + w / 2, y + high / 2 + label[1] * 0.36, label, f"var(--{tone})", 400)


@dataclass(frozen=True)
class TankDrawing:
    """One tank as markup, from the left wall on."""

    tank: Tank
    room: TankRoom
    key: str
    """Beginning of the keys of its parts; "" where nothing will move."""

    def markup(self) -> str:
        tank = self.tank
        parts = [*self._glass(), *self._fold(), *map(self._cell, tank.cells), *self._sunk()]
        parts += [*self._wall(), *self._mark(), *map(self._shelved, tank.shelf), *self._foot()]
        key = f' data-k="{self.key}"' if self.key else ""
        return f'<g{key} transform="translate({_n(tank.x)} 0)">{"".join(parts)}</g>'

    def _k(self, name: str) -> str:
        return f' data-k="{self.key}:{name}"' if self.key else ""

    def _outline(self) -> str:
        wide, top, floor = self.tank.w, self.tank.top, self.tank.floor
        r = min(8.0, wide / 8)
        return (
            f"M0 {_n(top)}V{_n(floor - r)}q0 {_n(r)} {_n(r)} {_n(r)}h{_n(wide - 2 * r)}"
            f"q{_n(r)} 0 {_n(r)} {_n(-r)}V{_n(top)}"
        )

    def _glass(self) -> Iterator[str]:
        """Yield the ground, and the water under its waves, which the wall cuts off."""
        tank, outline = self.tank, self._outline()
        yield f'<path d="{outline}" fill="var(--panel)"/>'
        level = tank.bed + 4 if tank.level is None else tank.level
        if self.key:
            waves = "q9 -5 18 0t18 0" * (int(tank.w / 36) + 2)
            yield (
                f'<clipPath id="{self.key}-wall"><path d="{outline}z"/></clipPath>'
                f'<g clip-path="url(#{self.key}-wall)"><g{self._k("water")} '
                f'transform="translate(0 {_n(level)})"><path class="water" '
                f'd="M-18 0{waves}V{_n(tank.floor)}H-18z" fill="var(--water)"/>'
                f'<path d="M-18 0{waves}" fill="none" {CREST}/></g></g>'
            )
        elif tank.level is not None:
            step = tank.w / 6
            surface = f"M0 {_n(level)}" + f"q{_n(step / 2)} -4 {_n(step)} 0t{_n(step)} 0" * 3
            yield (
                f'<path d="{surface}V{_n(tank.bed - 1)}H0z" fill="var(--water)"/>'
                f'<path d="{surface}" fill="none" {CREST}/>'
            )

    def _sunk(self) -> Iterator[str]:
        """Yield what was deleted at the log's start: it has sunk into the floor."""
        high = self.tank.floor - self.tank.bed
        if high >= 2:
            yield (
                f'<rect{self._k("sunk")} x="1.5" y="{_n(self.tank.bed)}" rx="6" '
                f'width="{_n(self.tank.w - 3)}" height="{_n(high - 1.5)}" fill="var(--line)"/>'
            )

    def _fold(self) -> Iterator[str]:
        """Yield the line that counts the oldest records, torn off at its upper edge."""
        fold = self.tank.fold
        if fold is None:
            return
        x, w = fold.x - self.tank.x, fold.w / 4
        for epoch, top, high in fold.runs:
            yield (
                f'<rect x="{_n(x)}" y="{_n(top + 1)}" width="{_n(fold.w)}" '
                f'height="{_n(max(1, high - 2))}" rx="3" fill="var(--e{epoch % 7})"/>'
            )
        tear = f"M{_n(x)} {_n(fold.top + 1)}l{_n(w)} -3l{_n(w)} 6l{_n(w)} -6l{_n(w)} 3"
        yield f'<path d="{tear}" fill="none" stroke="var(--panel)" stroke-width="2"/>'
        y = fold.top + fold.height / 2 + fold.label[1] * 0.36
        yield _text(self.tank.w / 2, y, fold.label, ON_HUE, 700, self._k("fold"))

    def _cell(self, cell: TankCell) -> str:
        """Return a record; dry ones are pale and outlined, acknowledged ones have a tick."""
        wide, high = cell.w, cell.h
        ink = ON_HUE
        if cell.crossed:
            paint = 'fill="var(--panel)" stroke="var(--bad)" stroke-width="1.6"'
            ink = "var(--bad)"
        else:
            edge = "bad" if cell.lost else "div" if cell.differs else "edge"
            paint = f'fill="var(--e{cell.epoch % 7})" stroke="var(--{edge})"'
        if cell.open or cell.crossed:
            paint += ' stroke-dasharray="4 3"'
        if cell.open:
            paint += ' fill-opacity="0.45"'
            ink = "var(--ink)"
        inside = _text(wide / 2, high / 2 + cell.label[1] * 0.36, cell.label, ink, 700)
        if cell.crossed:
            cross = f"M4 4L{_n(wide - 4)} {_n(high - 4)}M{_n(wide - 4)} 4L4 {_n(high - 4)}"
            inside += (
                f'<path d="{cross}" stroke="var(--bad)" stroke-width="1.6" stroke-opacity="0.6"/>'
            )
        elif cell.acked:
            inside += _tick(cell, "var(--ok)" if cell.open else TICK_ON_HUE)
        key = self._k(f"{'gone' if cell.crossed else 'o'}{cell.offset}")
        place = f"translate({_n(cell.x - self.tank.x)} {_n(cell.y)})"
        return (
            f'<g{key} transform="{place}"><rect width="{_n(wide)}" height="{_n(high)}" '
            f'rx="{_n(min(6.0, high / 4))}" {paint}/>{inside}</g>'
        )

    def _wall(self) -> Iterator[str]:
        tank = self.tank
        edge = "bad" if tank.dead and self.room.margin else "ink" if tank.leads else "edge"
        dash = ' stroke-dasharray="5 4"' if tank.off else ""
        yield (
            f'<path{self._k("wall")} d="{self._outline()}" fill="none" stroke="var(--{edge})" '
            f'stroke-width="{2.2 if tank.leads else 1.6}"{dash}/>'
        )

    def _mark(self) -> Iterator[str]:
        """Yield the high watermark's number at the water."""
        (words, size), y = self.tank.mark
        if not words:
            return
        x, waits = self.tank.w + 5, self.tank.waits
        glass = f'<path d="{HOURGLASS}" transform="translate(0 -10)" fill="var(--hw)"/>'
        yield (
            f'<g{self._k("hw")} transform="translate({_n(x)} {_n(y)})">{glass if waits else ""}'
            f'<text x="{14 if waits else 0}" font-size="{_n(size)}" font-weight="700" '
            f'fill="var(--hw)">{escape(words)}</text></g>'
        )

    def _shelved(self, part: ShelvedSegments) -> str:
        """Return a block a segment in a frame; what is no copy of the disk is in full colour."""
        x, each = part.x - self.tank.x, part.w / max(1, len(part.segments))
        frame = f'y="{_n(part.y)}" height="{_n(part.h)}"'
        pale = ' fill-opacity="0.45"' if part.kind == "copy" else ""
        blocks, edge, dash = "", "ink", ""
        for i, (_, epoch, read) in enumerate(part.segments):
            left = x + i * each
            blocks += (
                f'<rect x="{_n(left)}" {frame} width="{_n(each)}" fill="var(--e{epoch % 7})"{pale} '
                'stroke="var(--edge)"/>'
            )
            if not read:
                line = f"M{_n(left + 3)} {_n(part.y + 3)}l{_n(each - 6)} {_n(part.h - 6)}"
                blocks += f'<path d="{line}" stroke="var(--bad)" stroke-width="1.6"/>'
        if part.kind != "only":
            edge = "edge" if part.kind == "copy" else "bad"
            dash = ' stroke-dasharray="4 3"'
        ink = ON_HUE if part.kind in ("only", "unread") else "var(--ink)"
        y = part.y + part.h / 2 + part.label[1] * 0.36
        return (
            f'<g{self._k(part.kind)}>{blocks}<rect x="{_n(x)}" {frame} width="{_n(part.w)}" rx="2" '
            f'fill="none" stroke="var(--{edge})"{dash}/>'
            f"{_text(x + part.w / 2, y, part.label, ink, 700)}</g>"
        )

    def _foot(self) -> Iterator[str]:
        """Yield the broker's name with its crown, and what it does."""
        tank, room, middle = self.tank, self.room, self.tank.w / 2
        words, size = tank.name
        y = tank.foot + room.name + 6
        lead = room.name + 5 if tank.leads else 0
        fill = "bad" if tank.dead and room.margin else "ink"
        weight = 700 if tank.leads or not room.margin else 500
        yield _text(middle + lead / 2, y, tank.name, f"var(--{fill})", weight, self._k("name"))
        if tank.leads:
            s = room.name / 13
            x = middle - (text_width(words, size) + lead) / 2
            where = f"translate({_n(x)} {_n(y - 9 * s)}) scale({s:.2f})"
            tone = "accent" if tank.crowned else "warn"
            yield f'<path d="{CROWN}" transform="{where}" fill="var(--{tone})"/>'
        y += room.role + 4
        yield _text(middle, y, tank.role, f"var(--{tank.tone or 'ink2'})", 400, self._k("state"))
        y += room.small + 4
        yield _text(middle, y, tank.note, "var(--warn)", 400, self._k("note"))


def _tick(cell: TankCell, stroke: str) -> str:
    """Return a tick beside the name, or where there is no room in the corner above it."""
    wide, high = cell.w, cell.h
    space = text_width(*cell.label) <= wide - 34
    if wide < 34 or not (space or high >= 34):
        return ""
    d = f"M{_n(wide - 15)} {_n(high / 2 if space else 10)}l3 3l6 -7"
    return f'<path d="{d}" fill="none" stroke="{stroke}" stroke-width="1.8"/>'


def _text(x: float, y: float, label: Label, fill: str, weight: int, key: str = "") -> str:
    words, size = label
    if not words:
        return ""
    return (
        f'<text{key} x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" font-weight="{weight}" '
        f'text-anchor="middle" fill="{fill}">{escape(words)}</text>'
    )


def _n(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value:.1f}".rstrip("0").rstrip(".")
