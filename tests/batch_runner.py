"""A runner without Spark: chunks one after the other in this thread, counted in plain Python."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Context, Decimal
from math import exp
from typing import Any

import pytest

from app.batch.jobs import Jobs
from app.batch.runners.pairing import LOST, cell_pairs, pair_of, profile_pairs
from app.batch.runners.plan import BatchPlan, PlanTally
from app.batch.runners.rows import ANY, RunChunk, finish_chunk, read_chunks
from app.batch.runners.summary import QUANTILES, CellSummary, Failure, Summary
from app.batch.runners.tables import SparkError
from app.server.services import Services
from app.storage.batch_fields import StoredPair
from engine.sim.run import Run
from engine.study.batch import by_promise
from engine.study.causes import cause_of
from engine.study.metrics import METRICS
from tests import batch_fakes

PLACES, PLACES_OF_WEIGHTS = Decimal("1e-12"), Decimal("1e-27")
WIDE = Context(prec=60, rounding=ROUND_HALF_UP)


def plain_jobs(services: Services, play: RunChunk, pace_s: float = 0.0) -> Jobs:
    """The application's batches, played by `play` in this process from now on."""
    services.jobs = Jobs(
        services.database,
        services.settings,
        lambda told, to: services.socketio.emit("batch", told, to=to),
        PlainRunner(pace_s),  # type: ignore[arg-type]
        play,
    )
    return services.jobs


def play_chunk(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the fake's rows for a real scenario; a loss under an even seed broke no promise."""
    scenario = {"name": chunk["scenario"]["title"]}
    rows = []
    for fake in batch_fakes.play_chunk({**chunk, "scenario": scenario}):
        row = {**dict.fromkeys(METRICS), **fake}
        if row["verdict"] != "error":
            lost = int(bool(row["broken"]))
            row.update(acked_lost=lost, promised_lost=lost * (row["seed"] % 2))
        rows.append(by_promise(row))
    return rows


class PlainRunner:
    """Behaves as SparkRunner does; `trouble` is what the next start or run fails with."""

    def __init__(self, pace_s: float = 0.0) -> None:
        self.pace_s = pace_s
        self.trouble: dict[str, str] = {}
        self.closed = False

    def __str__(self) -> str:
        return "one plain process"

    def cores(self) -> int:
        return 1

    def start(self) -> None:
        self._fail("start")

    def close(self) -> None:
        self.closed = True

    def _fail(self, where: str) -> None:
        if where in self.trouble:
            raise SparkError(self.trouble.pop(where))

    def run(
        self,
        plan: BatchPlan,
        directory: str,
        tag: str,
        on_done: Callable[[list[PlanTally]], None],
        stop: Callable[[], bool],
        done: Collection[int],
        run_chunk: RunChunk,
    ) -> bool:
        for chunk in plan.chunks():
            if chunk.number in done:
                continue
            if stop():
                return False
            tally = finish_chunk(chunk, plan.scenarios, plan.metrics, directory, run_chunk)
            on_done([tally])
            time.sleep(self.pace_s)
            self._fail("run")
        return True

    def summarise(
        self, plan: BatchPlan, directory: str, done: Collection[int], keep: int
    ) -> Summary:
        self._fail("summarise")
        return summary_of(list(read_chunks(directory, done)), plan, keep)

    def causes(self, runs: Sequence[str]) -> list[tuple[str, str] | None]:
        """Trace the first run only: to trace one is to play it, and rows may be fakes."""
        return [cause_of(Run.from_text(text)) for text in runs[:1]] + [None] * (len(runs) - 1)


def summary_of(rows: list[dict[str, Any]], plan: BatchPlan, keep: int) -> Summary:
    """Return the summary that Spark's SQL must give for these rows."""
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["profile"], row["cell"]), []).append(row)
    cells = []
    failures = []
    top = _top([row for row in rows if row["verdict"] != "error"])
    for (profile, cell), mine in sorted(groups.items()):
        judged = [row for row in mine if row["verdict"] != "error"]
        metrics = {name: _metric(judged, name, plan.tilted, top) for name in plan.metrics}
        violating = sum(row["verdict"] == "violates" for row in judged)
        broken = Counter(b["invariant"] for row in judged for b in row["broken"])
        cells.append(
            CellSummary(profile, cell, len(mine), violating, len(mine) - len(judged),
                        dict(broken), metrics, _weights(judged, plan, top))
        )  # fmt: skip
        found: dict[str, list[Failure]] = {}
        for row in sorted(mine, key=lambda row: row["seed"]):
            why = [(b["invariant"], b["step"], b["why"]) for b in row["broken"]]
            if row["verdict"] == "error":
                why = [("error", -1, row["why"])]
            for invariant, step, text in why:
                failed = row["verdict"] == "error"
                told = (None, None) if failed else (row.get("acked_lost"), row.get("steps"))
                found.setdefault(invariant, []).append(
                    Failure(profile, cell, row["seed"], invariant, step, text, *told)
                )
        for invariant in sorted(found):
            failures += _kept(found[invariant], keep)
    return Summary(tuple(cells), tuple(failures), _pairs(rows, plan))


def check_same(found: Summary, wanted: Summary) -> None:
    """Equal; sums of weights but for the last digits, as exp() has its own on each machine."""
    assert _bare(found) == _bare(wanted)
    for mine, other in zip(found.cells, wanted.cells, strict=True):
        assert mine.weights.keys() == other.weights.keys()
        for name, sums in mine.weights.items():
            assert sums == pytest.approx(other.weights[name], rel=1e-9), name


