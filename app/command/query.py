"""``highwater query``: SQL over the runs of all stored batches."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from app.batch import records
from app.batch.runners.rows import ANY
from app.core.config import Settings
from engine.study.batch import LOST, UNPROMISED


def run_query(settings: Settings, sql: str, most: int, as_json: bool) -> int:
    """Print the rows of a statement; return 0, or 2 for a statement that cannot be run."""
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
        print(ONLY_READS, file=sys.stderr)
        return 2
    database = Database(only_to_read(settings.database_url))
    database.migrate()
    root = settings.batch_directory or str(Path(settings.instance).resolve() / "batches")
    batches = records.newest(database, limit=None)
    directories = [f"{root}/{one.id}" for one in batches if one.done_chunks]
    places = [place for place in directories if chunks_on_disk(place)]
    told = [_batch(one) for one in batches]
    cells = [cell for one in batches for cell in _cells(database, one)]
    database.close()
    other = "" if batches else "; HIGHWATER_INSTANCE names another directory"
    print(f"Studies: {len(batches)}, in {place_of(settings.database_url)}{other}", file=sys.stderr)
    try:
        if "://" in root or (settings.spark_master and not settings.spark_master.startswith("sc:")):
            found = _by_spark(settings, sql, places, told, cells, most)
        else:
            found = answer_here(sql, root, places, tuple(METRICS), told, cells, most)
    except (NotReadOnlyError, QueryError) as trouble:
        print(trouble, file=sys.stderr)
        return 2
    opened = links(found)
    if as_json:
        print(json.dumps({"columns": found.columns, "rows": found.rows, "links": opened,
                          "more": found.more}, ensure_ascii=False))  # fmt: skip
    else:
        print("\n".join(table(found.columns, found.rows, opened)))
        if found.more:
            print(f"Only the first {most} rows are shown; --rows asks for more.", file=sys.stderr)
    return 0


def _by_spark(
    settings: Settings,
    sql: str,
    directories: list[str],
    batches: list[tuple[Any, ...]],
    cells: list[tuple[Any, ...]],
    most: int,
) -> Any:
    from app.batch.runners.query import QueryError, answer
    from app.batch.runners.spark import SparkError, SparkRunner, statement
    from engine.study.metrics import METRICS

    runner = SparkRunner(settings.spark_master)
    try:
        with statement():
            return answer(runner.start(), sql, directories, tuple(METRICS), batches, cells, most)
    except SparkError as trouble:
        raise QueryError(str(trouble)) from trouble
    finally:
        runner.close()


def _batch(one: Any) -> tuple[Any, ...]:
    scenario = records.scenario_of(one)
    return (
        one.id, scenario.code or scenario.slug, scenario.title, list(one.profiles), one.runs,
        one.first_seed, str(one.state), one.kind, one.engine_version, one.submitted,
    )  # fmt: skip


def _cells(database: Any, one: Any) -> list[tuple[Any, ...]]:
    return [
        (one.id, profile, cell, one.cells[cell]["label"], one.cells[cell]["values"], mine.judged,
         *(mine.hits.get(name, 0) for name in (LOST, UNPROMISED, ANY)), mine.n - mine.judged)
        for (profile, cell), mine in records.counts_stored(database, one).items()
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
        lines[2:] = [f"{one}  {link}" for one, link in zip(lines[2:], opened, strict=True)]
    return [one.rstrip() for one in lines]
