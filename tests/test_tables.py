"""Rows on disk: put together once all are there, and counted in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow.parquet as pq
import pytest

import highwater as hw
from app.batch.runners.compaction import compact
from app.batch.runners.local import LocalRunner, counted_here
from app.batch.runners.plan import BatchPlan, PlanTally
from app.batch.runners.query import NotReadOnlyError, QueryError, QueryResult, answer_here, links
from app.batch.runners.rows import (
    canonical,
    chunk_name,
    chunks_on_disk,
    files_on_disk,
    finish_chunk,
    read_chunks,
)
from engine import ENGINE_VERSION
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.study.batch import run_chunk
from engine.study.metrics import METRICS
from tests import batch_fakes
from tests.batch_runner import check_same, summary_of

pytestmark = pytest.mark.gate


def plan(runs: int = 200, importance: float = 1, parts: tuple[int, ...] = ()) -> BatchPlan:
    faults = [{"importance": importance}]
    cells = tuple({"name": f"cell{n}", "faults": faults} for n in range(2))
    metrics = (*batch_fakes.METRICS, "never")  # of which no run says anything
    return BatchPlan(cells, ("Z0102", "K39"), runs, 5, 50, metrics, parts)


def play(wanted: BatchPlan, place: Path) -> list[dict[str, Any]]:
    for chunk in wanted.chunks():
        finish_chunk(chunk, wanted.scenarios, wanted.metrics, str(place), batch_fakes.play_chunk)
    return rows_of(place)


def rows_of(place: Path) -> list[dict[str, Any]]:
    return list(read_chunks(str(place), chunks_on_disk(str(place))))


@pytest.mark.parametrize("importance", [1, 3])
@pytest.mark.parametrize("put_together", [False, True])
def test_counts_agree_with_the_rows(tmp_path: Path, importance: float, put_together: bool) -> None:
    wanted = plan(importance=importance)
    rows = play(wanted, tmp_path)
    if put_together:
        compact(str(tmp_path), wanted)
        assert len(files_on_disk(str(tmp_path))) == wanted.groups
    found = counted_here(wanted, str(tmp_path), range(wanted.total_chunks), 3)
    check_same(found, summary_of(rows, wanted, 3))
    assert all(cell.violating and cell.errors for cell in found.cells)
    assert bool(found.pairs) == (importance == 1)
    assert all(bool(cell.weights) == (importance == 3) for cell in found.cells)


def test_compact_files_hold_the_same_rows_and_grow(tmp_path: Path) -> None:
    """Also where more runs were added, and where a server stopped between two of its steps."""
    before = play(plan(), tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    compact(str(tmp_path), plan())
    assert canonical(rows_of(tmp_path)) == canonical(before)
    assert len(list(tmp_path.iterdir())) == plan().groups
    assert chunks_on_disk(str(tmp_path)) == set(range(plan().total_chunks))
    for name, data in first.items():  # they were not removed any more
        (tmp_path / name).write_bytes(data)
    assert canonical(rows_of(tmp_path)) == canonical(before)
    for name in first:
        (tmp_path / name).unlink()
    grown = plan(300, parts=(200, 100))
    for chunk in grown.chunks():
        if chunk.number not in chunks_on_disk(str(tmp_path)):
            finish_chunk(
                chunk, grown.scenarios, grown.metrics, str(tmp_path), batch_fakes.play_chunk
            )
    compact(str(tmp_path), grown)
    assert len(list(tmp_path.iterdir())) == grown.groups
    assert canonical(rows_of(tmp_path)) == canonical(play(plan(300), tmp_path / "whole"))
    few = list(read_chunks(str(tmp_path), {0}, ["seed"], (100, 104)))
    assert few == [{"seed": seed} for seed in range(100, 105)]


def test_a_file_explains_itself(tmp_path: Path) -> None:
    """DuckDB, PyArrow and pandas read what the rows are, also far from the server."""
    scenario = file.find("S74").to_dict()
    own = {**scenario, "slug": "", "title": "Mine"}
    wanted = BatchPlan((scenario, own), ("Z0102", "K39"), 6, 5, 3, tuple(METRICS))
    for chunk in wanted.chunks():
        finish_chunk(chunk, wanted.scenarios, wanted.metrics, str(tmp_path), run_chunk)
    compact(str(tmp_path), wanted)
    paths = [str(tmp_path / one.name) for one in files_on_disk(str(tmp_path))]
    asked = "SELECT decode(key), decode(value) FROM parquet_kv_metadata(?)"
    told = [dict(duckdb.execute(asked, [path]).fetchall()) for path in paths]
    assert [one["release"] for one in told] == ["Z0102", "K39"] * 2
    repeat = "highwater batch random-schedules --kafka K39 --seed 5 --runs 6"
    assert told[1]["command"] == repeat and "command" not in told[3]
    assert Scenario.from_dict(json.loads(told[3]["scenario"])).title == "Mine"
    assert pq.read_schema(paths[1]).metadata[b"engine"] == str(ENGINE_VERSION).encode()
    frame = pandas.read_parquet(paths[1])
    again = hw.study("S74", kafka="K39", runs=6, seed=5)
    assert list(frame["steps"]) == list(again.df()["steps"])
    assert again.arrow().schema.metadata == pq.read_schema(paths[1]).metadata


def test_files_of_other_columns_are_left_alone(tmp_path: Path) -> None:
    rows = play(plan(), tmp_path)
    older = tmp_path / chunk_name(4)
    pq.write_table(pq.read_table(older).drop_columns(["wait_ms"]), older)
    compact(str(tmp_path), plan())
    files = files_on_disk(str(tmp_path))
    assert len(files) == 3 + 4, "three groups were put together, one was not"
    found = counted_here(plan(), str(tmp_path), range(plan().total_chunks), 3)
    for row in rows[: 50 * 5][50 * 4 :]:
        row["wait_ms"] = None
    check_same(found, summary_of(rows, plan(), 3))


@pytest.mark.night
def test_few_runs_are_played_by_processes_here(tmp_path: Path) -> None:
    told: list[PlanTally] = []
    assert LocalRunner(2).run(
        plan(20), str(tmp_path / "p"), "few", told.extend, run_chunk=batch_fakes.play_chunk
    )
    assert sum(tally.runs for tally in told) == plan(20).total_runs
    assert canonical(rows_of(tmp_path / "p")) == canonical(play(plan(20), tmp_path / "q"))
    assert not LocalRunner(1).run(
        plan(), str(tmp_path / "s"), "few", told.extend, lambda: True,
        run_chunk=batch_fakes.play_chunk,
    )  # fmt: skip
    assert len(chunks_on_disk(str(tmp_path / "s"))) < plan().total_chunks


def asked(sql: str, place: Path) -> QueryResult:
    names = ["0123456789a0", "0123456789a1"]
    cells = [(name, profile, cell, f"c{cell}", {"c": str(cell)}, 20, 0, 0, 0, 0)
             for name in names for profile in plan().profiles for cell in range(2)]  # fmt: skip
    return answer_here(
        sql, str(place), [str(place / name) for name in names], batch_fakes.METRICS,
        [], cells, 50,
    )  # fmt: skip


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two of them, one of which was put together."""
    place = tmp_path_factory.mktemp("batches")
    play(plan(20), place / "0123456789a0")
    play(plan(20), place / "0123456789a1")
    compact(str(place / "0123456789a1"), plan())
    return place


