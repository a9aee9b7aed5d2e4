"""A study from Python: many seeds of a scenario, as rows, a table, or a Spark DataFrame."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import product
from typing import Any, TypedDict

from app.batch import statistics
from app.batch.bounds import RUNS_HERE
from app.batch.runners.rows import canonical, spark_schema, table_of
from app.questions import batch
from engine.model.profiles import get_profile
from engine.scenarios import file
from engine.study.batch import Row, run_chunk
from engine.study.metrics import METRICS

SLICE = 50
"""Runs of one task of Spark, about a second of them."""
PARTS_MOST = 200


class StudyRow(TypedDict):
    """Runs of a version that broke an invariant; "any" counts runs that broke one or more.

    With 95 % confidence the share lies from `low` to `high`.
    """

    kafka: str
    runs: int
    invariant: str
    hits: int
    share: float | None
    low: float
    high: float


class Study:
    """Rows of runs: a row is a function of (scenario, version, seed), wherever it is played."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def rows(self) -> Iterator[Row]:
        """Yield a row of each run.

        {"profile", "seed", "verdict", "invariant", "step", "broken", <metric>: ...}
        """
        return iter(self._rows)

    def table(self) -> list[StudyRow]:
        """Return a row for each version and invariant that broke."""
        told: list[StudyRow] = []
        for kafka in dict.fromkeys(row["profile"] for row in self._rows):
            found = batch.counted([row for row in self._rows if row["profile"] == kafka])
            hits = sorted(found["broken"].items())
            for invariant, count in (("any", found["violates"]), *hits):
                interval = statistics.interval(count, found["runs"])
                told.append(
                    {
                        "kafka": kafka,
                        "runs": found["runs"],
                        "invariant": invariant,
                        "hits": count,
                        "share": interval["share"],
                        "low": interval["low"],
                        "high": interval["high"],
                    }
                )
        return told

    def canonical(self) -> str:
        """Return one text for the same rows, wherever they were played."""
        return canonical(self._rows)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in StudyRow.__annotations__)
        body = "".join(
            "<tr>" + "".join(f"<td>{_short(value)}</td>" for value in row.values()) + "</tr>"
            for row in self.table()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        broken = batch.counted(self._rows)["violates"]
        return f"<Study of {len(self)} runs, {broken} broke something>"


def study(
    scenario: str,
    runs: int = 1_000,
    kafka: str | Sequence[str] = (),
    seed: int = 0,
    spark: Any = None,
) -> Any:
    """Play `runs` seeds from `seed` on under each version, in this process: a `Study`.

    With `spark`, a SparkSession, a DataFrame of the same rows, which Spark plays when they are
    asked for; its executors need `highwater` installed.  A local session plays them with this
    Python, unless PYSPARK_PYTHON names another.
    Raises InputError, or ValueError for more runs than one process should play.
    """
    found = file.find(scenario)
    wanted = [kafka] if isinstance(kafka, str) and kafka else list(kafka)
    names = [get_profile(name).name for name in wanted] or list(found.profiles)[:1]
    if runs < 1:
        raise ValueError("A study needs at least one run.")
    if spark is None:
        if runs > RUNS_HERE:
            raise ValueError(
                f"More than {RUNS_HERE} runs want a Spark session: study(..., spark=)."
            )
        rows = [row for name in names for row in run_chunk(batch.chunk(found, name, seed, runs))]
        return Study(rows)
    chunks = [
        batch.chunk(found, name, first, min(SLICE, seed + runs - first))
        for name, first in product(names, range(seed, seed + runs, SLICE))
    ]
    return _frame(chunks, spark)


def _frame(chunks: list[dict[str, object]], spark: Any) -> Any:
    """Return the rows of the chunks as a DataFrame, through Arrow, as Spark Connect needs it."""
    metrics = tuple(METRICS)

    def played(batches: Iterable[Any]) -> Iterator[Any]:
        for each in batches:
            for number in each.column(0).to_pylist():
                yield from table_of(run_chunk(chunks[number]), metrics).to_batches()

    _with_this_python(spark)
    numbers = spark.range(0, len(chunks), 1, min(len(chunks), PARTS_MOST))
    return numbers.mapInArrow(played, spark_schema(metrics))


def _with_this_python(spark: Any) -> None:
    """Let PySpark's workers use this Python: by default they take the first python3 on the path.

    A notebook's kernel seldom is that one: there they would not find what is played.
    """
    context = getattr(spark, "sparkContext", None)  # a session of Spark Connect has none
    if context is not None and context.master.startswith("local"):
        context.pythonExec = os.environ.get("PYSPARK_PYTHON", sys.executable)


def _short(value: Any) -> str:
    """Return a cell of the table: names as they are, shares with four figures."""
    return f"{value:.4g}" if isinstance(value, float) else escape(str(value))
