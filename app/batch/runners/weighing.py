"""Sums of weights, for batches whose faults had an importance factor (engine/study/weights.py),
and percentiles in which each run counts by its weight.

Everything is summed as decimals: a sum of doubles would depend on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.batch.runners.rows import ANY, FAULTS, HEAVIEST

WEIGHT = "cast(exp({power} * log_weight / 1e9D) AS DECIMAL(24, 12))"
ONCE, SQUARED = WEIGHT.format(power=1), WEIGHT.format(power=2)

BROKEN = f"""
SELECT profile, cell, invariant, sum({ONCE}) AS w, sum({SQUARED}) AS w2
FROM (SELECT profile, cell, log_weight,
             explode(array_append(array_distinct(transform(broken, b -> b.invariant)), '{ANY}'))
             AS invariant
      FROM {{rows}} WHERE size(broken) > 0)
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""

Weights = dict[tuple[str, int], dict[str, list[float]]]

# Shares of the whole weight are compared in ten thousandths: products of decimals stay exact.
PARTS = 10_000
EXACT = "cast({sum} AS DECIMAL(30, 12)) * {times}"


def weigh(session: Any, rows: Any, metrics: Sequence[str]) -> Weights:
    """(profile, cell) -> name -> sums.

    Of invariants and "any": the weights of the runs that broke it, and their squares.  Of a metric
    m (as "metric m"): the same of the runs in which it was above zero, then the sum of weight times
    value and of its square.  "heaviest": the largest weight of a run in which a fault struck.
    """
    found: Weights = {}
    for row in session.sql(_metrics_sql(metrics), rows=rows).collect():
        sums = found[row.profile, row.cell] = {HEAVIEST: [float(row.heaviest or 0)]}
        for i, name in enumerate(metrics):
            columns = ("w", "w2", "wm", "wm2")
            sums[f"metric {name}"] = [float(row[f"{column}{i}"] or 0) for column in columns]
    for row in session.sql(BROKEN, rows=rows).collect():
        found[row.profile, row.cell][row.invariant] = [float(row.w), float(row.w2)]
    return found


def _metrics_sql(metrics: Sequence[str]) -> str:
    struck = f"`{FAULTS}` > 0" if FAULTS in metrics else "true"
    columns = [f"max({ONCE}) FILTER (WHERE {struck}) AS heaviest"]
    for i, name in enumerate(metrics):
        value = f"cast(`{name}` AS DOUBLE)"
        columns += [
            f"sum({ONCE}) FILTER (WHERE `{name}` > 0) AS w{i}",
            f"sum({SQUARED}) FILTER (WHERE `{name}` > 0) AS w2{i}",
            f"sum(cast(exp(log_weight / 1e9D) * {value} AS DECIMAL(34, 12))) AS wm{i}",
            "sum(cast(exp(2 * log_weight / 1e9D) * "
            f"{value} * {value} AS DECIMAL(34, 12))) AS wm2{i}",
        ]
    chosen = ",\n".join(columns)
    return f"SELECT profile, cell, {chosen}\nFROM {{rows}} GROUP BY 1, 2 ORDER BY 1, 2"


def percentiles(
    session: Any, rows: Any, metrics: Sequence[str], shares: Sequence[float]
) -> dict[tuple[str, int], dict[str, list[int]]]:
    """(profile, cell) -> metric -> for each share the smallest value so that the runs at or below
    it have at least this share of the weight of all that have the metric."""
    found: dict[tuple[str, int], dict[str, list[int]]] = {}
    for row in session.sql(_percentiles_sql(metrics, shares), rows=rows).collect():
        found.setdefault((row.profile, row.cell), {})[metrics[row.metric]] = list(row.quantiles)
    return found


def _percentiles_sql(metrics: Sequence[str], shares: Sequence[float]) -> str:
    values = ", ".join(f"{i}, `{name}`" for i, name in enumerate(metrics))
    below = EXACT.format(sum="below", times=PARTS)
    reached = ", ".join(
        f"min(value) FILTER (WHERE {below} >= "
        f"{EXACT.format(sum='whole', times=round(share * PARTS))})"
        for share in shares
    )
    return f"""
SELECT profile, cell, metric, array({reached}) AS quantiles
FROM (SELECT profile, cell, metric, value,
             sum(w) OVER (PARTITION BY profile, cell, metric ORDER BY value) AS below,
             sum(w) OVER (PARTITION BY profile, cell, metric) AS whole
      FROM (SELECT profile, cell, metric, value, sum(w) AS w
            FROM (SELECT profile, cell, {ONCE} AS w, stack({len(metrics)}, {values})
                  AS (metric, value) FROM {{rows}})
            WHERE value IS NOT NULL GROUP BY 1, 2, 3, 4))
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
