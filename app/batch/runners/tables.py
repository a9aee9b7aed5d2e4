"""Rows of a batch as a table that is queried in SQL.

In this process by DuckDB, or by Spark where only a cluster sees the rows.  The statements are the
same (summary.py, pairing.py, weighing.py); what the two spell differently stands here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from app.batch.runners.rows import COLUMNS, files_of, spark_schema

if TYPE_CHECKING:
    import duckdb

JUDGED: Final = "judged"
ERROR: Final = "error"
MEMORY: Final = "1GB"
"""Of one statement; what does not fit goes to the disk."""

Row = dict[str, Any]


class RunnerError(Exception):
    """Failure of a runner to play or count a batch; the text is one sentence for people."""


class SparkError(RunnerError):
    """Spark did not start, or gave up on a job; the text is one sentence for people."""


class Tables(Protocol):
    """Rows of a batch as a table of SQL.

    Of a run that failed itself every column but its name, verdict and why is null.  Statements name
    them ``{rows}``; `explode` makes a row of each element of an array, and `size` counts them.
    """

    explode: str
    size: str

    def ask(self, sql: str) -> list[Row]: ...

    def quantiles(self, column: str, at: Sequence[float]) -> str:
        """Return the values of a column at these shares, which occurred: percentile_disc."""
        ...

    def decimal(self, weight: str) -> str:
        """Return the SQL of a double from 0 to 1 as the decimal that it is written as."""
        ...

    def names(self, invariant: str) -> str:
        """Return the SQL condition that a run broke this invariant."""
        ...


class SparkTables:
    """Tables queried by a Spark session."""

    explode, size = "explode", "size"

    def __init__(
        self, session: Any, directory: str, done: Collection[int], metrics: Sequence[str]
    ) -> None:
        self._session = session
        files = session.read.schema(spark_schema(metrics))
        files = files.option("parquet.page.verify-checksum.enabled", "true")
        self._rows = files.parquet(*files_of(directory, done)).selectExpr(*judged(metrics))

    def ask(self, sql: str) -> list[Row]:
        return [row.asDict() for row in self._session.sql(sql, rows=self._rows).collect()]

    def quantiles(self, column: str, at: Sequence[float]) -> str:
        shares = ", ".join(map(str, at))
        return f"percentile_disc(array({shares})) WITHIN GROUP (ORDER BY {column})"

    def decimal(self, weight: str) -> str:
        return f"cast({weight} AS DECIMAL(28, 27))"

    def names(self, invariant: str) -> str:
        return f"array_contains(broken.invariant, '{invariant}')"


class DuckTables:
    """Tables queried in this process by DuckDB; to be closed."""

    explode, size = "unnest", "len"

    def __init__(self, directory: str, done: Collection[int], metrics: Sequence[str]) -> None:
        self._duck = open_duck()
        read = reading(self._duck, files_of(directory, done), metrics)
        chosen = ", ".join(judged(metrics))
        self._duck.execute(f"CREATE VIEW {JUDGED} AS SELECT {chosen} FROM ({read})")

    def ask(self, sql: str) -> list[Row]:
        with self._duck.cursor() as cursor:
            return rows_of(cursor.execute(sql.format(rows=JUDGED)))

    def quantiles(self, column: str, at: Sequence[float]) -> str:
        return f"quantile_disc({column}, [{', '.join(map(str, at))}])"

    def decimal(self, weight: str) -> str:
        # From the number itself it would be a few billionths of billionths off, and not exact at 1.
        return f"cast(cast({weight} AS VARCHAR) AS DECIMAL(28, 27))"

    def names(self, invariant: str) -> str:
        return f"list_contains([b.invariant FOR b IN broken], '{invariant}')"

    def close(self) -> None:
        self._duck.close()


def judged(metrics: Sequence[str]) -> list[str]:
    """Return the columns that are counted, all null for a run that failed itself."""
    told = ["broken", "log_weight", *metrics]
    those = [f"CASE WHEN verdict <> '{ERROR}' THEN {name} END AS {name}" for name in told]
    return ["profile", "cell", "seed", "verdict", "why", *those]


def open_duck() -> duckdb.DuckDBPyConnection:
    """Return a database in memory, that fetches no extension.

    DuckDB is imported where it is asked: with the module comes a connection that has threads, and a
    process made by fork would lack them and be aborted when it ends.
    """
    import duckdb

    return duckdb.connect(
        config={
            "memory_limit": MEMORY,
            "temp_directory": str(Path(tempfile.gettempdir()) / "highwater-duckdb"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )


def reading(duck: duckdb.DuckDBPyConnection, paths: Sequence[str], metrics: Sequence[str]) -> str:
    """Return a SELECT of all rows in these files, and of the file each came from.

    What files from before a metric lack is null.
    """
    names = [name for name, *_ in COLUMNS] + ["broken", *metrics]
    if not paths:
        broken = "STRUCT(invariant VARCHAR, step INTEGER, why VARCHAR)[]"
        types = {**{name: kind for name, _, kind in COLUMNS}, "broken": broken}
        nulls = (f"NULL::{types.get(name, 'BIGINT')} AS {name}" for name in names)
        return f"SELECT {', '.join(nulls)}, '' AS filename WHERE false"
    listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
    files = f"read_parquet([{listed}], union_by_name = true, filename = true)"
    there = {row[0] for row in duck.execute(f"DESCRIBE SELECT * FROM {files}").fetchall()}
    columns = (name if name in there else f"NULL::BIGINT AS {name}" for name in names)
    return f"SELECT {', '.join(columns)}, filename FROM {files}"


def rows_of(asked: duckdb.DuckDBPyConnection) -> list[Row]:
    """Return the result of a statement, a dictionary for each row."""
    names = [column[0] for column in asked.description or ()]
    return [dict(zip(names, row, strict=True)) for row in asked.fetchall()]
