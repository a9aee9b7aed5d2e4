"""Sums of weights, for batches whose faults had an importance factor (engine/study/weights.py).

Everything is summed as decimals: a sum of doubles would depend on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

ANY = "any"
"""Runs that broke at least one invariant."""
FAULTS = "faults"
"""The metric that counts strikes: a run without one broke nothing that faults break."""

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


def weigh(session: Any, rows: Any, metrics: Sequence[str]) -> Weights:
    """(profile, cell) -> name -> sums.

    Of invariants and "any": the weights of the runs that broke it, and their squares.  Of a metric
    m (as "metric m"): the same of the runs in which it was above zero, then the sum of weight times
    value and of its square.  "heaviest": the largest weight of a run in which a fault struck.
    """
    found: Weights = {}
    for row in session.sql(_metrics_sql(metrics), rows=rows).collect():
        sums = found[row.profile, row.cell] = {"heaviest": [float(row.heaviest or 0)]}
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
