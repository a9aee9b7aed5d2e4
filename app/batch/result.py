"""A batch as pages and programs get it: counts with intervals, sentences, comparisons, failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Final, cast

from app.advisor.result import KIND
from app.batch import records, statistics, wire
from app.batch.computation import FAILURES_KEPT
from app.batch.intervals import Look, is_within, knowable, runs_needed
from app.batch.jobs import Jobs
from app.batch.pairs import pair_sentences, pairs
from app.batch.runners.summary import QUANTILES, Failure
from app.storage.database import Database
from app.storage.models import BatchCellRow, BatchRow
from engine.model.configs import build
from engine.model.profiles import get_profile
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.study.batch import ERROR, LOST, UNPROMISED, broken_in
from engine.study.futures import turn
from engine.study.metrics import METRICS

SENTENCES_MOST = 16
UNCLEAN = "unclean.leader.election.enable"
PRECISE = 0.2
"""To either side of a share: when it is known well enough to act on."""
FAILURES_SHOWN = 50
SHOWN_QUANTILES = (0.5, 0.9, 0.99, 0.999)


def played(
    jobs: Jobs, number: str, progress: Callable[[wire.BatchSnapshot], None]
) -> wire.BatchResult:
    """Wait for a batch to end, without the page, and return the result."""
    jobs.wait(number, progress)
    return result(jobs, number)


def result(
    jobs: Jobs,
    number: str,
    only: records.FailureFilter = records.EVERY_FAILURE,
    first: int = 0,
) -> wire.BatchResult:
    """Return all that is known of a batch.

    Of the failures that are wanted, FAILURES_SHOWN from one on.
    """
    batch = jobs.batch(number)
    scenario = records.scenario_of(batch)
    shown = jobs.snapshot_of(batch)
    paired = pairs(batch)
    total, failures = records.failures(jobs.database, batch, only, first, FAILURES_SHOWN)
    look = records.look_of(batch)
    metrics = metrics_of(jobs, batch)
    weighted = any("effective" in cell["unseen"] for cell in shown["cells"])
    return {
        **shown,
        "scenario": {
            "slug": scenario.slug,
            "code": scenario.code,
            "title": scenario.title,
            "digest": scenario.digest,
        },
        "title": batch.title,
        "profiles": batch.profiles,
        "runs": batch.runs,
        "first_seed": batch.first_seed,
        "submitted": batch.submitted,
        "started": batch.started,
        "finished": batch.finished,
        "engine": batch.engine_version,
        "kind": batch.kind,
        "varied": sorted({key for cell in batch.cells for key in cell["values"]}),
        "invariants": sorted(
            {name for cell in shown["cells"] for name in cell["broken"]}, key=place
        ),
        "sentences": [
            *sentences(shown["cells"]),
            *_other_defaults(scenario, batch),
            *_not_told_apart(batch, shown["cells"], metrics),
        ],
        "metrics": metrics,
        "paired": paired,
        "paired_said": pair_sentences(paired),
        "advice": jobs.advice_of(batch) if batch.kind == KIND else None,
        "futures": futures_of(batch, shown["cells"]),
        "causes": batch.about.get("causes", []),
        "weighted": weighted,
        # Runs of different weights are not worth a dot each; copies and futures have no seeds.
        "dots": []
        if weighted or batch.kind != records.SEEDS
        else dots(jobs.database, batch, shown["cells"]),
        "cycles": records.is_of_cycles(batch),
        "look": {"at_once": look.at_once, "growing": look.growing},
        "needs": needs(shown["cells"], shown["runs_per_s"]),
        "within": batch.about.get("within", 0),
        "failures": {
            "total": total,
            "first": first,
            "rows": [failure_of(batch, failure) for failure in failures],
        },
    }


def failure_of(batch: BatchRow, failure: Failure) -> wire.BatchFailure:
    """Return a failing run as pages and programs get it.

    Its address stays, whatever runs are added.
    """
    url = records.row_path(batch.id, failure.profile, failure.cell, failure.seed, failure.invariant)
    shown = {**asdict(failure), "label": batch.cells[failure.cell]["label"], "url": url}
    return cast(wire.BatchFailure, shown)


def futures_of(batch: BatchRow, cells: list[wire.CellJson]) -> wire.BatchFutures | None:
    """Return the shares of a batch of futures step by step, and from where on most of them fail.

    `point` is the first step after `held`, the last one at which at least half of the futures held
    (None: at none of those that were looked at).
    """
    if batch.kind != records.FUTURES:
        return None
    run, invariant = Run.from_text(batch.about["run"]), batch.about["invariant"]
    steps: list[wire.FuturesStep] = []
    for cell in cells:
        count = cell["broken"].get(invariant) or cell["unseen"]
        if count["n"]:
            step = int(cell["values"]["step"])
            share = count["share"] or 0.0
            steps.append({"step": step, "share": share, "low": count["low"], "high": count["high"]})
    held, point = turn((row["step"], row["share"]) for row in steps)
    broken = max(present["step"] for present in batch.about["presents"]) + 1
    here = point if point is not None else broken - 1
    return {
        "run": run.digest,
        "invariant": invariant,
        "steps": steps,
        "point": point,
        "held": held,
        "said": "none" if point is None else "always" if held is None else "point",
        "broken": broken,
        "url": f"/batch/{batch.id}/run?step={here}",
    }


def needs(cells: list[wire.CellJson], runs_per_s: float) -> wire.BatchNeeds | None:
    """Return what the study lacks to be precise: {seen, within, runs, seconds}.

    Of the rarest share, or of a bound where nothing was seen at all; None where it is precise, or
    empty.
    """
    counts = [cell["violating"] for cell in cells if cell["n"]]
    if not counts:
        return None
    seen = [count for count in counts if count["share"]]
    rarest = min(seen, key=lambda count: count["share"] or 0.0) if seen else counts[0]
    share = rarest["share"] or min(1.0, rarest["high"])
    if seen and is_within(share, rarest["low"], rarest["high"], PRECISE):
        return None
    if "effective" in rarest:  # such runs are not worth the same
        runs = round(rarest["n"] * runs_needed(share, PRECISE) / rarest["effective"])
    else:
        runs = runs_needed(share, PRECISE)
    seconds = runs * len(cells) / runs_per_s if runs_per_s else None
    return {"seen": bool(seen), "within": PRECISE, "runs": runs, "seconds": seconds}


def place(invariant: str) -> tuple[int, str]:
    """Return a sort key that puts I2 before I10, and records lost by no promise after I7."""
    digits = "".join(letter for letter in broken_in(invariant) if letter.isdigit())
    return (int(digits or 0), invariant)


def sentences(cells: list[wire.CellJson]) -> list[wire.StudyFinding]:
    """Return findings from the counts: first lost records, then whatever else was broken.

    Each is a key of the catalogue with its numbers; `bad` marks what happened.  Records that are
    lost though Kafka had promised to keep them, and those that nothing promised, are two findings,
    as in the verdict of a run.
    """
    said = []
    for cell in cells:
        if cell["n"]:
            said.append(finding_of(cell, LOST))
        if UNPROMISED in cell["broken"] and cell["broken"][UNPROMISED]["hits"]:
            said.append(_gone(cell))
    for cell in cells:
        for invariant in sorted(cell["broken"], key=place):
            if invariant not in (LOST, UNPROMISED) and cell["broken"][invariant]["hits"]:
                said.append(finding_of(cell, invariant))
    if len(said) <= SENTENCES_MOST:
        return said
    # The list may be cut: losses come first, then that there were none, then the rest.
    said.sort(key=lambda sentence: (not sentence["first"], not sentence["bad"]))
    left = {"n": len(said) - SENTENCES_MOST}
    more: wire.StudyFinding = {"key": "batch.said.more", "args": left, "bad": None, "first": False}
    return [*said[:SENTENCES_MOST], more]


def _gone(cell: wire.CellJson) -> wire.StudyFinding:
    """Return in how many more runs only records are lost that nothing promised to keep."""
    _, args = statistics.finding(cell["broken"][UNPROMISED])
    args.update(profile=cell["profile"], label=cell["label"])
    key = "batch.said.gone" + (".at" if cell["label"] else "")
    return {"key": key, "args": args, "bad": None, "first": True}


def _other_defaults(scenario: Scenario, batch: BatchRow) -> Iterator[wire.StudyFinding]:
    """Yield a finding if the releases of a study differ in whether unclean election is allowed."""
    values = {
        name: build(get_profile(name), scenario.configs).values[UNCLEAN] for name in batch.profiles
    }
    if len(set(values.values())) > 1 and not any(UNCLEAN in cell["values"] for cell in batch.cells):
        allowed = [get_profile(name).stands_for for name in values if values[name]]
        args = {"setting": UNCLEAN, "releases": ", ".join(allowed)}
        yield {"key": "batch.said.defaults", "args": args, "bad": None, "first": True}


def _not_told_apart(
    batch: BatchRow, cells: list[wire.CellJson], metrics: list[wire.BatchMetric]
) -> Iterator[wire.StudyFinding]:
    """Yield a finding if losses were counted before promised records were told from others."""
    names = {metric["name"] for metric in metrics}
    lost = any(LOST in cell["broken"] and cell["broken"][LOST]["hits"] for cell in cells)
    older = "acked_lost" in names and "promised_lost" not in names
    if lost and older and batch.kind == records.SEEDS and not records.is_of_cycles(batch):
        yield {"key": "batch.said.older", "args": {}, "bad": None, "first": True}


def finding_of(cell: wire.CellJson, invariant: str) -> wire.StudyFinding:
    """Return the finding on a promise of a profile and cell."""
    count = cell["broken"].get(invariant) or cell["unseen"]
    key, args = statistics.finding(count)
    family = "lost" if invariant == LOST else "broke"
    args.update(profile=cell["profile"], invariant=invariant, label=cell["label"])
    where = ".at" if cell["label"] else ""
    return {
        "key": f"batch.said.{family}.{key.removeprefix('stat.')}{where}",
        "args": args,
        "bad": bool(count["hits"]),
        "first": invariant == LOST,
    }


def metrics_of(jobs: Jobs, batch: BatchRow) -> list[wire.BatchMetric]:
    """Return for each metric its meaning, and what was measured for each profile and cell."""
    rows = records.cells(jobs.database, batch)
    look = records.look_of(batch)
    metrics: list[wire.BatchMetric] = []
    for name, metric in METRICS.items():
        measured = [_measured(row, name, look) for row in rows if name in row.metrics]
        if measured:
            metrics.append(
                {
                    "name": name,
                    "unit": metric.unit,
                    "meaning": metric.meaning,
                    "summary": metric.summary,
                    "cells": measured,
                }
            )
    return metrics


def _measured(row: BatchCellRow, name: str, look: Look) -> wire.Measured:
    """Return a metric of a cell, without the percentiles that its runs cannot bound.

    Half of five hundred runs lie below their median, but they say nothing of one in a thousand.
    """
    measured = row.metrics[name]
    n = measured["n"]
    quantiles = dict(zip(QUANTILES, measured["quantiles"] or (), strict=False))
    quantiles = {at: value for at, value in quantiles.items() if knowable(n, at)}
    mean = measured["sum"] / n if n else None
    if row.weights and n:
        mean = row.weights[f"metric {name}"][2] / n
    share = records.share_of(measured["positive"], n, row.weights, f"metric {name}", look)
    return {
        "profile": row.profile,
        "cell": row.cell,
        "label": row.label,
        "n": n,
        "mean": mean,
        "min": measured["min"],
        "max": measured["max"],
        "share": share,
        "curve": list(quantiles.items()),
        "quantiles": [quantiles.get(at) for at in SHOWN_QUANTILES],
    }


DOTS: Final = 200
"""Runs of a side that are drawn."""
SIDES: Final = 6
LOSES, GONE, BREAKS, FAILS, HOLDS = "lost", "gone", "broken", "error", "held"


def dots(database: Database, batch: BatchRow, cells: list[wire.CellJson]) -> list[wire.Dots]:
    """Return the dots of the first sides whose runs are all there.

    [{profile, cell, label, runs, lost, dots: [{seed, kind, url}]}]; a run is lost, gone,
    broken, error or held.

    Of a side with more failures than are kept, only the runs up to the last one that is known.
    """
    whole = [cell for cell in cells if cell["n"] and cell["n"] + cell["errors"] >= batch.runs]
    return [_side(database, batch, cell) for cell in whole[:SIDES]]


def _side(database: Database, batch: BatchRow, cell: wire.CellJson) -> wire.Dots:
    by_seed = records.FailureFilter(cell["profile"], "", cell["cell"], "seed")
    _, failures = records.failures(database, batch, by_seed, 0, None)
    seeds: dict[str, list[int]] = {}
    for failure in failures:
        seeds.setdefault(failure.invariant, []).append(failure.seed)
    until = batch.first_seed + min(DOTS, batch.runs)
    for name, listed in seeds.items():
        hits = cell["errors"] if name == ERROR else _hits(cell, name)
        if hits > len(listed):
            until = min(until, sorted(listed)[:FAILURES_KEPT][-1] + 1)
    named: dict[int, str] = {}
    for name in sorted(seeds, key=lambda key: (key != LOST, key != UNPROMISED, key == ERROR, key)):
        for seed in seeds[name]:
            named.setdefault(seed, name)
    place = batch.id, cell["profile"], cell["cell"]
    return {
        "profile": cell["profile"],
        "cell": cell["cell"],
        "label": cell["label"],
        "runs": cell["n"],
        "lost": _hits(cell, LOST),
        "dots": [
            {
                "seed": seed,
                "kind": _kind(named.get(seed, "")),
                "url": records.row_path(*place, seed, named.get(seed, "")),
            }
            for seed in range(batch.first_seed, until)
        ],
    }


def _hits(cell: wire.CellJson, invariant: str) -> int:
    count = cell["broken"].get(invariant)
    return count["hits"] if count else 0


def _kind(invariant: str) -> str:
    return {LOST: LOSES, UNPROMISED: GONE, ERROR: FAILS, "": HOLDS}.get(invariant, BREAKS)
