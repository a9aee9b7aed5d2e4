"""Counts over the rows of a batch: SQL in, a few numbers per profile and cell out."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from app.batch.runners.pairing import pair_up
from app.batch.runners.plan import BatchPlan
from app.batch.runners.tables import ERROR, Row, Tables
from app.batch.runners.weighing import percentiles, weigh
from app.storage.batch_fields import MetricSummary, StoredPair

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)
ASKED_AT_ONCE = 3
TOLD = ("profile", "cell", "seed", "invariant", "step", "why", "lost", "steps")


@dataclass(frozen=True)
class CellSummary:
    """One profile in one cell.

    `n` counts all runs, also the `errors` that failed themselves: of those nothing else is counted.
    `metrics` maps a name to n (runs that have it), sum, positive (runs above zero), min, max and
    quantiles: the values at QUANTILES, each one that occurred (percentile_disc; where runs count
    differently, `percentiles` of weighing.py).
    `weights` holds the sums of weighing.py; empty where every run counts the same.
    """

    profile: str
    cell: int
    n: int
    violating: int
    errors: int
    broken: dict[str, int]
    metrics: dict[str, MetricSummary]
    weights: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """A run that broke an invariant, or failed itself (invariant "error", step -1).

    `lost` counts records that were acknowledged with acks=all, `steps` the length of the run; None
    where that was not measured.
    """

    profile: str
    cell: int
    seed: int
    invariant: str
    step: int
    why: str
    lost: int | None = None
    steps: int | None = None


@dataclass(frozen=True)
class Summary:
    """All of a batch that is kept in the database."""

    cells: tuple[CellSummary, ...]
    failures: tuple[Failure, ...]
    pairs: list[StoredPair]


def summarise(tables: Tables, plan: BatchPlan, keep: int) -> Summary:
    """Count the rows of a batch.

    Of each profile, cell and invariant it keeps `keep` failures by each of ORDERS.
    """
    # Spark spends most of its time on planning, which uses one core: so all at once.
    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        measured = pool.submit(tables.ask, cells_sql(plan.metrics, plan.tilted, tables))
        failed = pool.submit(tables.ask, failures_sql(plan.metrics, tables, max(1, keep)))
        pairs = pool.submit(_pairs, tables, plan)
        weights = weigh(tables, plan.metrics) if plan.tilted else {}
        tilted = percentiles(tables, plan.metrics, QUANTILES) if plan.tilted else {}
    counts: dict[tuple[str, int], dict[str, int]] = {}
    for row in failed.result():
        if row["invariant"] != ERROR:
            group = counts.setdefault((row["profile"], row["cell"]), {})
            group[row["invariant"]] = row["n"]
    cells = []
    for row in measured.result():
        key = row["profile"], row["cell"]
        metrics = _metrics(row, plan, tilted.get(key, {}))
        wrong, broken = row["errors"], counts.get(key, {})
        cells.append(
            CellSummary(
                *key, row["n"], row["violating"], wrong, broken, metrics, weights.get(key, {})
            )
        )
    return Summary(
        tuple(cells),
        tuple(
            Failure(**{name: row[name] for name in TOLD})
            for row in failed.result()
            if row["place"] <= keep
        ),
        pairs.result(),
    )


MEASURED = {"lost": "acked_lost", "steps": "steps"}
"""Fields that are reported of a failing run, and the metrics that they come from."""
ORDERS = {"seed": "seed", "step": "step, seed", "lost": "lost DESC NULLS LAST, seed"}
"""The first, the shortest, and those that lost most."""


def failures_sql(metrics: Sequence[str], tables: Tables, keep: int) -> str:
    """Return the SQL of failing runs, with their number `n`.

    Each has its best `place` in any of ORDERS.  A run names an invariant once, so that rows of an
    invariant are runs.
    """
    values = ", ".join(
        f"{metric if metric in metrics else 'CAST(NULL AS BIGINT)'} AS {name}"
        for name, metric in MEASURED.items()
    )
    group = "PARTITION BY profile, cell, invariant"
    places = ", ".join(f"row_number() OVER ({group} ORDER BY {by})" for by in ORDERS.values())
    names = ", ".join(MEASURED)
    return f"""
SELECT profile, cell, seed, invariant, step, why, {names}, place, n
FROM (SELECT *, least({places}) AS place, count(*) OVER ({group}) AS n
      FROM (SELECT profile, cell, seed, b.invariant AS invariant, b.step AS step, b.why AS why,
                   {names}
            FROM (SELECT profile, cell, seed, {tables.explode}(broken) AS b, {values} FROM {{rows}})
                 AS each
            UNION ALL
            SELECT profile, cell, seed, 'error', -1, why, {values}
            FROM {{rows}} WHERE verdict = 'error') AS every) AS placed
WHERE place <= {keep} ORDER BY profile, cell, invariant, seed
"""


def cells_sql(metrics: Sequence[str], tilted: bool, tables: Tables) -> str:
    """Return the SQL that counts per profile and cell, and per metric n, sum, positive, min, max.

    Quantiles as well where every run counts the same.
    """
    columns = [
        "count(*) AS n",
        "count(*) FILTER (WHERE verdict = 'violates') AS violating",
        f"count(*) FILTER (WHERE verdict = '{ERROR}') AS errors",
    ]
    for i, name in enumerate(metrics):
        columns.append(
            f"count({name}) AS n{i}, sum({name}) AS sum{i}, min({name}) AS min{i}, "
            f"max({name}) AS max{i}, count(*) FILTER (WHERE {name} > 0) AS pos{i}"
        )
        if not tilted:
            columns.append(f"{tables.quantiles(name, QUANTILES)} AS q{i}")
    chosen = ",\n".join(columns)
    return f"SELECT profile, cell, {chosen}\nFROM {{rows}} GROUP BY 1, 2 ORDER BY 1, 2"


def _metrics(row: Row, plan: BatchPlan, tilted: dict[str, list[int]]) -> dict[str, MetricSummary]:
    metrics: dict[str, MetricSummary] = {}
    for i, name in enumerate(plan.metrics):
        quantiles = tilted.get(name) if plan.tilted else row[f"q{i}"]
        metrics[name] = {
            "n": row[f"n{i}"],
            "sum": row[f"sum{i}"] or 0,
            "positive": row[f"pos{i}"],
            "min": row[f"min{i}"],
            "max": row[f"max{i}"],
            "quantiles": None if quantiles is None else [int(value) for value in quantiles],
        }
    return metrics


def _pairs(tables: Tables, plan: BatchPlan) -> list[StoredPair]:
    """Return the paired counts; none for futures, whose cells are places in one run.

    None either where runs count differently: counts of seeds at inflated rates say nothing of the
    true ones.
    """
    if plan.futures or plan.tilted:
        return []
    return pair_up(tables, plan.profiles, len(plan.scenarios))
