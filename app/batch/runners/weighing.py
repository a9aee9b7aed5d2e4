"""Sums of weights and weighted percentiles for batches whose faults had an importance factor.

See engine/advisor/weights.py.

Everything is summed as decimals: a sum of doubles would depend on the order of the rows.  Weights
are scaled by the largest first (`top`), so that those of rare causes, and their squares, keep their
digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from app.batch.runners.rows import ANY, FAULTS, HEAVIEST
from app.batch.runners.tables import Tables

# A run names an invariant once.
BROKEN = f"""
SELECT profile, cell, invariant, sum({{once}}) AS w, sum({{squared}}) AS w2
FROM (SELECT profile, cell, log_weight, b.invariant AS invariant
      FROM (SELECT profile, cell, log_weight, {{explode}}(broken) AS b FROM {{rows}}) AS each
      UNION ALL
      SELECT profile, cell, log_weight, '{ANY}' FROM {{rows}} WHERE {{size}}(broken) > 0) AS every
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""

Weights = dict[tuple[str, int], dict[str, list[float]]]

# Shares of the whole weight are compared in ten thousandths: products of decimals stay exact.
PARTS = 10_000
EXACT = "cast({sum} AS DECIMAL(32, 22)) * {times}"


def weigh(tables: Tables, metrics: Sequence[str]) -> Weights:
    """Return (profile, cell) -> name -> sums.

    Of invariants and "any": the weights of the runs that broke it, and their squares.  Of a metric
    m (as "metric m"): the same of the runs in which it was above zero, then the sum of weight times
    value and of its square.  "heaviest": the largest weight of a run in which a fault struck.
    """
    weights: Weights = {}
    top = _top(tables)
    once = exp(top / 1e9)
    scales = {"w": once, "w2": once * once, "wm": once, "wm2": once * once}
    for row in tables.ask(_metrics_sql(tables, metrics, top)):
        sums = weights[row["profile"], row["cell"]] = {
            HEAVIEST: [once * float(row["heaviest"] or 0)]
        }
        for i, name in enumerate(metrics):
            sums[f"metric {name}"] = [
                scale * float(row[f"{column}{i}"] or 0) for column, scale in scales.items()
            ]
    broken = BROKEN.format(once=_weight(tables, top), squared=_weight(tables, top, 2),
                           rows="{rows}", explode=tables.explode, size=tables.size)  # fmt: skip
    for row in tables.ask(broken):
        weights[row["profile"], row["cell"]][row["invariant"]] = [
            scales[column] * float(row[column]) for column in ("w", "w2")
        ]
    return weights


def _top(tables: Tables) -> int:
    """Return the logarithm of the largest weight, in billionths."""
    (row,) = tables.ask("SELECT max(log_weight) AS top FROM {rows}")
    return int(row["top"] or 0)


def _weight(tables: Tables, top: int, power: int = 1) -> str:
    """Return the SQL of a row's weight, scaled so that the heaviest weighs 1: a decimal."""
    return tables.decimal(f"exp({power} * (log_weight - {top}) / 1e9)")


def _metrics_sql(tables: Tables, metrics: Sequence[str], top: int) -> str:
    struck = f"{FAULTS} > 0" if FAULTS in metrics else "true"
    once, squared = _weight(tables, top), _weight(tables, top, 2)
    columns = [f"max({once}) FILTER (WHERE {struck}) AS heaviest"]
    for i, name in enumerate(metrics):
        value = f"cast({name} AS DOUBLE)"
        columns += [
            f"sum({once}) FILTER (WHERE {name} > 0) AS w{i}",
            f"sum({squared}) FILTER (WHERE {name} > 0) AS w2{i}",
            f"sum(cast(exp((log_weight - {top}) / 1e9) * {value} AS DECIMAL(34, 12))) AS wm{i}",
            f"sum(cast(exp(2 * (log_weight - {top}) / 1e9) * "
            f"{value} * {value} AS DECIMAL(34, 12))) AS wm2{i}",
        ]
    chosen = ",\n".join(columns)
    return f"SELECT profile, cell, {chosen}\nFROM {{rows}} GROUP BY 1, 2 ORDER BY 1, 2"


def percentiles(
    tables: Tables, metrics: Sequence[str], shares: Sequence[float]
) -> dict[tuple[str, int], dict[str, list[int]]]:
    """Return (profile, cell) -> metric -> the weighted percentile at each share.

    That is the smallest value so that the runs at or below it have at least this share of the
    weight of all that have the metric.
    """
    quantiles: dict[tuple[str, int], dict[str, list[int]]] = {}
    for row in tables.ask(_percentiles_sql(tables, metrics, shares)):
        reached = [row[f"q{at}"] for at in range(len(shares))]
        quantiles.setdefault((row["profile"], row["cell"]), {})[metrics[row["metric"]]] = reached
    return quantiles


def _percentiles_sql(tables: Tables, metrics: Sequence[str], shares: Sequence[float]) -> str:
    places = ", ".join(f"({i})" for i in range(len(metrics)))
    value = " ".join(f"WHEN {i} THEN {name}" for i, name in enumerate(metrics))
    below = EXACT.format(sum="below", times=PARTS)
    reached = ", ".join(
        f"min(value) FILTER (WHERE {below} >= "
        f"{EXACT.format(sum='whole', times=round(share * PARTS))}) AS q{at}"
        for at, share in enumerate(shares)
    )
    return f"""
SELECT profile, cell, metric, {reached}
FROM (SELECT profile, cell, metric, value,
             sum(w) OVER (PARTITION BY profile, cell, metric ORDER BY value) AS below,
             sum(w) OVER (PARTITION BY profile, cell, metric) AS whole
      FROM (SELECT profile, cell, metric, value, sum(w) AS w
            FROM (SELECT profile, cell, {_weight(tables, _top(tables))} AS w, metric,
                         CASE metric {value} END AS value
                  FROM {{rows}} CROSS JOIN (VALUES {places}) AS every(metric)) AS each
            WHERE value IS NOT NULL GROUP BY 1, 2, 3, 4) AS summed) AS sorted
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
