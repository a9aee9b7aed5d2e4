"""A batch as pages and programs get it: counts with intervals, sentences, comparisons, failures."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from app import batch_records as records
from app import stats
from app.advice_result import advice_of
from app.models import BatchCellRow, BatchRow
from app.runners.summary import QUANTILES
from engine.sim.run import Run
from engine.study.metrics import METRICS

if TYPE_CHECKING:
    from app.jobs import Jobs

LOST = "I7"
"""An acknowledged record is gone: every result speaks of it first, also when it never happened."""
SENTENCES_MOST = 16
HALF = 0.5
FAILURES_SHOWN = 50
ALL_PAIRS_UP_TO = 3
"""Profiles; with more of them, each is compared with the first only."""

SHOWN_QUANTILES = (0.5, 0.9, 0.99, 0.999)


def result(
    jobs: Jobs,
    number: str,
    profile: str = "",
    invariant: str = "",
    cell: int = records.EVERY_CELL,
    first: int = 0,
    limit: int = FAILURES_SHOWN,
    shortest: bool = False,
) -> dict[str, Any]:
    """All that is known of a batch; of the failures, some that match profile, invariant, cell."""
    batch = jobs.batch(number)
    scenario = records.scenario_of(batch)
    shown = jobs.snapshot(number)
    weighted = any("effective" in cell["unseen"] for cell in shown["cells"])
    total, found = records.failures(
        jobs.database, batch, profile, invariant, cell, first, limit, shortest
    )
    shown.update(
        scenario={
            "slug": scenario.slug,
            "code": scenario.code,
            "title": scenario.title,
            "digest": scenario.digest,
        },
        title=batch.title,
        profiles=batch.profiles,
        runs=batch.runs,
        first_seed=batch.first_seed,
        submitted=batch.submitted,
        started=batch.started,
        finished=batch.finished,
        engine=batch.engine_version,
        varied=sorted({key for cell in batch.cells for key in cell["values"]}),
        invariants=sorted({name for cell in shown["cells"] for name in cell["broken"]}, key=place),
        sentences=sentences(shown["cells"]),
        metrics=metrics_of(jobs, batch),
        paired=[] if weighted else pairs(batch),
        advice=advice_of(jobs.database, batch),
        futures=futures_of(batch, shown["cells"]),
        causes=batch.about.get("causes", []),
        weighted=weighted,
        failures={
            "total": total,
            "first": first,
            "rows": [
                {
                    "n": at,
                    "profile": one.profile,
                    "cell": one.cell,
                    "label": batch.cells[one.cell]["label"],
                    "seed": one.seed,
                    "invariant": one.invariant,
                    "step": one.step,
                    "why": one.why,
                    "url": f"/batch/{batch.id}/failure/{at}",
                }
                for at, one in found
            ],
        },
    )
    return shown


def futures_of(batch: BatchRow, cells: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Of a batch of futures: the shares step by step, and from where on most of them fail.

    `point` is the first step after the last one at which at least half of the futures held.
    """
    if batch.kind != records.FUTURES:
        return None
    run, invariant = Run.from_text(batch.about["run"]), batch.about["invariant"]
    steps = []
    for cell in cells:
        count = cell["broken"].get(invariant) or cell["unseen"]
        if count["n"]:
            step = batch.about["presents"][cell["cell"]]["step"]
            steps.append({"step": step, **{name: count[name] for name in ("share", "low", "high")}})
    point = None
    for one in reversed(steps):
        if one["share"] <= HALF:
            break
        point = one["step"]
    broken = batch.about["presents"][-1]["step"] + 1
    here = point if point is not None else broken - 1
    return {
        "run": run.digest,
        "invariant": invariant,
        "steps": steps,
        "point": point,
        "broken": broken,
        "url": f"/batch/{batch.id}/run?step={here}",
    }


def place(invariant: str) -> tuple[int, str]:
    """I2 before I10."""
    digits = "".join(letter for letter in invariant if letter.isdigit())
    return (int(digits or 0), invariant)


def sentences(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the counts say: first of lost records, then of whatever else was broken.

    Each is a key of the catalogue with its numbers; `bad` marks what happened.
    """
    said = [_sentence(cell, LOST) for cell in cells if cell["n"]]
    for cell in cells:
        for invariant in sorted(cell["broken"], key=place):
            if invariant != LOST and cell["broken"][invariant]["hits"]:
                said.append(_sentence(cell, invariant))
    return said[:SENTENCES_MOST]


def _sentence(cell: dict[str, Any], invariant: str) -> dict[str, Any]:
    count = cell["broken"].get(invariant) or cell["unseen"]
    key, args = stats.finding(count)
    family = "lost" if invariant == LOST else "broke"
    args.update(profile=cell["profile"], invariant=invariant, label=cell["label"])
    where = ".at" if cell["label"] else ""
    return {
        "key": f"batch.said.{family}.{key.removeprefix('stat.')}{where}",
        "args": args,
        "bad": bool(count["hits"]),
        "first": invariant == LOST,
    }


def metrics_of(jobs: Jobs, batch: BatchRow) -> list[dict[str, Any]]:
    """Per metric what it means, and per profile and cell what was measured."""
    rows = records.cells(jobs.database, batch)
    found = []
    for name, metric in METRICS.items():
        measured = [
            _measured(row, name)
            for row in rows
            if name in row.metrics
        ]
        if measured:
            found.append(
                {
                    "name": name,
                    "unit": metric.unit,
                    "meaning": metric.meaning,
                    "summary": metric.summary,
                    "cells": measured,
                }
            )
    return found


def _measured(row: BatchCellRow, name: str) -> dict[str, Any]:
    kept = row.metrics[name]
    n, quantiles = kept["n"], kept["quantiles"]
    mean = kept["sum"] / n if n else None
    if row.weights and n:
        mean = row.weights[f"metric {name}"][2] / n
    share = records.share_of(kept["positive"], n, row.weights, f"metric {name}")
    return {
        "profile": row.profile,
        "cell": row.cell,
        "label": row.label,
        "n": n,
        "mean": mean,
        "min": kept["min"],
        "max": kept["max"],
        "share": share,
        "curve": [] if quantiles is None else list(zip(QUANTILES, quantiles, strict=True)),
        "quantiles": [
            None if quantiles is None else quantiles[QUANTILES.index(at)] for at in SHOWN_QUANTILES
        ],
    }


def pairs(batch: BatchRow) -> list[dict[str, Any]]:
    """Profiles two by two over the same seeds, with the exact sign test."""
    count = len(batch.profiles)
    chosen = [
        pair for pair in combinations(range(count), 2) if count <= ALL_PAIRS_UP_TO or pair[0] == 0
    ]
    found = []
    for cell in batch.cells:
        masks = {int(mask): n for mask, n in cell.get("together", {}).items()}
        for a, b in chosen if masks else ():
            table = stats.paired(masks, a, b)
            found.append(
                {
                    "label": cell["label"],
                    "a": batch.profiles[a],
                    "b": batch.profiles[b],
                    "neither": table.neither,
                    "only_a": table.only_first,
                    "only_b": table.only_second,
                    "both": table.both,
                    "p": table.p,
                }
            )
    return found
