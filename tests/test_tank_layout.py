"""Pictures of the server and of the page are laid out alike: boxes, cells, levels, words."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest

from app.core.words import Catalogue
from engine.export import postcard, thumbnail
from engine.export.tank_layout import PHONE, Tank, TankCell, TankRoom, lay_out, telling_partition
from engine.replay.replay import Replay
from engine.scenarios.file import library
from engine.sim.run import Run
from engine.view.wire import View
from tests.conftest import ROOT, sample

NODE: Final = shutil.which("node")
SKY: Final = 29
"""Units for messages above the tanks of a phone; pictures of the server have no messages."""
PICTURES: Final = (
    ("en", 500, 340, PHONE),
    ("zh-Hans", 560, 330, PHONE),
    ("en", 1000, 300, postcard.ROOM),
    ("en", thumbnail.WIDTH, thumbnail.HEIGHT, thumbnail.ROOM),
)
RUNS: Final = [(one.slug, name) for one in library().values() for name in one.profiles]
TIERED: Final = ("unclean-election-against-the-remote-log", "K39")
UNDRAWN: Final = ("clients", "messages", "links", "beats", "groups")
WORDS: Final = Catalogue()


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize(("slug", "profile"), [*sample(RUNS, 200), TIERED])
def test_every_beat_is_laid_out_as_on_the_page(slug: str, profile: str) -> None:
    replay = Replay(Run(library()[slug], profile))
    cases = list(_cases(replay))
    assert NODE
    lines = "\n".join(json.dumps(case) for case, _ in cases)
    answer = subprocess.run(
        [NODE, "tests/js/described.mjs"], input=lines, capture_output=True, text=True, cwd=ROOT
    )
    assert answer.returncode == 0, answer.stderr
    pages = answer.stdout.splitlines()
    assert len(pages) == len(cases) > 0
    for (case, own), page in zip(cases, pages, strict=True):
        where = f"{slug} {profile} step {case['step']} at {case['width']} x {case['height']}"
        assert own == [_comparable(one, case["marked"]) for one in json.loads(page)], where


def _cases(replay: Replay) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    facts = replay.facts()
    beats = {step for step, _ in facts["beats"]} | {replay.total}
    for step in replay.each(0, replay.total + 1):
        view = step["view"]
        part = telling_partition(view)
        if step["n"] not in beats or part is None:
            continue
        bare = {name: [] if name in UNDRAWN else value for name, value in view.items()}
        bare |= {"quorum": None}
        highest = facts["highest"].get(str(part["p"]), 0)
        for lang, width, height, room in PICTURES:
            say = None if room is thumbnail.ROOM else partial(WORDS.text, lang)
            tanks = lay_out(view, part, (width, height), say, room, highest)
            marked = say is not None
            case = {
                "view": bare,
                "step": step["n"],
                "marked": marked,
                "lang": lang,
                "width": width,
                "height": height + SKY,
                "sky": SKY,
                "partition": part["p"],
                "highest": facts["highest"],
                "letters": _letters(room),
            }
            yield case, [_comparable(_plain(one), marked) for one in tanks]


def _letters(room: TankRoom) -> dict[str, Any]:
    """Return a room as the page's `ROOM` has it."""
    letters = {"name": room.name, "role": room.role, "mark": room.role, "small": room.small}
    names = ("least", "cell", "tallest", "foot", "fold", "sunk", "shelf")
    return {name: getattr(room, name) for name in names} | {
        "type": letters,
        "sky": SKY,
        "strip": 0,
        "clients": 0,
        "others": 0,
    }


def _plain(tank: Tank) -> dict[str, Any]:
    return {
        "broker": tank.broker,
        "box": [tank.x, tank.top, tank.w, tank.floor],
        "level": tank.level,
        "mark": tank.mark if tank.mark[0][0] else None,
        "off": tank.off,
        "leads": tank.leads,
        "crowned": tank.leads and tank.crowned,
        "name": tank.name,
        "role": tank.role,
        "tone": tank.tone,
        "note": tank.note if tank.note[0] else None,
        "fold": (tank.fold.count, tank.fold.label) if tank.fold else None,
        "cells": [_plain_cell(one) for one in tank.cells],
        "foot": tank.foot,
        "shelf": [
            {
                "box": [one.x, one.y, one.w, one.h],
                "kind": one.kind,
                "label": one.label,
                "segments": [first for first, *_ in one.segments],
            }
            for one in tank.shelf
        ],
    }


def _plain_cell(cell: TankCell) -> dict[str, Any]:
    flags = ("offset", "open", "acked", "lost", "differs", "crossed")
    return {name: getattr(cell, name) for name in flags} | {
        "box": [cell.x, cell.y, cell.w, cell.h],
        "label": cell.label if cell.label[0] else None,
        "epoch": None if cell.crossed else cell.epoch,
    }


def _comparable(one: Any, marked: bool) -> Any:
    """Return it with numbers rounded; a picture without words has no columns for marks."""
    if isinstance(one, dict):
        left_out = set() if marked else {"mark", "name", "role", "note", "label", "fold"}
        found = {name: _comparable(value, marked) for name, value in one.items()}
        if not marked and "box" in found:
            found["box"] = found["box"][1::2]
        return {name: value for name, value in found.items() if name not in left_out}
    if isinstance(one, list | tuple):
        return [_comparable(each, marked) for each in one]
    return round(one, 3) if isinstance(one, float) else one


def test_the_partition_in_which_most_is_to_be_seen() -> None:
    replica: dict[str, Any] = {"records": [], "cut": []}
    quiet: dict[str, Any] = {"differ": None, "record": {"leader": 1}, "replicas": {"1": replica}}
    view: Any = {"ledger": {"lost": ["m1"]}, "partitions": [quiet]}
    assert telling_partition(view) is quiet
    for louder in (
        {**quiet, "record": {"leader": -1}},
        {**quiet, "differ": [0, 1]},
        {**quiet, "replicas": {"1": {"records": [{"id": "m1"}], "cut": []}}},
    ):
        view["partitions"].append(louder)
        assert telling_partition(view) is louder
    empty: View = {**view, "partitions": []}
    assert telling_partition(empty) is None
