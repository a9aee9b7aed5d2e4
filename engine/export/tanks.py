"""A step as tanks: a log is an upright tank, its high watermark the water in it.

Records are stacked, so that equal height is equal offset in all tanks; below the water is
committed, and in-sync replicas are joined by a pipe at the base.  The markup names colours by
custom properties of the page, so one picture serves both themes; `COLOURS` says what they are where
there is no page.

A picture that says nothing but names and records serves as a thumbnail.  With words it says under
each tank what its broker does, and has marks and tabs; every part that lasts from one step to the
next then has a key (`data-k`), by which a page moves it instead of redrawing it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Final

from engine.view.wire import BrokerView, PartitionView, Record, ReplicaView, View

Part = PartitionView
Words = Mapping[str, str]

MOST_TANKS: Final = 9
MOST_ROWS: Final = 8
WORDS: Final[Words] = {
    "broker": "Broker {name}",
    "leads": "leads · epoch {epoch}",
    "in sync": "follows · in sync",
    "out": "catching up",
    "down": "crashed",
    "fenced": "shut out",
    "none": "waits to be told",
}
"""State of a tank in words; a page passes its own language."""

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

ON_HUE: Final = "#14171a"
"""Letters on the hue of an epoch, in both themes."""
TICK_ON_HUE: Final = "#0d3b20"
"""A tick there: the page's own green is as pale as the hues in the dark theme."""
CROWN: Final = "M0 9l0-8 3.5 4 2.5-5 2.5 5 3.5-4v8z"
CREST: Final = 'stroke="var(--crest)" stroke-width="1.8"'
HIDDEN: Final = 7.0
"""A cell that is lower has no name."""


def coloured(markup: str) -> str:
    """Return the markup with its colours filled in, for places without a page."""
    return re.sub(r"var\(--(\w+)\)", lambda found: COLOURS[found[1]], markup)


@dataclass(frozen=True)
class TankPlace:
    """Position of tanks in a picture of `width` units, and the offsets they show."""

    width: float
    height: float
    count: int
    first: int
    rows: int
    told: bool
    """Words stand below the tanks, and marks beside them."""

    @property
    def col(self) -> float:
        return self.width / max(1, self.count)

    @property
    def tank(self) -> float:
        """Width of a tank; beside it are its tabs and its mark."""
        return min(self.col * 0.62, self.height * 0.9)

    @property
    def size(self) -> float:
        """Font size of a name below its tank."""
        return 15.0 if self.told else min(26.0, max(8.0, self.height * 0.095))

    @property
    def top(self) -> float:
        return 22.0 if self.told else self.height * 0.03

    @property
    def floor(self) -> float:
        return self.height - (50.0 if self.told else 1.9 * self.size)

    @property
    def cell(self) -> float:
        """Height of a record, with the gap over it.  Two fill a picture with words: it is wide."""
        least, most = (2.4, 0.32) if self.told else (3, 0.23)
        return min((self.floor - self.top) * 0.88 / max(least, self.rows), self.height * most)

    @property
    def gap(self) -> float:
        return min(5.0, max(1.0, self.cell * 0.08))

    @property
    def pad(self) -> float:
        """Between the wall and a record."""
        return self.tank * 0.07

    def x(self, index: int) -> float:
        return self.col * index + (self.col - self.tank) / 2

    def y(self, offset: int) -> float:
        """Return the height at which the record of an offset stands on the one before it."""
        return self.floor - self.gap - (max(offset, self.first) - self.first) * self.cell


@dataclass(frozen=True)
class Tank:
    """One replica in its place."""

    at: TankPlace
    part: Part
    broker: BrokerView
    replica: ReplicaView
    lost: dict[str, int]
    """Lost records, and the offsets they had."""
    key: str
    """Beginning of the keys of its parts; "" where nothing will move."""

    @property
    def what(self) -> str:
        """A key of WORDS."""
        record, number = self.part["record"], self.broker["id"]
        if self.broker["alive"] != "up":
            return "down"
        if self.broker["fenced"]:
            return "fenced"
        if self.replica["role"] == "leader" and record["leader"] == number:
            return "leads"
        if self.replica["role"] not in ("leader", "follower"):
            return "none"
        return "in sync" if number in record["isr"] else "out"

    @property
    def dead(self) -> bool:
        return bool(self.broker["alive"] == "down")

    @property
    def level(self) -> int:
        """Offset of the water; of a process that has ended, by its disk."""
        replica = self.replica
        return int(min(replica["hwCheckpoint"], replica["leo"]) if self.dead else replica["hw"])

    @property
    def gone(self) -> dict[str, int]:
        """Crossed out offsets over its records: just cut, or lost and its leader is without."""
        replica = self.replica
        found = self.lost if replica["role"] == "leader" else {}
        found = found | {record["id"]: record["o"] for record in replica["cut"]}
        least = max(self.at.first, replica["leo"])
        return {name: offset for name, offset in found.items() if offset >= least}

    def k(self, name: str) -> str:
        return f' data-k="{self.key}:{escape(name)}"' if self.key else ""


