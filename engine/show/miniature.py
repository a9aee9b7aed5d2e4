"""A step of a run in one picture without a browser: logs as tanks, the high watermark as water.

The markup names colours by the custom properties of the page, so one picture serves both themes;
`COLOURS` says what they are where there is no page.  Only names of brokers and records and numbers
stand in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

Json = dict[str, Any]

MOST_TANKS: Final = 6
MOST_ROWS: Final = 8
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
    "div": "#a3157a",
    "accent": "#0b5cad",
    "e0": "#f0d48a",
    "e1": "#f0936f",
    "e2": "#a9c774",
    "e3": "#d9a8d8",
    "e4": "#c9ced6",
    "e5": "#d2b48c",
    "e6": "#f4b6c2",
}
"""What the page calls these colours in light."""


def coloured(markup: str) -> str:
    """The same picture in colours of its own, for places without a page."""
    return re.sub(r"var\(--(\w+)\)", lambda found: COLOURS[found[1]], markup)


WAVES: Final = 3
CROWN: Final = "M0 9 l0-8 3.500 4 2.500-5 2.500 5 3.500-4v8z"


def draw(view: Json, names: dict[int, str], width: float, height: float) -> str:
    """The inside of an <svg> of `width` x `height`: a tank for each replica of one partition.

    `view` is one of a step (`engine.show.view`), `names` what the brokers are called.
    """
    part = max(view["partitions"], key=_interest, default=None)
    if part is None:
        return ""
    tanks = part["ar"][:MOST_TANKS]
    scale = _Scale(part, width / max(1, len(tanks)), height)
    down = {broker["id"] for broker in view["brokers"] if broker["alive"] == "down"}
    lost = _gone(part, set(view["ledger"]["lost"]))
    drawn = [
        _tank(part, broker, broker in down, scale, width * i / len(tanks), lost)
        + _foot(names.get(broker, str(broker)), part, broker, broker in down, scale, i)
        for i, broker in enumerate(tanks)
    ]
    return _pipe(part, tanks, scale) + "".join(drawn)


def escaped(text: str) -> str:
    """A text between tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _interest(part: Json) -> int:
    """Of several partitions the one is drawn in which most is to be seen."""
    replicas = part["replicas"].values()
    cut = sum(len(replica["cut"]) for replica in replicas)
    differs = part["differ"] is not None
    return 4 * bool(cut) + 2 * differs + int(part["record"]["leader"] < 0)


def _gone(part: Json, lost: set[str]) -> dict[str, int]:
    """Lost records and the offsets they had, as far as a log or a cut still tells."""
    return {
        record["id"]: record["o"]
        for replica in part["replicas"].values()
        for record in [*replica["records"], *replica["cut"]]
        if record["id"] in lost
    }


class _Scale:
    """Which offsets are drawn, and where: offset is height, the same in all tanks."""

    def __init__(self, part: Json, col: float, height: float) -> None:
        replicas = part["replicas"].values()
        ends = [replica["leo"] for replica in replicas]
        ends += [record["o"] + 1 for replica in replicas for record in replica["cut"]]
        end = max(ends, default=0)
        self.first = max(0, end - MOST_ROWS)
        self.size = min(26.0, max(8.0, height * 0.095))
        self.col = col
        self.wide = min(col * 0.62, height * 0.9)
        self.floor = height - 1.9 * self.size
        self.top = height * 0.03
        room = (self.floor - self.top) * 0.88
        self.pitch = min(room / max(3, end - self.first), height * 0.2)

    def y(self, offset: int) -> float:
        return self.floor - (max(offset, self.first) - self.first) * self.pitch

    def left(self, column: float) -> float:
        return column + (self.col - self.wide) / 2


def _tank(
    part: Json, broker: int, down: bool, at: _Scale, column: float, lost: dict[str, int]
) -> str:
    replica = part["replicas"].get(str(broker))
    x, wide = at.left(column), at.wide
    leads = part["record"]["leader"] == broker
    r = min(6.0, wide / 8)
    wall = (
        f"M{_n(x)} {_n(at.top)}V{_n(at.floor - r)}q0 {_n(r)} {_n(r)} {_n(r)}"
        f"h{_n(wide - 2 * r)}q{_n(r)} 0 {_n(r)} {_n(-r)}V{_n(at.top)}"
    )
    dash = ' stroke-dasharray="4 4"' if down else ""
    stroke = "var(--ink)" if leads else "var(--edge)"
    parts = [f'<path d="{wall}" fill="var(--panel)" stroke="none"/>']
    if replica is not None:
        parts += [*_water(replica, at, x), *_stack(part, replica, at, x)]
        if replica["role"] == "leader":
            held = {record["id"] for record in replica["cut"]}
            parts += [
                _crossed(at, x, offset, name)
                for name, offset in lost.items()
                if offset >= replica["leo"] and name not in held and offset >= at.first
            ]
    edge = f'stroke="{stroke}" stroke-width="{2 if leads else 1.4}"{dash}'
    return "".join([*parts, f'<path d="{wall}" fill="none" {edge}/>'])


def _water(replica: Json, at: _Scale, x: float) -> Iterator[str]:
    """Up to the high watermark, with waves on top."""
    y = at.y(replica["hw"])
    if at.floor - y < 1:
        return
    step = at.wide / (2 * WAVES)
    swell = min(2.4, at.pitch / 8)
    bends = "".join(
        f"q{_n(step / 2)} {_n((swell if i % 2 else -swell) * 2)} {_n(step)} 0"
        for i in range(2 * WAVES)
    )
    surface = f"M{_n(x)} {_n(y)}{bends}"
    yield f'<path d="{surface}V{_n(at.floor - 1)}H{_n(x)}z" fill="var(--water)"/>'
    yield f'<path d="{surface}" fill="none" stroke="var(--crest)" stroke-width="1.8"/>'


