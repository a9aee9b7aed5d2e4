"""What Spark counts over the rows of a batch: SQL in, a few numbers a profile and cell out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from app.runners.plan import Plan
from app.runners.rows import chunk_name, spark_schema
from app.runners.weighing import percentiles, weigh

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)
ERROR = "error"
ASKED_AT_ONCE = 3


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
    metrics: dict[str, dict[str, Any]]
    weights: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """A run that broke an invariant, or failed itself (invariant "error", step -1)."""

    profile: str
    cell: int
    seed: int
    invariant: str
    step: int
    why: str


@dataclass(frozen=True)
class Summary:
    """All of a batch that is kept in the database.

    `together` counts, per cell, the seeds played under all profiles by which of them violated:
    bit i of the key stands for the i-th profile of the plan.  Empty where runs count differently:
    a count of seeds at inflated rates says nothing of the true ones.
    """

    cells: tuple[CellSummary, ...]
    failures: tuple[Failure, ...]
    together: dict[int, dict[int, int]]


def summarise(
    session: Any, plan: Plan, directory: str, done: Collection[int], keep: int
) -> Summary:
    """Count the rows of the chunks in `done`, and of no others: a worker that was told to stop may
    still write one.  `keep` first failures by seed of each profile, cell and invariant.
    `session` is a Spark session."""
    files = session.read.schema(spark_schema(plan.metrics))
    if len(done) == plan.total_chunks:
        rows = files.option("pathGlobFilter", "*.parquet").parquet(directory)
    else:
        rows = files.parquet(*(f"{directory}/{chunk_name(number)}" for number in sorted(done)))
    rows = rows.selectExpr(*_judged(plan.metrics))
    # Of a small batch most of the time is planning, which uses one core: so all at once.
    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        measured = pool.submit(
            session.sql(cells_sql(plan.metrics, plan.tilted), rows=rows).collect
        )
        failed = pool.submit(session.sql(FAILURES, args={"keep": max(1, keep)}, rows=rows).collect)
        alike = () if plan.tilted else plan.profiles
        together = pool.submit(_together, session, alike, rows)
        weights = weigh(session, rows, plan.metrics) if plan.tilted else {}
        tilted = percentiles(session, rows, plan.metrics, QUANTILES) if plan.tilted else {}
    counts: dict[tuple[str, int], dict[str, int]] = {}
    for row in failed.result():
        if row.invariant != ERROR:
            counts.setdefault((row.profile, row.cell), {})[row.invariant] = row.n
    return Summary(
        tuple(
            CellSummary(
                row.profile,
                row.cell,
                row.n,
                row.violating,
                row.errors,
                counts.get((row.profile, row.cell), {}),
                _metrics(row, plan, tilted.get((row.profile, row.cell), {})),
                weights.get((row.profile, row.cell), {}),
            )
            for row in measured.result()
        ),
        tuple(
            Failure(row.profile, row.cell, row.seed, row.invariant, row.step, row.why)
            for row in failed.result()
            if row.place <= keep
        ),
        together.result(),
    )


# A run names an invariant once, so that rows of an invariant are runs.
FAILURES = """
SELECT profile, cell, seed, invariant, step, why, place, n
FROM (SELECT *, row_number() OVER
             (PARTITION BY profile, cell, invariant ORDER BY seed, step) AS place,
             count(*) OVER (PARTITION BY profile, cell, invariant) AS n
      FROM (SELECT profile, cell, seed, b.invariant AS invariant, b.step AS step, b.why AS why
            FROM (SELECT profile, cell, seed, explode(broken) AS b FROM {rows})
            UNION ALL
            SELECT profile, cell, seed, 'error', -1, why FROM {rows} WHERE verdict = 'error'))
WHERE place <= :keep ORDER BY profile, cell, invariant, seed
"""

TOGETHER = """
SELECT cell, mask, count(*) AS n
FROM (SELECT cell, seed, count(*) AS profiles, count_if(verdict = 'error') AS errors,
             sum(CASE WHEN verdict = 'violates'
                 THEN shiftleft(1L, array_position(:profiles, profile)::int - 1)
                 ELSE 0 END) AS mask
      FROM {rows} GROUP BY cell, seed)
WHERE profiles = size(:profiles) AND errors = 0
GROUP BY cell, mask ORDER BY cell, mask
"""


def _judged(metrics: Sequence[str]) -> list[str]:
    """The columns that are counted; a run that failed itself says nothing but that it did."""
    told = ["broken", "log_weight", *(f"`{name}`" for name in metrics)]
    judged = [f"if(verdict = '{ERROR}', NULL, {name}) AS {name}" for name in told]
    return ["profile", "cell", "seed", "verdict", "why", *judged]


def cells_sql(metrics: Sequence[str], tilted: bool) -> str:
    """Counts per profile and cell, and per metric n, sum, positive, min, max; quantiles as well
    where every run counts the same."""
    at = ", ".join(map(str, QUANTILES))
    columns = [
        "count(*) AS n",
        f"count_if(verdict = 'violates') AS violating, count_if(verdict = '{ERROR}') AS errors",
    ]
    for i, name in enumerate(metrics):
        columns.append(
            f"count(`{name}`) AS n{i}, sum(`{name}`) AS sum{i}, count_if(`{name}` > 0) AS pos{i}, "
            f"min(`{name}`) AS min{i}, max(`{name}`) AS max{i}"
        )
        if not tilted:
            columns.append(
                f"percentile_disc(array({at})) WITHIN GROUP (ORDER BY `{name}`) AS q{i}"
            )
    chosen = ",\n".join(columns)
    return f"SELECT profile, cell, {chosen}\nFROM {{rows}} GROUP BY 1, 2 ORDER BY 1, 2"


def _metrics(row: Any, plan: Plan, tilted: dict[str, list[int]]) -> dict[str, dict[str, Any]]:
    found = {}
    for i, name in enumerate(plan.metrics):
        quantiles = tilted.get(name) if plan.tilted else row[f"q{i}"]
        found[name] = {
            "n": row[f"n{i}"],
            "sum": row[f"sum{i}"] or 0,
            "positive": row[f"pos{i}"],
            "min": row[f"min{i}"],
            "max": row[f"max{i}"],
            "quantiles": None if quantiles is None else [int(value) for value in quantiles],
        }
    return found


def _together(session: Any, profiles: Sequence[str], rows: Any) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = {}
    if len(profiles) > 1:
        for row in session.sql(TOGETHER, args={"profiles": list(profiles)}, rows=rows).collect():
            found.setdefault(row.cell, {})[row.mask] = row.n
    return found