TONES: Final = {"down": "bad", "fenced": "bad", "leads": "ink", "out": "warn"}


def draw(
    view: View,
    width: float,
    height: float,
    words: Words | None = None,
    names: Mapping[int, str] | None = None,
    prefix: str = "",
) -> str:
    """Return the inside of an <svg> of width x height.

    It has a tank for each replica of the partition in which most is to be seen.

    `names` is what brokers are called, if not as in the view.  Pictures with words that stand on
    one page have different prefixes: what has an id in one is found by it.
    """
    part = max(view["partitions"], key=_interest, default=None)
    if part is None:
        return ""
    brokers = {broker["id"]: broker for broker in view["brokers"]}
    shown = in_order(part)
    at = _place(part, shown, width, height, told=words is not None)
    lost = _lost_offsets(part, set(view.get("ledger", {}).get("lost", ())))
    tanks = [
        Tank(
            at,
            part,
            brokers[one] | {"name": (names or {}).get(one, brokers[one]["name"])},
            part["replicas"][str(one)],
            lost,
            f"{prefix}b{one}" if words else "",
        )
        for one in shown
    ]
    drawn = [_tank(tank, i, words) for i, tank in enumerate(tanks)]
    return _pipe(part, shown, at) + "".join(drawn)


def in_order(part: Part) -> list[int]:
    """Return the replicas that are drawn, from left to right as they stand on the stage.

    It is not the order of an assignment, which would move a broker from picture to picture.
    """
    return sorted([one for one in part["ar"] if str(one) in part["replicas"]][:MOST_TANKS])


def _interest(part: Part) -> int:
    replicas = part["replicas"].values()
    cut = any(replica["cut"] for replica in replicas)
    differs = part.get("differ") is not None
    return 4 * cut + 2 * differs + int(part["record"]["leader"] < 0)


def _place(part: Part, shown: list[int], width: float, height: float, told: bool) -> TankPlace:
    """Return the place of the tanks; the youngest offsets are shown where not all fit."""
    replicas = [part["replicas"][str(broker)] for broker in shown]
    ends = [replica["leo"] for replica in replicas]
    ends += [record["o"] + 1 for replica in replicas for record in replica["cut"]]
    last = max(ends, default=0)
    first = max(0, last - MOST_ROWS)
    return TankPlace(width, height, len(shown), first, last - first, told)


def _lost_offsets(part: Part, lost: set[str]) -> dict[str, int]:
    """Return the lost records and their offsets, as far as a log or a truncation still shows."""
    return {
        record["id"]: record["o"]
        for replica in part["replicas"].values()
        for record in [*replica["records"], *replica["cut"]]
        if record["id"] in lost
    }


def _tank(tank: Tank, index: int, words: Words | None) -> str:
    parts = [*_glass(tank), *_stack(tank), *_wall(tank), _foot(tank, words)]
    if words:
        parts += [*_tabs(tank), *_marks(tank), _state(tank, words)]
    key = f' data-k="{tank.key}"' if tank.key else ""
    return f'<g{key} transform="translate({_n(tank.at.x(index))} 0)">{"".join(parts)}</g>'


def _outline(at: TankPlace) -> str:
    wide, r = at.tank, min(8.0, at.tank / 8)
    return (
        f"M0 {_n(at.top)}V{_n(at.floor - r)}q0 {_n(r)} {_n(r)} {_n(r)}h{_n(wide - 2 * r)}"
        f"q{_n(r)} 0 {_n(r)} {_n(-r)}V{_n(at.top)}"
    )


def _glass(tank: Tank) -> Iterator[str]:
    """Return the ground, and the water under its waves, which the wall cuts off."""
    at, wide = tank.at, tank.at.tank
    outline = _outline(at)
    yield f'<path d="{outline}" fill="var(--panel)"/>'
    level = at.y(tank.level) + (at.gap / 2 if tank.level > at.first else at.gap)
    swell = min(2.5, at.cell / 8)
    if tank.key:
        waves = f"q9 {_n(-2 * swell)} 18 0t18 0" * (int(wide / 36) + 2)
        yield (
            f'<clipPath id="{tank.key}-wall"><path d="{outline}z"/></clipPath>'
            f'<g clip-path="url(#{tank.key}-wall)"><g{tank.k("water")} '
            f'transform="translate(0 {_n(level)})"><path class="water" '
            f'd="M-18 0{waves}V{_n(at.height)}H-18z" fill="var(--water)"/>'
            f'<path d="M-18 0{waves}" fill="none" {CREST}/></g></g>'
        )
    elif at.floor - level > 1 and tank.level > at.first:
        step = wide / 6
        surface = (
            f"M0 {_n(level)}" + f"q{_n(step / 2)} {_n(-2 * swell)} {_n(step)} 0t{_n(step)} 0" * 3
        )
        yield (
            f'<path d="{surface}V{_n(at.floor - 1)}H0z" fill="var(--water)"/>'
            f'<path d="{surface}" fill="none" {CREST}/>'
        )


