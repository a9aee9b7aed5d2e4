"""SQL over all stored batches, for `highwater query`.

It runs in this process by DuckDB, or in Spark SQL where a cluster is asked for or alone sees the
rows.

`runs` has a row a run (docs/reference/schema.md), `cells` a row a profile and cell, `batches` a
row a batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.batch import records
from app.batch.runners.rows import chunks_on_disk, files_of, spark_schema
from app.batch.runners.tables import open_duck, reading

READ_ONLY = re.compile(r"\s*(SELECT|WITH|DESCRIBE|SHOW|EXPLAIN)\b", re.I)
"""None of these changes anything, but for what may stand behind WITH: `changes` asks Spark."""
ONLY_READS = (
    "A query only reads: it is a SELECT, a WITH that ends in a SELECT, a DESCRIBE, a SHOW or an "
    "EXPLAIN."
)

_WRITING = tuple(
    f"org.apache.spark.sql.catalyst.plans.logical.{name}"
    for name in ("Command", "ParsedStatement", "InsertIntoDir")
)
"""Parsed, every statement that is no query has one of these types: INSERT is a ParsedStatement."""

BATCHES = (
    ("batch", "string"),
    ("scenario", "string"),
    ("title", "string"),
    ("profiles", "array<string>"),
    ("runs", "bigint"),
    ("first_seed", "bigint"),
    ("state", "string"),
    ("kind", "string"),
    ("engine", "int"),
    ("submitted", "bigint"),
)
"""Columns, each with Spark's name of its type."""
CELLS = (
    ("batch", "string"),
    ("profile", "string"),
    ("cell", "int"),
    ("label", "string"),
    ("values", "map<string, string>"),
    *((name, "bigint") for name in ("n", "lost", "gone", "violating", "errors")),
)
DUCK_TYPES = {"array<string>": "VARCHAR[]", "map<string, string>": "MAP(VARCHAR, VARCHAR)"}
"""DuckDB's names of those that it has under another name."""
READING = ("SELECT", "EXPLAIN")
"""DESCRIBE and SHOW are SELECTs for DuckDB."""


@dataclass(frozen=True)
class QueryResult:
    """Rows of a query, in the order of the columns; `more` if there are others."""

    columns: list[str]
    rows: list[list[Any]]
    more: bool


class QueryError(Exception):
    """A statement that cannot be run; the text says why."""


class NotReadOnlyError(Exception):
    """A statement that does more than read; the text says what may be asked."""


def changes(session: Any, sql: str) -> bool:
    """Check whether the statement would write, delete or define something.

    Its parsed plan decides: in ``WITH x AS (...) INSERT INTO y ...`` the first word does not.
    """
    if READ_ONLY.match(sql) is None:
        return True
    if not re.match(r"\s*(SELECT|WITH)\b", sql, re.I):
        return False
    is_instance = session._jvm.py4j.reflection.TypeUtil.isInstanceOf
    parsed = session._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    return any(is_instance(name, node) for node in _nodes(parsed) for name in _WRITING)


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    children = plan.children()
    for index in range(children.size()):
        yield from _nodes(children.apply(index))


