"""Sums of weights, for batches whose faults had an importance factor (engine/study/weights.py),
and percentiles in which each run counts by its weight.

Everything is summed as decimals: a sum of doubles would depend on the order of the rows.  Weights
are scaled by the largest first (`top`), so that those of rare causes, and their squares, keep their
digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

from app.batch.runners.rows import ANY, FAULTS, HEAVIEST

WEIGHT = "cast(exp({power} * (log_weight - {{top}}) / 1e9D) AS DECIMAL(28, 27))"
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
EXACT = "cast({sum} AS DECIMAL(32, 22)) * {times}"


def weigh(session: Any, rows: Any, metrics: Sequence[str]) -> Weights:
    """(profile, cell) -> name -> sums.

    Of invariants and "any": the weights of the runs that broke it, and their squares.  Of a metric
    m (as "metric m"): the same of the runs in which it was above zero, then the sum of weight times
    value and of its square.  "heaviest": the largest weight of a run in which a fault struck.
    """
    found: Weights = {}
    top = _top(session, rows)
    once = exp(top / 1e9)
    scales = {"w": once, "w2": once * once, "wm": once, "wm2": once * once}
    for row in session.sql(_metrics_sql(metrics, top), rows=rows).collect():
        sums = found[row.profile, row.cell] = {HEAVIEST: [once * float(row.heaviest or 0)]}
        for i, name in enumerate(metrics):
            sums[f"metric {name}"] = [
                scale * float(row[f"{column}{i}"] or 0) for column, scale in scales.items()
            ]
    for row in session.sql(BROKEN.format(top=top, rows="{rows}"), rows=rows).collect():
        found[row.profile, row.cell][row.invariant] = [
            scales[column] * float(row[column]) for column in ("w", "w2")
        ]
    return found


def _top(session: Any, rows: Any) -> int:
    """The logarithm of the largest weight, in billionths."""
    (row,) = session.sql("SELECT max(log_weight) AS top FROM {rows}", rows=rows).collect()
    return int(row.top or 0)


def _metrics_sql(metrics: Sequence[str], top: int) -> str:
    struck = f"`{FAULTS}` > 0" if FAULTS in metrics else "true"
    once, squared = ONCE.format(top=top), SQUARED.format(top=top)
    columns = [f"max({once}) FILTER (WHERE {struck}) AS heaviest"]
    for i, name in enumerate(metrics):
        value = f"cast(`{name}` AS DOUBLE)"
        columns += [
            f"sum({once}) FILTER (WHERE `{name}` > 0) AS w{i}",
            f"sum({squared}) FILTER (WHERE `{name}` > 0) AS w2{i}",
            f"sum(cast(exp((log_weight - {top}) / 1e9D) * {value} AS DECIMAL(34, 12))) AS wm{i}",
            f"sum(cast(exp(2 * (log_weight - {top}) / 1e9D) * "
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
    for row in session.sql(
        _percentiles_sql(metrics, shares, _top(session, rows)), rows=rows
    ).collect():
        found.setdefault((row.profile, row.cell), {})[metrics[row.metric]] = list(row.quantiles)
    return found


def _percentiles_sql(metrics: Sequence[str], shares: Sequence[float], top: int) -> str:
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
            FROM (SELECT profile, cell, {ONCE.format(top=top)} AS w, stack({len(metrics)}, {values})
                  AS (metric, value) FROM {{rows}})
            WHERE value IS NOT NULL GROUP BY 1, 2, 3, 4))
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
