"""A run in one small picture: its most telling step, drawn without a browser.

The markup names colours by the custom properties of the page, so one picture serves both themes.
Only numbers and names of brokers stand in it, and these are plain words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from engine.scenarios.scenario import Scenario
from engine.show.replay import Replay
from engine.show.view import Json
from engine.sim.run import Run

WIDTH: Final = 288
HEIGHT: Final = 124
LEFT: Final = 46
MOST_LANES: Final = 6
MOST_COLUMNS: Final = 9
TELLING: Final = ("violation", "truncation", "leader", "isr", "fault", "ack")
"""Kinds of marks, the most telling first."""


def telling_run(scenario: Scenario) -> Run:
    """Under the first profile that breaks something as meant, else under the first of all."""
    promised = scenario.expect.items()
    broken = [name for name, one in promised if isinstance(one.get("verdict"), list)]
    return Run(scenario, (broken or list(scenario.profiles))[0])


def telling_step(replay: Replay) -> int:
    """Where something breaks; else where a log is cut, or whatever weighs most in this run."""
    marks = replay.facts()["marks"]
    for kind in TELLING:
        steps = [step for step, one in marks if one == kind]
        if steps:
            return int(steps[0] if kind == "violation" else steps[-1])
    return replay.total


def thumbnail(scenario: Scenario) -> str:
    """The picture of a scenario as the inside of an <svg> of WIDTH x HEIGHT."""
    replay = Replay(telling_run(scenario))
    (step,) = replay.steps(telling_step(replay), 1)
    return draw(step["view"])


def draw(view: Json) -> str:
    """One lane for each replica: its records, its high watermark, what it just lost."""
    part = max(view["partitions"], key=_interest)
    names = {broker["id"]: broker["name"] for broker in view["brokers"]}
    down = {broker["id"] for broker in view["brokers"] if broker["alive"] == "down"}
    lanes = part["ar"][:MOST_LANES]
    pitch = min(38, (HEIGHT - 4) / len(lanes))
    top = (HEIGHT - pitch * len(lanes)) / 2
    columns = _Columns(part)
    return "".join(
        _lane(part, broker, names[broker], broker in down, top + pitch * i, pitch - 5, columns)
        for i, broker in enumerate(lanes)
    )


def _interest(part: Json) -> int:
    """Of several partitions the one is drawn in which most is to be seen."""
    replicas = part["replicas"].values()
    cut = sum(len(replica["cut"]) for replica in replicas)
    differs = part["differ"] is not None
    return 4 * bool(cut) + 2 * differs + int(part["record"]["leader"] < 0)


class _Columns:
    """Which offsets are drawn, and where."""

    def __init__(self, part: Json) -> None:
        replicas = part["replicas"].values()
        ends = [replica["leo"] for replica in replicas]
        ends += [record["o"] + 1 for replica in replicas for record in replica["cut"]]
        end = max(ends, default=0)
        self.first = max(0, end - MOST_COLUMNS)
        self.pitch = min(30.0, (WIDTH - LEFT - 8) / max(1, end - self.first))

    def x(self, offset: int) -> float:
        return LEFT + (max(offset, self.first) - self.first) * self.pitch


def _lane(
    part: Json, broker: int, name: str, down: bool, y: float, height: float, columns: _Columns
) -> str:
    replica = part["replicas"][str(broker)]
    leads = part["record"]["leader"] == broker
    edge = 'stroke="var(--bad)" stroke-dasharray="5 4"' if down else 'stroke="var(--line)"'
    parts = [
        f'<rect x="1" y="{_n(y)}" width="{WIDTH - 2}" height="{_n(height)}" rx="6" '
        f'fill="var(--panel)" {edge}/>'
    ]
    if leads:
        parts.append(_box(1, y, 4, height, 'fill="var(--accent)"', 2))
    weight = ' font-weight="700"' if leads else ""
    shown = name if len(name) <= 4 else name[:3] + "…"
    label = f"B{shown}" if shown.isdigit() else shown
    parts.append(
        f'<text x="13" y="{_n(y + height / 2 + 4.5)}" font-size="12.5"{weight} '
        f'fill="var(--ink)">{label}</text>'
    )
    if down:
        mid = y + height / 2
        parts.append(f'<path d="M34 {_n(mid - 4)}l8 8m0-8l-8 8" {_STROKE_BAD}/>')
    return "".join([*parts, *_log(part, replica, y, height, columns)])


_STROKE_BAD: Final = 'stroke="var(--bad)" stroke-width="2" fill="none" stroke-linecap="round"'


def _log(part: Json, replica: Json, y: float, height: float, at: _Columns) -> Iterable[str]:
    """Cells by epoch, their numbers, what is not committed, what was cut, the high watermark."""
    cell_y, cell_h = y + 3, height - 9
    width = at.pitch - 2.5
    records = [one for one in replica["records"] if one["o"] >= at.first]
    for epoch in sorted({one["e"] for one in records}):
        path = _cells((one["o"] for one in records if one["e"] == epoch), at, cell_y, cell_h)
        yield f'<path d="{path}" fill="var(--e{epoch % 7})"/>'
    if cell_h >= 12:
        yield _numbers(records, at, cell_y + cell_h / 2 + 4, width)
    open_ = _cells((one["o"] for one in records if one["o"] >= replica["hw"]), at, cell_y, cell_h)
    if open_:
        yield f'<path d="{open_}" fill="none" stroke="var(--ink)" stroke-dasharray="3 2"/>'
    if part["differ"] is not None:
        low, high = part["differ"]
        path = _cells((r["o"] for r in records if low <= r["o"] < high), at, cell_y, cell_h)
        yield f'<path d="{path}" fill="none" stroke="var(--div)" stroke-width="2"/>'
    for record in replica["cut"]:
        if record["o"] >= at.first:
            yield _ghost(at.x(record["o"]), cell_y, width, cell_h)
    if replica["hw"] > at.first:
        mark = at.x(replica["hw"]) - 1.2
        water = mark - LEFT - 1
        yield _box(LEFT, y + height - 4.5, water, 2.5, 'fill="var(--water)"', 1)
        yield f'<path d="M{_n(mark)} {_n(y + 1.5)}v{_n(height - 3)}" {_STROKE_HW}/>'


_STROKE_HW: Final = 'stroke="var(--hw)" stroke-width="2.6" stroke-linecap="round"'


def _cells(offsets: Iterable[int], at: _Columns, y: float, height: float) -> str:
    wide, high = _n(at.pitch - 2.5), _n(height)
    return "".join(f"M{_n(at.x(o))} {_n(y)}h{wide}v{high}h-{wide}z" for o in offsets)


def _numbers(records: list[Any], at: _Columns, y: float, width: float) -> str:
    """The epochs as figures, since a colour alone says nothing."""
    texts = [f'<tspan x="{_n(at.x(one["o"]) + width / 2)}">{one["e"]}</tspan>' for one in records]
    inner = "".join(texts)
    style = 'font-size="11" font-weight="600" text-anchor="middle" fill="#14171a"'
    return f'<text y="{_n(y)}" {style}>{inner}</text>' if records else ""


def _ghost(x: float, y: float, width: float, height: float) -> str:
    cx, cy = x + width / 2, y + height / 2
    frame = _box(x, y, width, height, 'fill="none" stroke="var(--bad)" stroke-dasharray="3 3"', 3)
    return f'{frame}<path d="M{_n(cx - 4)} {_n(cy - 4)}l8 8m0-8l-8 8" {_STROKE_BAD}/>'


def _box(x: float, y: float, width: float, height: float, paint: str, rx: int) -> str:
    size = f'width="{_n(max(0, width))}" height="{_n(height)}"'
    return f'<rect x="{_n(x)}" y="{_n(y)}" {size} rx="{rx}" {paint}/>'


def _n(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".rstrip("0").rstrip(".")