def _declared(columns: Iterable[tuple[str, str]], types: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {types.get(type_, type_)}" for name, type_ in columns)


def _files(directories: Sequence[str]) -> list[str]:
    """Return the files with the rows of these batches."""
    return [path for one in directories for path in files_of(one, chunks_on_disk(one))]


def answer(
    session: Any,
    sql: str,
    directories: Sequence[str],
    metrics: Sequence[str],
    batches: Sequence[tuple[Any, ...]],
    cells: Sequence[tuple[Any, ...]],
    most: int,
) -> QueryResult:
    """Run one statement that reads; at most `most` rows come back to the driver.

    Raises NotReadOnlyError for one that does not, before anything of it has run.
    """
    if changes(session, sql):
        raise NotReadOnlyError(ONLY_READS)
    schema = spark_schema(metrics)
    if directories:
        files = session.read.schema(schema)
        paths = _files(directories)
        place = "regexp_extract(_metadata.file_path, '([0-9a-f]{12})/[^/]+$', 1) AS batch"
        runs = files.parquet(*paths).selectExpr(place, "*")
    else:
        runs = session.createDataFrame([], f"batch string, {schema}")
    runs.createOrReplaceTempView("runs")
    for name, rows, columns in (("batches", batches, BATCHES), ("cells", cells, CELLS)):
        frame = session.createDataFrame(list(rows), _declared(columns, {}))
        frame.createOrReplaceTempView(name)
    frame = session.sql(sql)
    collected = frame.limit(most + 1).collect()
    shown = [[plain(value) for value in row] for row in collected[:most]]
    return QueryResult(list(frame.columns), shown, len(collected) > most)


def answer_here(
    sql: str,
    root: str,
    directories: Sequence[str],
    metrics: Sequence[str],
    batches: Sequence[tuple[Any, ...]],
    cells: Sequence[tuple[Any, ...]],
    most: int,
) -> QueryResult:
    """Run the statement by DuckDB over directories below `root`; it reads and writes nothing else.

    Raises NotReadOnlyError for a statement that does more than read, QueryError for one that cannot
    be run.
    """
    files = _files(directories)
    quoted = root.replace("'", "''")
    import duckdb  # late, as `open_duck` says

    duck = open_duck()
    try:
        read = reading(duck, files, metrics)
        batch = "regexp_extract(filename, '([0-9a-f]{12})/[^/]+$', 1) AS batch"
        duck.execute(
            f"CREATE VIEW runs AS SELECT {batch}, * EXCLUDE (filename) FROM ({read});"
            f"CREATE TABLE batches ({_declared(BATCHES, DUCK_TYPES)});"
            f"CREATE TABLE cells ({_declared(CELLS, DUCK_TYPES)})"
        )
        for name, rows in (("batches", batches), ("cells", cells)):
            if rows:
                places = ", ".join("?" * len(rows[0]))
                duck.executemany(f"INSERT INTO {name} VALUES ({places})", [*rows])
        duck.execute(
            f"SET allowed_directories = ['{quoted}'];"
            "SET enable_external_access = false; SET lock_configuration = true"
        )
        statements = duck.extract_statements(sql)
        if len(statements) != 1 or statements[0].type.name not in READING:
            raise NotReadOnlyError(ONLY_READS)
        cursor = duck.execute(statements[0])
        columns = [column[0] for column in cursor.description or ()]
        rows_found = cursor.fetchmany(most + 1)
    except duckdb.Error as error:
        text = str(error).partition("\n\nLINE ")[0].partition("Error: ")[2]
        said = [line for line in (text or str(error)).splitlines() if line.strip()]
        near = [line for line in said[1:] if line.startswith(("Did you mean", "Candidate"))]
        first = said[0].rstrip(".!") + "."
        raise QueryError(" ".join([first, *near[:1]])) from error
    finally:
        duck.close()
    shown = [[plain(value) for value in row] for row in rows_found[:most]]
    return QueryResult(columns, shown, len(rows_found) > most)


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def links(result: QueryResult) -> list[str]:
    """Return the link of every row that names batch, profile, cell and seed; "" for the others."""
    needed = ("batch", "profile", "cell", "seed")
    if not all(name in result.columns for name in needed):
        return []
    at = [result.columns.index(name) for name in needed]
    step = result.columns.index("step") if "step" in result.columns else -1
    made = []
    for row in result.rows:
        batch, profile, cell, seed = (row[index] for index in at)
        here = f"?step={max(0, row[step] - 1)}" if step >= 0 and (row[step] or -1) > 0 else ""
        made.append(f"{records.row_path(batch, str(profile), cell, seed)}{here}")
    return made
