"""Studies of trees of cycles: the pilot, the sums of their rows, and the rates of a year."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from app.batch import statistics
from app.batch.intervals import Look, weighed
from app.batch.runners.rows import read_chunks
from app.batch.runners.summary import CellSummary, Failure, Summary
from app.batch.runners.tables import ERROR
from app.batch.wire import AdviceDowntime, AdviceRates, AdviceWay
from app.core import clock
from engine.advisor.advice import YEAR_MS, Failures, Setting
from engine.advisor.cycle_rows import (
    BUSY,
    HEAVIEST_OF,
    LOST,
    NONE_LEFT,
    PATH,
    WAITS,
    row_of,
    sums_of,
)
from engine.advisor.cycles import Tree, best_effort
from engine.model.json_types import Json

Sums = dict[str, list[float]]

SLACK: Final = 1.5
PILOT_TREES: Final = 12
PILOT_S: Final = 40.0
PILOT_SEED: Final = 2**40
"""Far from the seeds of a study: what decides where to look must not be looked at again."""


def leaf_name(profile: str, cell: int, seed: int) -> str:
    return f"{profile}/{cell}/{seed}"


def pilot(
    setting: Setting,
    failures: Failures,
    profile: str,
    heard: Callable[[Sums, int], None],
    stop: Callable[[], bool] = lambda: False,
) -> dict[str, float]:
    """Play some trees and report their sums as they come; return the copies each path is worth."""
    trees: list[Tree] = []
    rows: list[Json] = []
    began = clock.monotonic()
    for number in range(PILOT_TREES):
        tree = Tree(setting, failures, profile, PILOT_SEED + number)
        trees.append(tree)
        rows.append(row_of(tree, profile, 0, PILOT_SEED + number))
        heard(sums_of(rows), len(rows))
        if stop() or clock.monotonic() > began + PILOT_S:
            break
    return best_effort(trees)


def summarise(directory: str, done: Collection[int], keep: int) -> tuple[Summary, dict[str, Json]]:
    """Return (counts of trees with their sums, cycles that lost by the name of their tree)."""
    groups: dict[tuple[str, int], list[Json]] = {}
    for row in read_chunks(directory, done):
        groups.setdefault((row["profile"], row["cell"]), []).append(row)
    cells, failures, leaves = [], [], {}
    for (profile, cell), rows in sorted(groups.items()):
        rows.sort(key=lambda row: int(row["seed"]))
        wrong = [row for row in rows if row["verdict"] == ERROR]
        lost = [row for row in rows if row["invariant"]]
        counts = {lost[0]["invariant"]: len(lost)} if lost else {}
        cells.append(
            CellSummary(profile, cell, len(rows), len(lost), len(wrong), counts, {}, sums_of(rows))
        )
        failures += [Failure(profile, cell, row["seed"], ERROR, -1, row["why"]) for row in wrong]
        leaf_of = {row["seed"]: json.loads(row["why"])["leaves"][0] for row in lost}
        for row in sorted(lost, key=lambda row: -float(leaf_of[row["seed"]]["weight"]))[:keep]:
            seed, leaf = row["seed"], leaf_of[row["seed"]]
            leaves[leaf_name(profile, cell, seed)] = leaf
            why = row["broken"][0]["why"]
            failures.append(Failure(profile, cell, seed, row["invariant"], 0, why))
    return Summary(tuple(cells), tuple(failures), []), leaves


def rates(
    sums: Mapping[str, Sequence[float]],
    trees: int,
    look: Look,
    overlaps: Mapping[int, float] | None = None,
) -> AdviceRates:
    """Return the rates of a year, as estimated from the sums of these trees.

    Where a loss needs all replicas out at once, it is no more frequent than that (`overlaps`, of a
    year), with SLACK for replicas that are back and have not caught up.
    """
    paths = {
        name.removeprefix(PATH): entry for name, entry in sums.items() if name.startswith(PATH)
    }
    healthy = YEAR_MS / (YEAR_MS * (1 + sums[BUSY][0] / max(1, trees)))
    seen = [path for path, entry in paths.items() if entry[2]]
    # With acks=all and clean elections a loss needs all replicas out: no fewer failures lose in
    # ways that were not met.  Without this promise, any failure may.
    enough = min([*(overlaps or {1: 0}), *(len(path.split(">")) for path in seen)])
    heaviest = max(
        (_heaviest(sums, path, overlaps) for path in paths if len(path.split(">")) >= enough),
        default=0.0,
    )
    lost = _interval(sums[LOST], heaviest, trees, look)
    unseen = max(
        (
            entry[1] / trees * statistics.rule_of_three(int(entry[0]), look)
            for path, entry in paths.items()
            if path not in seen
        ),
        default=0.0,
    )
    hits = int(sum(entry[2] for entry in paths.values()))
    if not hits:
        lost = {"mean": 0.0, "low": 0.0, "high": unseen}
    if overlaps is not None:
        open_ = sum(_not_played(paths, size, rate, trees) for size, rate in overlaps.items())
        most = SLACK * sum(overlaps.values())
        lost["high"] = max(lost["mean"], min(lost["high"] + open_, most))
        unseen = min(unseen, most)
    down = _interval(sums[WAITS], 0.0, trees, look)
    ways: list[AdviceWay] = [
        {"path": path.split(">"), "rate": paths[path][3] / trees * healthy}
        for path in sorted(seen, key=lambda path: -paths[path][3])
    ]
    return {
        "lost": {"hits": hits, "rate": lost["mean"] * healthy, "low": lost["low"] * healthy,
                 "high": lost["high"] * healthy},
        "down": {"mean": down["mean"] * healthy, "low": down["low"] * healthy,
                 "high": down["high"] * healthy},
        "unseen": unseen * healthy,
        "cycles": int(sum(entry[0] for entry in paths.values())),
        "ways": ways,
    }  # fmt: skip


def _heaviest(
    sums: Mapping[str, Sequence[float]], path: str, promised: Mapping[int, float] | None
) -> float:
    """Return the largest weight that one more loss by this path may have.

    What leaves a replica that has all loses nothing, as long as the promise of acks=all and clean
    elections is not seen to be broken.
    """
    none_left = all(not values[1] for name, values in sums.items() if name.startswith(NONE_LEFT))
    bare = sums.get(NONE_LEFT + path)
    if promised and none_left and bare:
        return bare[0]
    # For rows without that field: a process that crashes last keeps its log.
    return 0.0 if promised and path.endswith("process") else sums[HEAVIEST_OF + path][0]


def _not_played(paths: Mapping[str, Sequence[float]], size: int, rate: float, trees: int) -> float:
    """Return the yearly overlaps of `size` failures that a few trees have no cycles for.

    The first failure is given, so that none is missing there.
    """
    played = sum(
        entry[1]
        for path, entry in paths.items()
        if len(path.split(">")) == size and not path.endswith("process")
    )
    return max(0.0, rate - played / trees) if size > 1 else 0.0


def _interval(sums: Sequence[float], heaviest: float, trees: int, look: Look) -> AdviceDowntime:
    total, squares = sums
    low, high = weighed(total, squares, heaviest, look.alpha_of_look)
    n = max(1, trees)
    return {"mean": total / n, "low": float(low) / n, "high": float(high) / n}
