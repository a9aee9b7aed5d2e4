"""``highwater query``: SQL over the runs of all stored batches."""

from __future__ import annotations

import csv
import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.batch import records
from app.batch.runners.rows import ANY
from app.core.config import Settings
from engine.model.errors import InputError
from engine.study.batch import LOST, UNPROMISED

if TYPE_CHECKING:
    from app.batch.runners.query import QueryResult


JSON: Final = "json"
TEXT: Final = "text"
CSV: Final = "csv"
PARQUET: Final = "parquet"


def form_of(out: str | None, as_csv: bool, as_json: bool) -> str:
    """Return the form in which rows are written.  Raises InputError."""
    if out is None:
        return CSV if as_csv else JSON if as_json else TEXT
    suffix = Path(out).suffix.removeprefix(".")
    if suffix not in (CSV, PARQUET) or as_json:
        raise InputError("invalid", "--out writes a file .csv or .parquet.")
    return suffix


def run_query(settings: Settings, sql: str, most: int, form: str, out: str | None) -> None:
    """Write the rows of a statement.

    Raises InputError for a statement that cannot be run and a file that cannot be written.
    """
    from app.batch.runners.query import (
        ONLY_READS,
        READ_ONLY,
        NotReadOnlyError,
        QueryError,
        answer_here,
        links,
    )
    from app.batch.runners.rows import chunks_on_disk
    from app.storage.database import Database, only_to_read, place_of
    from engine.study.metrics import METRICS

    if not READ_ONLY.match(sql):
        raise InputError("invalid", ONLY_READS)
    database = Database(only_to_read(settings.database_url))
    database.migrate()
    root = settings.batch_root
    batches = records.newest(database, limit=None)
    directories = [f"{root}/{batch.id}" for batch in batches if batch.done_chunks]
    places = [place for place in directories if chunks_on_disk(place)]
    rows_of_batches = [_batch(batch) for batch in batches]
    cells = [cell for batch in batches for cell in _cells(database, batch)]
    database.close()
    other = "" if batches else "; HIGHWATER_INSTANCE names another directory"
    print(f"Studies: {len(batches)}, in {place_of(settings.database_url)}{other}", file=sys.stderr)
    try:
        if "://" in root or (settings.spark_master and not settings.spark_master.startswith("sc:")):
            result = _by_spark(settings, sql, places, rows_of_batches, cells, most)
        else:
            result = answer_here(sql, root, places, tuple(METRICS), rows_of_batches, cells, most)
    except (NotReadOnlyError, QueryError) as trouble:
        raise InputError("invalid", str(trouble)) from None
    opened = links(result)
    try:
        _write(result, form, out, opened)
    except OSError as error:
        raise InputError("invalid", f"{out} cannot be written: {error.strerror}.") from None
    if result.more:
        print(f"These are the first {most:,} rows; --rows asks for more.", file=sys.stderr)


def _write(result: QueryResult, form: str, out: str | None, opened: list[str]) -> None:
    if form == TEXT:
        print("\n".join(table(result.columns, result.rows, opened)))
    elif form == JSON:
        rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
        answer = {"columns": result.columns, "rows": rows, "links": opened, "more": result.more}
        print(json.dumps(answer, ensure_ascii=False))
    elif form == PARQUET:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = zip(*result.rows, strict=True) if result.rows else [()] * len(result.columns)
        made = pa.table([pa.array(column) for column in columns], result.columns)
        pq.write_table(made, out)
    else:
        with open(out, "w", encoding="utf-8", newline="") if out else nullcontext(sys.stdout) as to:
            csv.writer(to, lineterminator="\n").writerows([result.columns, *result.rows])


def _by_spark(
    settings: Settings,
    sql: str,
    directories: list[str],
    batches: list[tuple[Any, ...]],
    cells: list[tuple[Any, ...]],
    most: int,
) -> Any:
    from app.batch.runners.query import QueryError, answer
    from app.batch.runners.spark import SparkRunner, statement
    from app.batch.runners.tables import SparkError
    from engine.study.metrics import METRICS

    runner = SparkRunner(settings.spark_master)
    try:
        with statement():
            return answer(runner.start(), sql, directories, tuple(METRICS), batches, cells, most)
    except SparkError as trouble:
        raise QueryError(str(trouble)) from trouble
    finally:
        runner.close()


def _batch(batch: Any) -> tuple[Any, ...]:
    scenario = records.scenario_of(batch)
    return (
        batch.id, scenario.code or scenario.slug, scenario.title, list(batch.profiles), batch.runs,
        batch.first_seed, str(batch.state), batch.kind, batch.engine_version, batch.submitted,
    )  # fmt: skip


def _cells(database: Any, batch: Any) -> list[tuple[Any, ...]]:
    return [
        (batch.id, profile, cell, batch.cells[cell]["label"], batch.cells[cell]["values"],
         mine.judged, *(mine.hits.get(name, 0) for name in (LOST, UNPROMISED, ANY)),
         mine.n - mine.judged)
        for (profile, cell), mine in records.counts_stored(database, batch).items()
    ]  # fmt: skip


def table(columns: list[str], rows: list[list[Any]], opened: list[str]) -> list[str]:
    """Return the columns under their names, numbers to the right, the link of the run last."""
    shown = [["" if value is None else str(value) for value in row] for row in rows]
    widths = [max([len(name), *(len(row[i]) for row in shown)]) for i, name in enumerate(columns)]
    right = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(columns))]

    def line(cells: list[str]) -> str:
        padded = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        )
        return "  ".join(padded)

    lines = [line(columns), "  ".join("-" * width for width in widths)]
    lines += [line(row) for row in shown]
    if opened:
        lines[2:] = [f"{text}  {link}" for text, link in zip(lines[2:], opened, strict=True)]
    return [text.rstrip() for text in lines]