def test_stored_runs_answer_queries(studies: Path) -> None:
    rows = rows_of(studies / "0123456789a1")
    found = asked("SELECT batch, profile, cell, seed, step FROM runs ORDER BY ALL", studies)
    assert len(found.rows) == 50 and found.more
    first = min(rows, key=lambda row: (row["profile"], row["cell"], row["seed"]))
    assert found.rows[0] == ["0123456789a0", "K39", 0, first["seed"], first["step"]]
    assert links(found)[0].startswith(f"/batch/0123456789a0/row/K39/0/{first['seed']}")
    counted = asked(
        "SELECT c.label, sum(r.acked_lost) FROM runs r JOIN cells c USING (batch, profile, cell) "
        "GROUP BY c.label ORDER BY c.label",
        studies,
    )
    lost = [sum(row["acked_lost"] for row in rows if row["cell"] == cell) for cell in range(2)]
    assert counted.rows == [["c0", 2 * lost[0]], ["c1", 2 * lost[1]]] and not links(counted)
    assert asked("DESCRIBE runs", studies).rows[0][:2] == ["batch", "VARCHAR"]


@pytest.mark.parametrize(
    "sql",
    [
        "WITH a AS (SELECT 1 AS x) INSERT INTO cells SELECT * FROM a",
        "COPY (SELECT 1) TO 'kept.csv'",
        "SELECT 1; DROP VIEW runs",
        "SET enable_external_access = true",
        "ATTACH 'other.db'",
    ],
)
def test_a_query_only_reads(studies: Path, sql: str) -> None:
    with pytest.raises(NotReadOnlyError, match="A query only reads: it is a SELECT, "):
        asked(sql, studies)


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT nothing FROM runs", r"^Referenced column \"nothing\" not found"),
        ("SELEC 1", r"^syntax error at or near \"SELEC\"\.$"),
        ("SELECT * FROM read_text('/etc/hostname')", r"^Cannot access file .*\.$"),
    ],
)
def test_invalid_queries_get_one_sentence(studies: Path, sql: str, why: str) -> None:
    with pytest.raises(QueryError, match=why) as found:
        asked(sql, studies)
    assert "\n" not in str(found.value)
