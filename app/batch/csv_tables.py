"""The tables of a study, and of two side by side, as CSV: every row, not only the first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flask import Blueprint, Response, request

from app.batch import records
from app.batch.pages import failures_wanted
from app.batch.pairs import pairs
from app.batch.result import failure_of, metrics_of
from app.batch.study_comparison import compared
from app.batch.study_pages import both, jobs
from app.web.api import csv_answer

blueprint = Blueprint("tables", __name__)

Table = list[list[Any]]
STUDY = ("scenario", "first_seed", "runs", "engine", "url")
"""Columns of a table of counts that say which study they are of."""


def _table(head: tuple[str, ...], found: Iterable[Mapping[str, object]]) -> Table:
    return [list(head), *([one[name] for name in head] for one in found)]


# -- of one study ----------------------------------------------------------------------------------


@blueprint.get("/batch/<number>/paired.csv")
def paired_csv(number: str) -> Response:
    """Return a row for each pair of sides and invariant: same seeds, and the sign test's p."""
    head = ("a", "b", "common", "invariant", "neither", "only_a", "only_b", "both", "p")
    batch = jobs().batch(number)
    return csv_answer(_table(head, pairs(batch)), f"paired-{batch.id}.csv")


@blueprint.get("/batch/<number>/measures.csv")
def measures_csv(number: str) -> Response:
    """Return a row for each measure, profile and cell."""
    head = ["measure", "unit", "profile", "cell", "n", "above_0", "mean", "min", "max"]
    rows: Table = [[*head, "p50", "p90", "p99", "p999"]]
    batch = jobs().batch(number)
    for metric in metrics_of(jobs(), batch):
        for cell in metric["cells"]:
            line = [metric["name"], metric["unit"], cell["profile"], cell["label"], cell["n"]]
            line += [cell["share"]["share"], cell["mean"], cell["min"], cell["max"]]
            rows.append(line + cell["quantiles"])
    return csv_answer(rows, f"measures-{batch.id}.csv")


@blueprint.get("/batch/<number>/shares.csv")
def shares_csv(number: str) -> Response:
    """Return a row for each profile, cell and promise, with all that repeats the study."""
    batch = jobs().batch(number)
    counts = ("hits", "n", "share", "low", "high")
    rows: Table = [["profile", "cell", "invariant", *counts, *STUDY]]
    digest = records.scenario_of(batch).digest
    study = [digest, batch.first_seed, batch.runs, batch.engine_version, request.base_url]
    for cell in jobs().snapshot_of(batch)["cells"]:
        for name, count in (("any", cell["violating"]), *cell["broken"].items()):
            values = [count[key] for key in counts]  # type: ignore[literal-required]
            rows.append([cell["profile"], cell["label"], name, *values, *study])
    return csv_answer(rows, f"shares-{batch.id}.csv")


@blueprint.get("/batch/<number>/failures.csv")
def failures_csv(number: str) -> Response:
    """Return the failing runs that the address selects, as the page does, with their links."""
    batch = jobs().batch(number)
    _, failures = records.failures(jobs().database, batch, failures_wanted(), limit=None)
    head = ("profile", "label", "seed", "invariant", "step", "lost", "steps", "why", "url")
    rows = [failure_of(batch, failure) for failure in failures]
    for row in rows:
        row["url"] = request.host_url.rstrip("/") + row["url"]
    return csv_answer(_table(head, rows), f"failures-{batch.id}.csv")


# -- of two ----------------------------------------------------------------------------------------


@blueprint.get("/batch/<number>/with/<other>/shares.csv")
def two_shares_csv(number: str, other: str) -> Response:
    """Return a row for each profile, cell and invariant: counts, difference, paired table."""
    names = ("hits", "n", "share", "low", "high")
    head = ["profile", "cell_a", "cell_b", "invariant"]
    head += [f"{name}_{side}" for side in "ab" for name in names]
    head += ["difference", "difference_low", "difference_high", "neither", "only_a", "only_b"]
    rows: list[list[Any]] = [[*head, "both", "p"]]
    for cell in compared(jobs(), *both(number, other))["cells"]:
        for row in cell["rows"]:
            line = [cell["profile"], cell["a"], cell["b"], row["invariant"] or "any"]
            line += [row[side][name] for side in "ab" for name in names]
            change, table = row["difference"] or {}, row["paired"] or {}
            line += [change.get(name, "") for name in ("share", "low", "high")]
            line += [table.get(key, "") for key in ("neither", "only_a", "only_b", "both", "p")]
            rows.append(line)
    return csv_answer(rows, f"shares-{number}-{other}.csv")


@blueprint.get("/batch/<number>/with/<other>/measures.csv")
def two_measures_csv(number: str, other: str) -> Response:
    """Return a row for each measure, profile and cell: what both measured."""
    names = ("n", "mean", "min", "max")
    sides = [f"{name}_{side}" for side in "ab" for name in (*names, "p50", "p90", "p99", "p999")]
    rows: list[list[Any]] = [["measure", "unit", "profile", "cell", *sides]]
    for metric in compared(jobs(), *both(number, other))["metrics"]:
        for row in metric["rows"]:
            line = [metric["name"], metric["unit"], row["profile"], row["label"]]
            for side in "ab":
                line += [row[side][name] for name in names] + row[side]["quantiles"]
            rows.append(line)
    return csv_answer(rows, f"measures-{number}-{other}.csv")