def _bare(summary: Summary) -> Summary:
    return replace(summary, cells=tuple(replace(one, weights={}) for one in summary.cells))


def _kept(found: list[Failure], keep: int) -> list[Failure]:
    """The first, the shortest and those that lost most, by seed."""
    orders: list[Callable[[Failure], Any]] = [
        lambda one: one.seed,
        lambda one: (one.step, one.seed),
        lambda one: (one.lost is None, -(one.lost or 0), one.seed),
    ]
    kept = {one.seed for order in orders for one in sorted(found, key=order)[:keep]}
    return [one for one in found if one.seed in kept]


def _weights(rows: list[dict[str, Any]], plan: BatchPlan, top: int) -> dict[str, list[float]]:
    """In decimals, as the SQL has them: scaled by the heaviest run, and so back again."""
    if not plan.tilted:
        return {}
    once = exp(top / 1e9)
    scales = [once, once * once, once, once * once]
    struck = [row for row in rows if "faults" not in plan.metrics or (row["faults"] or 0) > 0]
    heaviest = max((_weight(row, top) for row in struck), default=Decimal(0))
    found: dict[str, list[Decimal]] = {"heaviest": [heaviest]}
    found |= {f"metric {name}": [Decimal(0)] * 4 for name in plan.metrics}
    for row in rows:
        power = row["log_weight"] - top
        weight, square = exp(power / 1e9), exp(2 * power / 1e9)
        for name in plan.metrics:
            value = row.get(name) or 0
            one = [weight, square] if value > 0 else [0.0, 0.0]
            more = [_decimal(part) for part in one]
            more += [_decimal(weight * value, PLACES), _decimal(square * value * value, PLACES)]
            sums = found[f"metric {name}"]
            found[f"metric {name}"] = [a + b for a, b in zip(sums, more, strict=True)]
        for name in {b["invariant"] for b in row["broken"]} | ({"any"} if row["broken"] else set()):
            sums = found.setdefault(name, [Decimal(0), Decimal(0)])
            found[name] = [sums[0] + _decimal(weight), sums[1] + _decimal(square)]
    return {
        name: [scale * float(one) for scale, one in zip(scales, sums, strict=False)]
        for name, sums in found.items()
    }


def _top(rows: list[dict[str, Any]]) -> int:
    return max((row["log_weight"] for row in rows), default=0)


def _weight(row: dict[str, Any], top: int) -> Decimal:
    return _decimal(exp((row["log_weight"] - top) / 1e9))


def _decimal(value: float, places: Decimal = PLACES_OF_WEIGHTS) -> Decimal:
    return WIDE.quantize(Decimal(repr(value)), places)


def percentile(values: Sequence[int], share: float) -> int | None:
    """The smallest value with at least `share` of all at or below it: SQL's percentile_disc."""
    if not values:
        return None
    rank = max(1, math.ceil(share * len(values)))
    return sorted(values)[rank - 1]


def _metric(rows: list[dict[str, Any]], name: str, tilted: bool, top: int) -> dict[str, Any]:
    those = [row for row in rows if row.get(name) is not None]
    values = [row[name] for row in those]
    at = [
        heavier(those, name, Decimal(str(q)), top) if tilted else percentile(values, q)
        for q in QUANTILES
    ]
    return {
        "n": len(values),
        "sum": sum(values),
        "positive": sum(value > 0 for value in values),
        "min": min(values, default=None),
        "max": max(values, default=None),
        "quantiles": at if values else None,
    }


def heavier(rows: list[dict[str, Any]], name: str, share: Decimal, top: int = 0) -> int | None:
    """The smallest value so that the rows at or below it have this share of the weight."""
    enough = share * sum((_weight(row, top) for row in rows), Decimal(0))
    below = Decimal(0)
    for row in sorted(rows, key=lambda row: int(row[name])):
        below += _weight(row, top)
        if below >= enough:
            return int(row[name])
    return None


def _pairs(rows: list[dict[str, Any]], plan: BatchPlan) -> list[StoredPair]:
    if plan.futures or plan.tilted:
        return []
    broke: dict[tuple[str, int], dict[int, set[str]]] = {}
    for row in rows:
        if row["verdict"] != "error":
            names = {b["invariant"] for b in row["broken"]}
            names |= {ANY} if row["verdict"] == "violates" else set()
            broke.setdefault((row["profile"], row["cell"]), {})[row["seed"]] = names
    cells = range(len(plan.scenarios))
    sides = [
        ((plan.profiles[a], cell), (plan.profiles[b], cell))
        for cell in cells
        for a, b in profile_pairs(len(plan.profiles))
    ]
    sides += [
        ((profile, a), (profile, b))
        for profile in sorted(plan.profiles)
        for a, b in cell_pairs(len(plan.scenarios))
    ]
    return [
        pair_of(a, b, name, _table(broke[a], broke[b], name))
        for a, b in sides
        if broke.get(a, {}).keys() & broke.get(b, {}).keys()
        for name in (ANY, LOST)
    ]


def _table(a: dict[int, set[str]], b: dict[int, set[str]], name: str) -> list[int]:
    table = [0, 0, 0, 0]
    for seed in a.keys() & b.keys():
        table[(name in a[seed]) + 2 * (name in b[seed])] += 1
    return table
