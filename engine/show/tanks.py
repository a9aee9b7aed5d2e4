"""A step as tanks: a log is an upright tank, its high watermark the water in it.

Records are stacked, so that equal height is equal offset in all tanks; below the water is
committed.  The markup names colours by custom properties of the page, and every part that lasts
from one step to the next has a key (`data-k`), by which a page moves it instead of drawing anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from engine.show.view import Json

Part = Json
Words = Mapping[str, str]

MOST_TANKS: Final = 9
MOST_CELLS: Final = 8
FOOT: Final = 50.0
"""Below a tank: its name, and what it is."""
HEAD: Final = 22.0
WORDS: Final[Words] = {
    "broker": "Broker {name}",
    "leads": "leads · epoch {epoch}",
    "in sync": "follows · in sync",
    "out": "catching up",
    "down": "crashed",
    "fenced": "shut out",
    "none": "waits to be told",
}
"""Of a tank; a page hands in its own language."""

FONT: Final = 'font-family="var(--sans, sans-serif)"'
TICK: Final = '<path d="M0 4l3 3.4l5.4-7" fill="none" stroke="var(--ok)" stroke-width="2"/>'


@dataclass(frozen=True)
class Place:
    """Where tanks stand in a picture of so many pixels, and which offsets they show."""

    width: float
    height: float
    count: int
    first: int
    last: int

    @property
    def pitch(self) -> float:
        return self.width / self.count

    @property
    def tank(self) -> float:
        """Width of a tank; beside it are its tabs and its mark."""
        return min(150.0, self.pitch * 0.62)

    @property
    def floor(self) -> float:
        return self.height - FOOT

    @property
    def cell(self) -> float:
        rows = max(3, self.last - self.first) + 0.6
        return min(92.0, (self.floor - HEAD) / rows)

    def x(self, index: int) -> float:
        return self.pitch * index + (self.pitch - self.tank) / 2

    def y(self, offset: int) -> float:
        """The height at which the record of an offset stands on the one before it."""
        return self.floor - 6 - (max(offset, self.first) - self.first) * self.cell


def draw(
    view: Json,
    width: float,
    height: float,
    partition: int = 0,
    words: Words = WORDS,
    prefix: str = "",
) -> str:
    """The inside of an <svg> of width x height: a tank for each replica of one partition.

    Pictures that stand on one page have different prefixes: what has an id in one is found by it.
    """
    part = view["partitions"][partition]
    brokers = {broker["id"]: broker for broker in view["brokers"]}
    shown = sorted(part["ar"])[:MOST_TANKS]
    place = place_of(part, shown, width, height)
    return "".join(
        _tank(part, brokers[broker], place, index, words, prefix)
        for index, broker in enumerate(shown)
    )


def place_of(part: Part, shown: list[int], width: float, height: float) -> Place:
    """The youngest offsets are shown where all do not fit."""
    replicas = [part["replicas"][str(broker)] for broker in shown]
    ends = [replica["leo"] for replica in replicas]
    ends += [record["o"] + 1 for replica in replicas for record in replica["cut"]]
    last = max(ends, default=0)
    first = max(0, last - MOST_CELLS)
    return Place(width, height, len(shown), first, last)


def state_of(part: Part, broker: Json) -> tuple[str, str]:
    """(what a tank is, a key of WORDS; the tone in which that is said)."""
    record, number = part["record"], broker["id"]
    if broker["alive"] != "up":
        return "down", "bad"
    if broker["fenced"]:
        return "fenced", "bad"
    if part["replicas"][str(number)]["role"] == "leader" and record["leader"] == number:
        return "leads", "ink"
    if part["replicas"][str(number)]["role"] not in ("leader", "follower"):
        return "none", "ink2"
    return ("in sync", "ink2") if number in record["isr"] else ("out", "warn")


def _tank(part: Part, broker: Json, place: Place, index: int, words: Words, prefix: str) -> str:
    number = broker["id"]
    replica = part["replicas"][str(number)]
    what, tone = state_of(part, broker)
    key, x = f"{prefix}b{number}", place.x(index)
    inner = [
        *_glass(key, replica, place, _level(replica, what), down=what == "down"),
        *_cells(key, replica, place, _level(replica, what)),
        *_tabs(key, replica, place),
        *_marks(key, replica, place, down=what == "down"),
    ]
    name = words["broker"].format(name=escape(broker["name"]))
    said = words[what].format(epoch=part["record"]["le"])
    crown = (
        _crown(place.tank / 2 - len(name) * 4.9 - 19, place.floor + 12) if what == "leads" else ""
    )
    middle = _n(place.tank / 2)
    inner.append(
        f'<text data-k="{key}:name" x="{middle}" y="{_n(place.floor + 24)}" font-size="15" '
        f'font-weight="700" text-anchor="middle" fill="var(--ink)" {FONT}>{name}</text>'
        f'<text data-k="{key}:state" x="{middle}" y="{_n(place.floor + 42)}" font-size="12.5" '
        f'text-anchor="middle" fill="var(--{tone})" {FONT}>{said}</text>{crown}'
    )
    return f'<g data-k="{key}" transform="translate({_n(x)} 0)">{"".join(inner)}</g>'


def _level(replica: Json, what: str) -> int:
    """Where the water stands: of a process that has ended, where its disk says."""
    return int(replica["hwCheckpoint"] if what == "down" else replica["hw"])


def _glass(key: str, replica: Json, place: Place, hw: int, down: bool) -> Iterator[str]:
    """The water under its wave, then the wall around it."""
    wide = place.tank
    level = place.y(hw) + (3 if hw > place.first else 6)
    clip = f"{key}-wall"
    yield (
        f'<clipPath id="{clip}"><path d="M0 0V{_n(place.floor - 8)}q0 8 8 8h{_n(wide - 16)}'
        f'q8 0 8 -8V0z"/></clipPath>'
    )
    waves = "".join("q9 -5 18 0t18 0" for _ in range(int(wide / 36) + 2))
    yield (
        f'<g clip-path="url(#{clip})"><g data-k="{key}:water" '
        f'transform="translate(0 {_n(level)})"><path class="water" '
        f'd="M-18 0{waves}V{_n(place.height)}H-18z" fill="var(--water)"/></g></g>'
    )
    edge = 'stroke="var(--bad)" stroke-dasharray="6 5"' if down else 'stroke="var(--edge)"'
    yield (
        f'<path data-k="{key}:wall" d="M0 {_n(HEAD)}V{_n(place.floor - 8)}q0 8 8 8'
        f'h{_n(wide - 16)}q8 0 8 -8V{_n(HEAD)}" fill="none" stroke-width="2" {edge}/>'
    )


def _cells(key: str, replica: Json, place: Place, hw: int) -> Iterator[str]:
    if place.first and replica["leo"] > place.first:
        yield (
            f'<text data-k="{key}:fold" x="{_n(place.tank / 2)}" y="{_n(place.floor - 1)}" '
            f'font-size="9" text-anchor="middle" fill="var(--ink2)" {FONT}>0 … '
            f"{place.first - 1}</text>"
        )
    for record in replica["records"]:
        if record["o"] >= place.first:
            yield _cell(key, record, place, wet=record["o"] < hw)
    for record in replica["cut"]:
        if record["o"] >= place.first:
            yield _ghost(key, record, place)


def _cell(key: str, record: Any, place: Place, wet: bool) -> str:
    high, wide = place.cell - 5, place.tank - 16
    fill = f'fill="var(--e{record["e"] % 7})"' + ("" if wet else ' fill-opacity="0.45"')
    edge = 'stroke="var(--edge)"' + ("" if wet else ' stroke-dasharray="4 3"')
    tick = (
        f'<g transform="translate({_n(wide - 15)} {_n(high / 2 - 4)})">{TICK}</g>'
        if record["acked"]
        else ""
    )
    return (
        f'<g data-k="{key}:{escape(record["id"])}" class="cell" '
        f'transform="translate(8 {_n(place.y(record["o"]) - high)})">'
        f'<rect width="{_n(wide)}" height="{_n(high)}" rx="5" {fill} {edge}/>'
        f"{_name(record, wide, high)}{tick}</g>"
    )


def _ghost(key: str, record: Any, place: Place) -> str:
    """What was just cut: where it stood, crossed out."""
    high, wide = place.cell - 5, place.tank - 16
    return (
        f'<g data-k="{key}:{escape(record["id"])}:gone" class="gone" '
        f'transform="translate(8 {_n(place.y(record["o"]) - high)})">'
        f'<rect width="{_n(wide)}" height="{_n(high)}" rx="5" fill="var(--panel)" '
        f'stroke="var(--bad)" stroke-width="1.6" stroke-dasharray="4 3"/>'
        f"{_name(record, wide, high, 'var(--bad)')}"
        f'<path d="M5 4L{_n(wide - 5)} {_n(high - 4)}M{_n(wide - 5)} 4L5 {_n(high - 4)}" '
        f'stroke="var(--bad)" stroke-width="2"/></g>'
    )


def _name(record: Any, wide: float, high: float, fill: str = "#14171a") -> str:
    size = max(8.0, min(17.0, high * 0.5))
    name = str(record["id"])
    name = name if len(name) * size * 0.62 < wide - 18 else name[: int((wide - 18) / size / 0.62)]
    return (
        f'<text x="{_n(wide / 2)}" y="{_n(high / 2 + size * 0.36)}" font-size="{_n(size)}" '
        f'font-weight="650" text-anchor="middle" fill="{fill}" {FONT}>{escape(name)}</text>'
    )


def _tabs(key: str, replica: Json, place: Place) -> Iterator[str]:
    """The leader-epoch vector: a tab at the tank's side where an epoch begins."""
    for epoch, start in replica["epochs"]:
        if start < place.first or place.tank > place.pitch - 40:
            continue
        y = place.y(start)
        yield (
            f'<g data-k="{key}:e{epoch}" transform="translate(-30 {_n(y - 18)})">'
            f'<path d="M0 0h22l7 8.5l-7 8.5H0z" fill="var(--e{epoch % 7})"/>'
            f'<text x="11" y="12.5" font-size="11" font-weight="650" text-anchor="middle" '
            f'fill="#14171a" {FONT}>e{epoch}</text></g>'
        )


def _marks(key: str, replica: Json, place: Place, down: bool) -> Iterator[str]:
    """The high watermark's flag at the water, and where the log ends, over the stack."""
    y = place.y(replica["hw"])
    if not down:
        yield (
            f'<text data-k="{key}:hw" transform="translate({_n(place.tank + 5)} {_n(y + 6)})" '
            f'font-size="13" font-weight="700" fill="var(--hw)" {FONT}>HW {replica["hw"]}</text>'
        )
    covered = any(record["o"] == replica["leo"] for record in replica["cut"])
    if place.cell >= 20 and not covered:
        end = place.y(replica["leo"]) - 3
        yield (
            f'<text data-k="{key}:leo" transform="translate({_n(place.tank / 2)} {_n(end)})" '
            f'font-size="10.5" text-anchor="middle" fill="var(--ink2)" {FONT}>'
            f"LEO {replica['leo']}</text>"
        )


def _crown(x: float, y: float) -> str:
    return (
        f'<path transform="translate({_n(x)} {_n(y)})" d="M0 2l3.4 4L7 0l3.6 6L14 2l-1.6 10H1.6z" '
        f'fill="var(--accent)"/>'
    )


def _n(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".rstrip("0").rstrip(".")