def _wall(tank: Tank) -> Iterator[str]:
    leads, down = tank.part["record"]["leader"] == tank.broker["id"], tank.dead
    edge = "bad" if down else "ink" if leads else "edge"
    dash = ' stroke-dasharray="5 4"' if down else ""
    yield (
        f'<path{tank.k("wall")} d="{_outline(tank.at)}" fill="none" stroke="var(--{edge})" '
        f'stroke-width="{2 if leads else 1.5}"{dash}/>'
    )


def _stack(tank: Tank) -> Iterator[str]:
    """Yield records from the floor up, and crossed places of those that are gone."""
    at, replica = tank.at, tank.replica
    if at.told and at.first and replica["leo"] > at.first:
        yield (
            f'<text{tank.k("fold")} x="{_n(at.tank / 2)}" y="{_n(at.floor - 1)}" font-size="9" '
            f'text-anchor="middle" fill="var(--ink2)">0 … {at.first - 1}</text>'
        )
    for record in replica["records"]:
        if record["o"] >= at.first:
            yield _record(tank, record)
    for name, offset in tank.gone.items():
        yield _ghost(tank, name, offset)


def _cell(tank: Tank, offset: int, key: str, more: str) -> str:
    """Return a group at the place of a record, with its frame; what stands in it is to follow."""
    at = tank.at
    top = at.y(offset) - at.cell + at.gap
    place = f'transform="translate({_n(at.pad)} {_n(top)})"'
    wide, high = _inner(at)
    return (
        f'<g{tank.k(key)} {place}><rect width="{_n(wide)}" height="{_n(high)}" '
        f'rx="{_n(min(5.0, high / 4))}" {more}/>'
    )


def _inner(at: TankPlace) -> tuple[float, float]:
    """Return the width and height of a record."""
    return at.tank - 2 * at.pad, at.cell - at.gap


def _record(tank: Tank, record: Record) -> str:
    """Return a record; dry ones are pale and outlined, acknowledged ones have a tick."""
    low, high = tank.part.get("differ") or (0, 0)
    edge = "div" if low <= record["o"] < high else "edge"
    dry = record["o"] >= tank.level
    paint = f'fill="var(--e{record["e"] % 7})" stroke="var(--{edge})"'
    paint += ' fill-opacity="0.45" stroke-dasharray="4 3"' if dry else ""
    tick = _tick(tank.at, "var(--ok)" if dry else TICK_ON_HUE) if record["acked"] else ""
    name = _name(tank.at, str(record["id"]), "var(--ink)" if dry else ON_HUE)
    return f"{_cell(tank, record['o'], str(record['id']), paint)}{name}{tick}</g>"


def _tick(at: TankPlace, stroke: str) -> str:
    wide, high = _inner(at)
    if high < HIDDEN or wide < 30:
        return ""
    s = min(2.0, high / 14, wide / 60)
    d = f"M{_n(wide - 10 * s)} {_n(high / 2)}l{_n(2.4 * s)} {_n(2.4 * s)}"
    d += f" {_n(4.2 * s)} {_n(-4.8 * s)}"
    return f'<path d="{d}" fill="none" stroke="{stroke}" stroke-width="{_n(1.6 * s)}"/>'


def _ghost(tank: Tank, name: str, offset: int) -> str:
    """Return a record that was just cut, or is gone: in its old place, crossed out."""
    wide, high = _inner(tank.at)
    frame = 'fill="var(--panel)" stroke="var(--bad)" stroke-width="1.6" stroke-dasharray="4 3"'
    cross = f"M4 4L{_n(wide - 4)} {_n(high - 4)}M{_n(wide - 4)} 4L4 {_n(high - 4)}"
    return (
        f"{_cell(tank, offset, f'{name}:gone', frame)}{_name(tank.at, name, 'var(--bad)')}"
        f'<path d="{cross}" stroke="var(--bad)" stroke-width="1.6" stroke-opacity="0.8"/></g>'
    )