def _stack(part: Json, replica: Json, at: _Scale, x: float) -> Iterator[str]:
    """Records from the floor up, dry ones outlined, and what was cut off as crossed places."""
    low, high = part["differ"] or (0, 0)
    for record in replica["records"]:
        if record["o"] < at.first:
            continue
        dry = record["o"] >= replica["hw"]
        edge = "var(--div)" if low <= record["o"] < high else "var(--ink2)"
        paint = f'fill="var(--e{record["e"] % 7})" stroke="{edge}"'
        paint += ' fill-opacity="0.45" stroke-dasharray="3 2"' if dry else ' stroke-width="0.8"'
        yield _box(at, x, record["o"], paint) + _name(at, x, record)
    for record in replica["cut"]:
        if record["o"] >= max(at.first, replica["leo"]):
            yield _crossed(at, x, record["o"], record["id"])


def _cell(at: _Scale, x: float, offset: int) -> tuple[float, float, float, float]:
    gap = min(3.0, at.pitch * 0.14)
    pad = at.wide * 0.09
    return x + pad, at.y(offset + 1) + gap / 2, at.wide - 2 * pad, at.pitch - gap


def _box(at: _Scale, x: float, offset: int, paint: str) -> str:
    left, top, wide, high = _cell(at, x, offset)
    place = f'x="{_n(left)}" y="{_n(top)}" width="{_n(wide)}" height="{_n(high)}"'
    return f'<rect {place} rx="{_n(min(4.0, high / 4))}" {paint}/>'


def _name(at: _Scale, x: float, record: Json) -> str:
    """What the record is called, and a tick once it was acknowledged."""
    left, top, wide, high = _cell(at, x, record["o"])
    if high < 7:
        return ""
    parts = [_word(left + wide / 2, top, high, wide, record["id"], "#14171a")]
    if record["acked"] and wide > 30:
        s = min(2.4, high / 14)
        tick = f"M{_n(left + wide - 10 * s)} {_n(top + high / 2)}"
        tick += f"l{_n(2.4 * s)} {_n(2.4 * s)} {_n(4.2 * s)} {_n(-4.8 * s)}"
        parts.append(
            f'<path d="{tick}" fill="none" stroke="var(--ok)" stroke-width="{_n(1.6 * s)}"/>'
        )
    return "".join(parts)


def _word(x: float, top: float, high: float, wide: float, word: str, fill: str) -> str:
    size = min(high * 0.62, 34.0, 1.5 * wide / max(3, len(word) + 2))
    place = f'x="{_n(x)}" y="{_n(top + high / 2 + size * 0.36)}" font-size="{_n(size)}"'
    style = f'font-weight="650" text-anchor="middle" fill="{fill}"'
    return f"<text {place} {style}>{escaped(word)}</text>"


def _crossed(at: _Scale, x: float, offset: int, name: str) -> str:
    left, top, wide, high = _cell(at, x, offset)
    edge = 'fill="none" stroke="var(--bad)"'
    frame = _box(at, x, offset, f'{edge} stroke-width="1.6" stroke-dasharray="3 3"')
    cross = (
        f"M{_n(left + 3)} {_n(top + 3)}L{_n(left + wide - 3)} {_n(top + high - 3)}"
        f"M{_n(left + wide - 3)} {_n(top + 3)}L{_n(left + 3)} {_n(top + high - 3)}"
    )
    word = _word(left + wide / 2, top, high, wide, name, "var(--ink)") if high >= 7 else ""
    return f'{frame}{word}<path d="{cross}" {edge} stroke-width="1.4" stroke-opacity="0.7"/>'


def _pipe(part: Json, tanks: list[int], at: _Scale) -> str:
    """In-sync replicas are vessels joined at the base."""
    mids = {broker: at.col * (i + 0.5) for i, broker in enumerate(tanks)}
    wet = [mids[broker] for broker in part["record"]["isr"] if broker in mids]
    y = at.floor + at.size * 0.3
    stubs = "".join(f"M{_n(x)} {_n(at.floor - 1)}V{_n(y)}" for x in wet)
    if len(wet) < 2:
        return ""
    path = f"{stubs}M{_n(min(wet))} {_n(y)}H{_n(max(wet))}"
    return f'<path d="{path}" fill="none" stroke="var(--crest)" stroke-width="3"/>'


def _foot(name: str, part: Json, broker: int, down: bool, at: _Scale, i: int) -> str:
    """The broker's name below its tank, with a crown or a cross."""
    label = name if len(name) <= 12 else name[:11] + "…"
    mid, y = at.col * (i + 0.5), at.floor + at.size * 1.55
    fill = "var(--bad)" if down else "var(--ink)"
    weight = 700 if part["record"]["leader"] == broker else 500
    style = f'font-size="{_n(at.size)}" font-weight="{weight}" fill="{fill}" text-anchor="middle"'
    parts = [f'<text x="{_n(mid)}" y="{_n(y)}" {style}>{escaped(label)}</text>']
    side = mid - at.size * 0.35 * len(label) - at.size * 1.3
    if part["record"]["leader"] == broker:
        s = at.size / 13
        where = f"translate({_n(side)} {_n(y - 9 * s)}) scale({s:.2f})"
        parts.append(f'<path d="{CROWN}" transform="{where}" fill="var(--accent)"/>')
    elif down:
        k = at.size * 0.55
        cross = f"M{_n(side)} {_n(y - k)}l{_n(k)} {_n(k)}m0 {_n(-k)}l{_n(-k)} {_n(k)}"
        parts.append(f'<path d="{cross}" fill="none" stroke="var(--bad)" stroke-width="1.8"/>')
    return "".join(parts)


def _n(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".rstrip("0").rstrip(".")
