"""Spark SQL over all stored batches: the views that `highwater query` reads.

`runs` has a row a run (docs/schema.md), `cells` a row a profile and cell, `batches` a row a batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.batch.runners.rows import spark_schema

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
    "batch string, scenario string, title string, profiles array<string>, runs bigint, "
    "first_seed bigint, state string, kind string, engine int, submitted bigint"
)
CELLS = (
    "batch string, profile string, cell int, label string, values map<string, string>, n bigint, "
    "violating bigint, errors bigint"
)


@dataclass(frozen=True)
class Answer:
    """Rows of a query, in the order of the columns; `more` if there are others."""

    columns: list[str]
    rows: list[list[Any]]
    more: bool


class Changes(Exception):
    """A statement that does more than read; the text says what may be asked."""


def changes(session: Any, sql: str) -> bool:
    """Would the statement write, delete or define something?  Its parsed plan tells: in
    ``WITH x AS (...) INSERT INTO y ...`` the first word does not."""
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


def answer(
    session: Any,
    sql: str,
    directories: Sequence[str],
    metrics: Sequence[str],
    batches: Sequence[tuple[Any, ...]],
    cells: Sequence[tuple[Any, ...]],
    most: int,
) -> Answer:
    """Runs one statement that reads; at most `most` rows come back to the driver.

    Raises `Changes` for one that does not, before anything of it has run.
    """
    if changes(session, sql):
        raise Changes(ONLY_READS)
    schema = spark_schema(metrics)
    if directories:
        files = session.read.schema(schema).option("pathGlobFilter", "*.parquet")
        place = "regexp_extract(_metadata.file_path, '([0-9a-f]{12})/[^/]+$', 1) AS batch"
        runs = files.parquet(*directories).selectExpr(place, "*")
    else:
        runs = session.createDataFrame([], f"batch string, {schema}")
    runs.createOrReplaceTempView("runs")
    session.createDataFrame(list(batches), BATCHES).createOrReplaceTempView("batches")
    session.createDataFrame(list(cells), CELLS).createOrReplaceTempView("cells")
    found = session.sql(sql)
    rows = found.limit(most + 1).collect()
    return Answer(
        list(found.columns),
        [[plain(value) for value in row] for row in rows[:most]],
        len(rows) > most,
    )


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def links(found: Answer) -> list[str]:
    """For every row that names batch, profile, cell and seed, where its run opens; else ""."""
    needed = ("batch", "profile", "cell", "seed")
    if not all(name in found.columns for name in needed):
        return []
    at = [found.columns.index(name) for name in needed]
    step = found.columns.index("step") if "step" in found.columns else -1
    made = []
    for row in found.rows:
        batch, profile, cell, seed = (row[index] for index in at)
        here = f"?step={max(0, row[step] - 1)}" if step >= 0 and (row[step] or -1) > 0 else ""
        made.append(f"/batch/{batch}/row/{profile}/{cell}/{seed}{here}")
    return made