def _name(at: TankPlace, name: str, fill: str) -> str:
    wide, high = _inner(at)
    if high < HIDDEN:
        return ""
    size = min(high * 0.58, 20.0 if at.told else 34.0, 1.5 * wide / max(3, len(name) + 2))
    return (
        f'<text x="{_n(wide / 2)}" y="{_n(high / 2 + size * 0.36)}" font-size="{_n(size)}" '
        f'font-weight="650" text-anchor="middle" fill="{fill}">{escape(name)}</text>'
    )


def _tabs(tank: Tank) -> Iterator[str]:
    """Return the leader-epoch vector: a tab at the tank's side where an epoch begins."""
    for epoch, start in tank.replica["epochs"]:
        if start < tank.at.first or tank.at.tank > tank.at.col - 40:
            continue
        yield (
            f'<g{tank.k(f"e{epoch}")} transform="translate(-30 {_n(tank.at.y(start) - 18)})">'
            f'<path d="M0 0h22l7 8.5l-7 8.5H0z" fill="var(--e{epoch % 7})"/>'
            f'<text x="11" y="12.5" font-size="11" font-weight="650" text-anchor="middle" '
            f'fill="{ON_HUE}">e{epoch}</text></g>'
        )


def _marks(tank: Tank) -> Iterator[str]:
    """Yield the high watermark's flag at the water, and the log's end, over the stack."""
    at, replica = tank.at, tank.replica
    if tank.what != "down":
        yield (
            f'<text{tank.k("hw")} transform="translate({_n(at.tank + 5)} '
            f'{_n(at.y(replica["hw"]) + 6)})" font-size="13" font-weight="700" '
            f'fill="var(--hw)">HW {replica["hw"]}</text>'
        )
    if at.cell >= 20 and replica["leo"] not in tank.gone.values():
        yield (
            f'<text{tank.k("leo")} transform="translate({_n(at.tank / 2)} '
            f'{_n(at.y(replica["leo"]) - 6)})" font-size="10.5" text-anchor="middle" '
            f'fill="var(--ink2)">LEO {replica["leo"]}</text>'
        )


def _pipe(part: Part, shown: list[int], at: TankPlace) -> str:
    """Return the pipe that joins in-sync replicas at the base."""
    wet = [at.col * (i + 0.5) for i, one in enumerate(shown) if one in part["record"]["isr"]]
    if len(wet) < 2:
        return ""
    y = at.floor + at.size * 0.3
    stubs = "".join(f"M{_n(x)} {_n(at.floor - 1)}V{_n(y)}" for x in wet)
    d = f"{stubs}M{_n(min(wet))} {_n(y)}H{_n(max(wet))}"
    return f'<path d="{d}" fill="none" stroke="var(--crest)" stroke-width="3"/>'


def _foot(tank: Tank, words: Words | None) -> str:
    """Return the broker's name below its tank, with a crown or a cross."""
    at, down = tank.at, tank.dead
    leads = tank.part["record"]["leader"] == tank.broker["id"]
    label = words["broker"].format(name=tank.broker["name"]) if words else tank.broker["name"]
    size = min(at.size, 1.4 * at.col / max(1, len(label)))
    y = at.floor + at.size * 1.6
    fill, weight = ("bad" if down and not words else "ink"), (700 if leads or words else 500)
    name = (
        f'<text{tank.k("name")} x="{_n(at.tank / 2)}" y="{_n(y)}" font-size="{_n(size)}" '
        f'font-weight="{weight}" text-anchor="middle" fill="var(--{fill})">{escape(label)}</text>'
    )
    side = at.tank / 2 - size * 0.31 * len(label) - size * 1.3
    if leads:
        s = size / 13
        where = f"translate({_n(side)} {_n(y - 9 * s)}) scale({s:.2f})"
        return f'{name}<path d="{CROWN}" transform="{where}" fill="var(--accent)"/>'
    if down and not words:
        k = size * 0.55
        cross = f"M{_n(side)} {_n(y - k)}l{_n(k)} {_n(k)}m0 {_n(-k)}l{_n(-k)} {_n(k)}"
        return f'{name}<path d="{cross}" stroke="var(--bad)" stroke-width="1.8"/>'
    return name


def _state(tank: Tank, words: Words) -> str:
    said = words[tank.what].format(epoch=tank.part["record"]["le"])
    return (
        f'<text{tank.k("state")} x="{_n(tank.at.tank / 2)}" y="{_n(tank.at.floor + 42)}" '
        f'font-size="12.5" text-anchor="middle" fill="var(--{TONES.get(tank.what, "ink2")})">'
        f"{escape(said)}</text>"
    )


def _n(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value:.1f}".rstrip("0").rstrip(".")
