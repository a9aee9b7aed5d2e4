"""A study from Python: many seeds of a scenario, as a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import product
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from app.batch import statistics
from app.batch.bounds import RUNS_HERE
from app.batch.runners.engine_zip import engine_sent
from app.batch.runners.rows import arrow_schema, canonical, spark_schema, table_of
from app.python_api.runs import LANGUAGE, Run, catalogue
from app.questions import batch
from engine.model.profiles import get_profile
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.sim import run as runs
from engine.study.batch import LOST, Row, run_chunk
from engine.study.metrics import METRICS
from engine.study.provenance import provenance

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
    """Rows of runs: a row is a function of (scenario, version, seed), wherever it is played.

    DuckDB, Polars, pandas and PyArrow read a study as a table of its rows.

    >>> played = study("crash-storm", runs=40, kafka=["0.10.2.2", "4.1"])
    >>> print(played)
    7 of 40 runs lost a record that Kafka had promised to keep under Kafka 0.10.2 (...).
    None of 40 runs lost a record that Kafka had promised to keep under Kafka 4.1 – 4.2 (...).
    """

    def __init__(
        self, scenario: Scenario, first: int, runs: int, played: pa.Table, spark: Any
    ) -> None:
        self._scenario = scenario
        self._first = first
        self._runs = runs
        self._played = played
        self._spark = spark

    @property
    def _versions(self) -> list[str]:
        names: list[str] = self._played["profile"].unique().to_pylist()
        return names

    def _counts(self, kafka: str) -> batch.SeedCounts:
        table = self._played.filter(pc.field("profile") == kafka)
        return batch.counted(list(_rows(table.select(["seed", "verdict", "broken"]))))

    def __str__(self) -> str:
        return "\n".join(self._sentence(name) for name in self._versions)

    def _sentence(self, kafka: str) -> str:
        counted = self._counts(kafka)
        judged = counted["runs"] - counted["errors"]
        key, args = statistics.finding(statistics.interval(counted["broken"].get(LOST, 0), judged))
        name = get_profile(kafka).stands_for
        family = f"batch.said.lost.{key.removeprefix('stat.')}"
        return catalogue().text(LANGUAGE, family, {**args, "profile": name})

    def rows(self) -> Iterator[Row]:
        """Yield a row of each run.

        {"profile", "seed", "verdict", "invariant", "step", "broken", <metric>: ...}; in `broken`,
        I7 says that a promised record is lost, and gone that only others are.

        >>> next(study("S74", runs=1).rows())["seed"]
        0
        """
        return _rows(self._played)

    def table(self) -> list[StudyRow]:
        """Return a row for each version and invariant that broke.

        >>> study("S74", runs=10, kafka="4.1").table()[0]["hits"]
        0
        """
        rows: list[StudyRow] = []
        for kafka in self._versions:
            counted = self._counts(kafka)
            hits = sorted(counted["broken"].items())
            for invariant, count in (("any", counted["violates"]), *hits):
                interval = statistics.interval(count, counted["runs"] - counted["errors"])
                rows.append(
                    {
                        "kafka": kafka,
                        "runs": counted["runs"],
                        "invariant": invariant,
                        "hits": count,
                        "share": interval["share"],
                        "low": interval["low"],
                        "high": interval["high"],
                    }
                )
        return rows

    def failures(self, invariant: str = "") -> list[Run]:
        """Return the runs that broke this invariant, or any, in the order of their seeds.

        >>> study("crash-storm", runs=40, kafka="0.10.2.2").failures("I7")[0].lost
        ['...']
        """
        return [
            Run(runs.Run(self._scenario, row["profile"], row["seed"]))
            for row in _rows(self._played.select(["profile", "seed", "broken"]))
            if any(name == invariant or not invariant for name, *_ in row["broken"])
        ]

    def more(self, runs: int) -> Study:
        """Return this study with the next seeds, `runs` more of each version.

        >>> len(study("S74", runs=2).more(3))
        5
        """
        first = self._first + self._runs
        table = pa.concat_tables(
            [self._played, _played(self._scenario, self._versions, first, runs, self._spark)]
        )
        return Study(self._scenario, self._first, self._runs + runs, table, self._spark)

    def arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, whose metadata say what repeats the study.

        >>> study("S74", runs=2).arrow().num_rows
        2
        """
        about = provenance(self._scenario.to_dict(), self._versions, self._first, self._runs)
        return self._played.replace_schema_metadata(about)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.arrow().__arrow_c_stream__(requested_schema)

    def df(self) -> Any:
        """Return the rows as a DataFrame of pandas, whole numbers as whole numbers.  Needs pandas.

        >>> study("S74", runs=2).df()["steps"].dtype
        Int64Dtype()
        """
        import pandas

        whole = {pa.int64(): pandas.Int64Dtype(), pa.int32(): pandas.Int32Dtype()}
        return self.arrow().to_pandas(types_mapper=whole.get)

    def canonical(self) -> str:
        """Return one text for the same rows, wherever they were played."""
        return canonical(self.rows())

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in StudyRow.__annotations__)
        body = "".join(
            "<tr>" + "".join(f"<td>{_short(value)}</td>" for value in row.values()) + "</tr>"
            for row in self.table()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __len__(self) -> int:
        return int(self._played.num_rows)

    def __repr__(self) -> str:
        return f"<Study of {len(self)} runs: {self!s}>"


def study(
    scenario: str,
    runs: int = 1_000,
    kafka: str | Sequence[str] = (),
    seed: int = 0,
    spark: Any = None,
) -> Study:
    """Play `runs` seeds from `seed` on under each version, in this process.

    With `spark`, a SparkSession or one of Spark Connect, its executors play them, and the rows come
    to this process.  The engine is sent to them; they need PyArrow, and the minor version of this
    Python.  A local session plays with this Python, unless PYSPARK_PYTHON names another.
    Raises InputError, or ValueError for more runs than one process should play.

    >>> study("S74", runs=10, kafka="4.1")
    <Study of 10 runs: None of 10 runs lost ...>
    """
    loaded = file.find(scenario)
    releases = [kafka] if isinstance(kafka, str) and kafka else list(kafka)
    names = [get_profile(name).name for name in releases] or list(loaded.profiles)[:1]
    return Study(loaded, seed, runs, _played(loaded, names, seed, runs, spark), spark)


def _played(
    scenario: Scenario, names: Sequence[str], first: int, runs: int, spark: Any
) -> pa.Table:
    if runs < 1:
        raise ValueError("A study needs at least one run.")
    metrics = tuple(METRICS)
    chunks = [
        batch.chunk(scenario, name, start, min(SLICE, first + runs - start))
        for name, start in product(names, range(first, first + runs, SLICE))
    ]
    if spark is not None:
        from app.batch.runners.spark import send_engine

        _with_this_python(spark)
        send_engine(spark)
        numbers = spark.range(0, len(chunks), 1, min(len(chunks), PARTS_MOST))
        frame = numbers.mapInArrow(_playing(chunks, metrics), spark_schema(metrics))
        return frame.toArrow().cast(arrow_schema(metrics))
    if runs > RUNS_HERE:
        raise ValueError(f"More than {RUNS_HERE} runs want a Spark session: study(..., spark=).")
    return pa.concat_tables(table_of(run_chunk(chunk), metrics) for chunk in chunks)


def _playing(
    chunks: list[dict[str, object]], metrics: tuple[str, ...]
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function from numbers of chunks to their rows."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        play = engine_sent()
        for each in batches:
            for number in each.column(0).to_pylist():
                yield from table_of(play(chunks[number]), metrics).to_batches()

    return work


def _with_this_python(spark: Any) -> None:
    """Let PySpark's workers use this Python: by default they take the first python3 on the path.

    A notebook's kernel seldom is that one: there they would not find what is played.
    """
    context = getattr(spark, "sparkContext", None)  # a session of Spark Connect has none
    if context is not None and context.master.startswith("local"):
        context.pythonExec = os.environ.get("PYSPARK_PYTHON", sys.executable)


def _rows(table: pa.Table) -> Iterator[Row]:
    """Yield rows as `run_chunk` returns them."""
    for part in table.to_batches():
        for row in part.to_pylist():
            yield {**row, "broken": [list(one.values()) for one in row["broken"]]}


def _short(value: Any) -> str:
    """Return a cell of the table: names as they are, shares with four figures."""
    return f"{value:.4g}" if isinstance(value, float) else escape(str(value))
