"""Trees of cycles as rows of a batch, and their sums: what executors, driver and pages share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from engine.advisor.advice import YEAR_MS, Failures, Setting
from engine.advisor.cycles import Strike, Tree, format_path, replayed
from engine.model.errors import InputError
from engine.model.json_types import Json
from engine.sim.run import Run

CYCLES: Final = "cycles"
"""The key of a subject that is played as trees."""
PATH, HEAVIEST_OF = "path ", "heaviest "
NONE_LEFT: Final = "heaviest, none left: "
"""Before a path: (the heaviest of its cycles that left no replica, did one that left one lose)."""
EARLIER: Final = 7
"""Entries of a path as rows of before have them, which know nothing of what was left."""
LOST, WAITS, BUSY = "lost", "waits", "busy"
LEAVES_MOST: Final = 4
"""Cycles that lost, of one tree, that are kept to be opened: the heaviest."""

Sums = dict[str, list[float]]


def subject(setting: Setting, failures: Failures, effort: dict[str, float]) -> Json:
    """Return the subject of a cell: {"cycles": {"setting", "failures", "effort"}}."""
    return {CYCLES: {"setting": setting.values(), "failures": vars(failures).copy(),
                     "effort": effort}}  # fmt: skip


def tree_of(subject: Json, profile: str, seed: int) -> Tree:
    asked = subject[CYCLES]
    setting = Setting.of(profile, asked["setting"])
    return Tree(setting, Failures(**asked["failures"]), profile, seed, asked["effort"])


def row_of_tree(subject: Json, profile: str, cell: int, seed: int) -> Json:
    """Return a tree as a row.

    `why` has the counts, as JSON: losses and seconds of waiting of a year, the share of a year in
    cycles, the entries of each path, the heaviest cycles that lost.
    """
    try:
        return row_of(tree_of(subject, profile, seed), profile, cell, seed)
    except InputError as error:
        why = str(error)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
    return _empty(profile, cell, seed) | {"why": why[:300]}


def _empty(profile: str, cell: int, seed: int) -> Json:
    return {"cell": cell, "profile": profile, "seed": seed, "verdict": "error", "invariant": "",
            "step": -1, "why": "", "broken": [], "events": 0, "log_weight": 0}  # fmt: skip


def row_of(tree: Tree, profile: str, cell: int, seed: int) -> Json:
    row = _empty(profile, cell, seed)
    leaves = sorted(tree.leaves, key=lambda leaf: -leaf.weight)[:LEAVES_MOST]
    counted = {
        LOST: tree.lost * YEAR_MS,
        WAITS: tree.waits * YEAR_MS / 1_000,
        BUSY: tree.busy,
        "paths": {format_path(path): entry for path, entry in sorted(tree.paths.items())},
        "leaves": [
            {
                "weight": leaf.weight,
                "end_ms": leaf.end_ms,
                "strikes": [list(s) for s in leaf.strikes],
            }
            for leaf in leaves
        ],
    }
    row.update(verdict="holds", events=tree.events, why=json.dumps(counted, separators=(",", ":")))
    if leaves:
        name = "I7" if tree.setting.acks == "all" else "I8"
        why = format_path(tuple(strike.cause for strike in leaves[0].strikes))
        row.update(verdict="violates", invariant=name, step=0, broken=[[name, 0, why]])
    return row


def sums_of(rows: Iterable[Json]) -> Sums:
    """Return the sums of trees, per year.

    Of losses and waits the sum and that of squares, of each path (entries, weight, losses, their
    weight), the heaviest of it, the heaviest that left no replica.
    """
    sums: Sums = {LOST: [0.0, 0.0], WAITS: [0.0, 0.0], BUSY: [0.0]}
    for row in rows:
        if row["verdict"] == "error":
            continue
        counted = json.loads(row["why"])
        for name in (LOST, WAITS):
            sums[name][0] += counted[name]
            sums[name][1] += counted[name] ** 2
        sums[BUSY][0] += counted[BUSY]
        for path, entry in counted["paths"].items():
            mine = sums.setdefault(PATH + path, [0.0] * 4)
            scales = (1, YEAR_MS, 1, YEAR_MS)
            for at, scale in enumerate(scales):
                mine[at] += entry[at] * scale
            heaviest = sums.setdefault(HEAVIEST_OF + path, [0.0])
            heaviest[0] = max(heaviest[0], entry[4] * YEAR_MS)
            out, spared = entry[5:7] if len(entry) > EARLIER else (entry[4], 0)
            bare = sums.setdefault(NONE_LEFT + path, [0.0, 0.0])
            bare[:] = [max(bare[0], out * YEAR_MS), max(bare[1], min(1.0, spared))]
    return sums


def run_of_leaf(subject: Json, profile: str, seed: int, leaf: Json) -> Run:
    """Return a cycle that lost, as a run like any other: its failures are lines of a fault plan."""
    question = subject[CYCLES]
    setting = Setting.of(profile, question["setting"])
    strikes = [Strike(cause, kind, tuple(group), at_ms, mttr_ms)
               for cause, kind, group, at_ms, mttr_ms in leaf["strikes"]]  # fmt: skip
    played = replayed(setting, Failures(**question["failures"]), strikes, leaf["end_ms"])
    return Run(played, profile, seed)
