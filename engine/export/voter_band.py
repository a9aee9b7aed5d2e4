"""The voters of a KRaft quorum, above the tanks: a small metadata log each."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from engine.export.tank_layout import ON_HUE, Label, Say, TankRoom, fitted, shorter, text_width
from engine.view.wire import QuorumView, VoterView

BELOW: Final = 8
"""Units left free below the band."""
MOST_WIDE: Final = 320
"""Units of the widest column of a voter."""


def height(room: TankRoom) -> float:
    """Return the height of the band: entries of the log, the name below them, and air."""
    return room.cell + room.small + 12 + BELOW


def draw(quorum: QuorumView, width: float, room: TankRoom, say: Say | None) -> str:
    """Return the band as markup; the last entries of each log, pale where not committed."""
    column = min(MOST_WIDE, width / len(quorum["voters"]))
    left = (width - column * len(quorum["voters"])) / 2
    return "".join(
        f'<g transform="translate({left + column * i:g} 0)">'
        f"{''.join(_voter(voter, column, room, say))}</g>"
        for i, voter in enumerate(quorum["voters"])
    )


def _voter(voter: VoterView, column: float, room: TankRoom, say: Say | None) -> Iterator[str]:
    wide, high = column * 0.86, room.cell + 6
    x = (column - wide) / 2
    leads = voter["alive"] and voter["state"] == "leader"
    edge = "ink" if leads else "edge" if voter["alive"] else "bad"
    dash = "" if voter["alive"] and not voter["paused"] else ' stroke-dasharray="5 4"'
    yield (
        f'<rect x="{x:g}" y="1" width="{wide:g}" height="{high:g}" rx="{high / 5:g}" '
        f'fill="var(--panel)" stroke="var(--{edge})" stroke-width="{2.2 if leads else 1.6}"{dash}/>'
    )
    yield from _entries(voter, x, wide, room)
    words, size = _name(voter, column, room, say)
    ink = "ink" if voter["alive"] else "bad"
    yield (
        f'<text x="{column / 2:g}" y="{high + room.small + 4:g}" font-size="{size:g}" '
        f'font-weight="{700 if leads else 500}" text-anchor="middle" fill="var(--{ink})">'
        f"{escape(words)}</text>"
    )


def _entries(voter: VoterView, x: float, wide: float, room: TankRoom) -> Iterator[str]:
    each = max(room.cell * 0.9, text_width(str(voter["end"]), room.small) + 6)
    shown = voter["entries"][-max(1, int((wide - 6) / each)) :]
    for i, entry in enumerate(shown):
        ink, pale = ON_HUE, ""
        if entry["o"] >= voter["hw"]:
            ink, pale = "var(--ink)", ' fill-opacity="0.45" stroke-dasharray="4 3"'
        left = x + 4 + i * each
        yield (
            f'<rect x="{left:g}" y="5" width="{each - 2:g}" height="{room.cell - 2:g}" rx="2" '
            f'fill="var(--e{entry["e"] % 7})" stroke="var(--edge)"{pale}/>'
            f'<text x="{left + each / 2 - 1:g}" y="{5 + room.cell / 2 + room.small * 0.3:g}" '
            f'font-size="{room.small:g}" text-anchor="middle" fill="{ink}">{entry["o"]}</text>'
        )


def _name(voter: VoterView, column: float, room: TankRoom, say: Say | None) -> Label:
    """Return the name with what the voter does and its epoch, as far as there is room."""
    state = "down" if not voter["alive"] else "paused" if voter["paused"] else voter["state"]
    if voter["alive"] and not voter["paused"] and voter["active"]:
        state = "active"
    words = [voter["name"]]
    if say:
        keys = {f"quorum.{state}": {}, "quorum.epoch": {"e": voter["epoch"]}}
        words += [say(key, values) for key, values in keys.items()]
    return fitted(shorter(" · ".join(words)), column, room.small, room.small)
