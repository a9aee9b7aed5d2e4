"""What batches count where runs failed themselves, or count differently."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import exp, log
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.batch import records, statistics
from app.batch.batch_run import BatchRun
from app.batch.intervals import Look
from app.batch.jobs import Jobs
from app.batch.result import result
from app.batch.runners.rows import chunks_on_disk, read_chunks
from app.batch.spec import Spec, make_spec
from app.batch.wire import BatchResult
from app.storage.models import BatchCellRow
from engine.scenarios.scenario import Scenario
from tests.app.conftest import browser
from tests.app.test_batch_jobs import SCENARIO, ended, spec
from tests.batch_runner import heavier, play_chunk
from tests.wire import held

OFTEN = {"kind": "bounce", "mtbf_ms": 20_000, "mttr_ms": 300, "importance": 3}
TILTED = Scenario.from_dict({**SCENARIO.to_dict(), "faults": [OFTEN]})
"""The fake's rows of all cells but the first count less than one."""


def test_runs_that_failed_themselves_are_neither_good_nor_bad(
    make_jobs: Callable[..., Jobs],
) -> None:
    """While it runs and after; progress counts them, shares and what is told of them do not."""
    jobs = make_jobs()

    def fails(chunk: dict[str, Any]) -> list[dict[str, Any]]:
        """Of four seeds one breaks I7, one fails after it broke I7, one fails, one holds."""
        broken = [["I7", 3, "lost m1"]]
        kinds = [("violates", broken), ("error", broken), ("error", []), ("holds", [])]
        rows = play_chunk(chunk)
        for row in rows:
            row["verdict"], row["broken"] = kinds[row["seed"] % 4]
            lost = None if row["verdict"] == "error" else len(row["broken"])
            row["acked_lost"] = row["promised_lost"] = lost
        return rows

    jobs._computation.run_chunk = fails
    number = jobs.submit(spec(runs=40, profiles=["K39"]))
    ended(jobs, number)
    jobs.runner.trouble["summarise"] = "Spark is gone."
    interim = jobs.submit(spec(runs=40, profiles=["K39"]))
    ended(jobs, interim)
    for found in (result(jobs, number), jobs.snapshot(interim)):
        assert found["done_runs"] == found["total_runs"] == 40
        (cell,) = found["cells"]
        assert (cell["n"], cell["errors"]) == (20, 20)
        for count in (cell["violating"], cell["broken"]["I7"]):
            assert (count["hits"], count["n"], count["share"]) == (10, 20, 0.5)
    found = result(jobs, number)
    assert found["sentences"][0]["args"]["n"] == "20"
    assert {metric["cells"][0]["n"] for metric in found["metrics"]} == {0, 20}
    assert [row["invariant"] for row in found["failures"]["rows"]].count("I7") == 10


# -- runs that count differently -----------------------------------------------------------------


RUNNING, WHOLE, ADDED_TO = Look(4, 1), Look(4), Look(4, 2)
"""Four cells at once: of a study that is not done, that is, and that was added to."""


def tilted(runs: int = 300) -> Spec:
    return make_spec(TILTED, runs, vary=[("min.insync.replicas", ["1", "2"])])


def sums(rows: list[dict[str, Any]], name: str) -> tuple[int, float, float]:
    """(runs that broke it, their weights, the squares)."""
    weights = [
        exp(row["log_weight"] / 1e9)
        for row in rows
        if row["verdict"] != "error"
        and (row["broken"] if name == "any" else name in {b["invariant"] for b in row["broken"]})
    ]
    return len(weights), sum(weights), sum(one * one for one in weights)


def check_weighted(
    jobs: Jobs, number: str, cells: list[dict[str, Any]], look: Look = RUNNING
) -> None:
    """Each count is that of the rows on disk, by their weights."""
    directory = jobs.directory(number)
    rows = list(read_chunks(directory, chunks_on_disk(directory)))
    assert len(cells) == 4
    stored = {(row.profile, row.cell): row.weights["heaviest"][0]
              for row in records.cells(jobs.database, jobs.batch(number))}  # fmt: skip
    for cell in cells:
        heaviest = stored[cell["profile"], cell["cell"]]
        mine = [r for r in rows if (r["profile"], r["cell"]) == (cell["profile"], cell["cell"])]
        for name, count in {"any": cell["violating"], **cell["broken"]}.items():
            hits, total, squares = sums(mine, name)
            wanted = statistics.weighted_interval(hits, total, squares, cell["n"], heaviest, look)
            assert hits > 0
            for end in ("hits", "n", "share", "low", "high"):
                assert count[end] == pytest.approx(wanted[end]), (cell["label"], name, end)
    assert cells[2]["violating"]["share"] < cells[2]["violating"]["hits"] / cells[2]["n"]


def test_a_tilted_study_is_weighted_while_it_runs_and_after_an_interruption(
    make_jobs: Callable[..., Jobs],
) -> None:
    jobs = make_jobs()
    heard: list[dict[str, Any]] = []
    tell = jobs._announcer.tell

    def listen(run: BatchRun) -> None:
        heard.append(jobs._announcer.view(jobs.batch(run.id), run))
        tell(run)

    jobs._announcer.tell = listen  # type: ignore[method-assign]
    jobs.runner.trouble["summarise"] = "Spark is gone."
    number = jobs.submit(tilted())
    ended(jobs, number)
    running = [one for one in heard if one["state"] == "summarising"]
    check_weighted(jobs, number, running[-1]["cells"])
    stored = result(jobs, number)
    assert stored["state"] == "failed" and stored["weighted"] and stored["metrics"] == []
    check_weighted(jobs, number, stored["cells"])
    jobs.resume(number)
    ended(jobs, number)
    whole = result(jobs, number)
    check_weighted(jobs, number, whole["cells"], WHOLE)
    done = [one for one in heard if one["state"] == "done"]
    assert done[-1]["cells"] == whole["cells"], "what is told at the end is what is stored"


def test_weights_go_on_from_what_was_summarised(make_jobs: Callable[..., Jobs]) -> None:
    """Chunks that are added to a result that is there."""
    jobs = make_jobs()
    number = jobs.submit(tilted(60))
    ended(jobs, number)
    summarise = jobs.runner.summarise

    def once(*given: Any) -> Any:
        found = summarise(*given)
        jobs.runner.trouble["summarise"] = "Spark is gone."
        return found

    jobs.runner.summarise = once  # type: ignore[method-assign]
    jobs.add_runs(number, 240)
    assert ended(jobs, number)[-1] == "failed"
    grown = result(jobs, number)
    assert grown["done_runs"] == grown["total_runs"] == 1200
    check_weighted(jobs, number, grown["cells"], ADDED_TO)


def test_a_tilted_study_has_weighted_percentiles_and_no_pairs(
    make_jobs: Callable[..., Jobs],
) -> None:
    jobs = make_jobs()
    number = jobs.submit(tilted())
    ended(jobs, number)
    found = result(jobs, number)
    assert found["weighted"] and found["paired"] == []
    assert not any(cell.get("together") for cell in jobs.batch(number).cells)
    plain = jobs.submit(spec(vary=[("min.insync.replicas", ["1", "2"])]))
    ended(jobs, plain)
    assert result(jobs, plain)["paired"] and not result(jobs, plain)["weighted"]


def test_a_percentile_is_reached_by_weight() -> None:
    """Nine runs of ten were long, and together weigh a tenth of the short one."""
    rows = [{"ms": 900 + n, "log_weight": round(-log(90) * 1e9)} for n in range(9)]
    rows.append({"ms": 5, "log_weight": 0})
    found = [heavier(rows, "ms", Decimal(q)) for q in ("0.5", "0.9", "0.95", "0.999")]
    assert found == [5, 5, 904, 908]


def test_more_weight_than_runs_is_a_page(app: Flask, make_jobs: Callable[..., Jobs]) -> None:
    """Sums that a few heavy runs make: the share is all, and nothing is divided by nothing."""
    jobs = make_jobs()
    number = jobs.submit(tilted(20))
    ended(jobs, number)
    with jobs.database.writing() as session:
        for row in session.scalars(select(BatchCellRow).where(BatchCellRow.batch_id == number)):
            heavy = {name: [row.n * 1.5, row.n * 3.0, 0.0, 0.0] for name in row.weights}
            row.weights = {**heavy, "any": [row.n * 1.0, row.n * 2.0], "heaviest": [3.0]}
            row.broken = {**row.broken, "any": 2, "I7": 2}
    held(result(jobs, number), BatchResult)
    client = browser(app)
    for lang, said in (("en", "Not available: importance factors"), ("zh", "未列出：重要性系数")):
        page = client.get(f"/batch/{number}?lang={lang}")
        assert page.status_code == 200
        assert said in page.text and "batch.paired" not in page.text
    found = result(jobs, number)
    assert found["cells"][0]["violating"]["share"] == 1
    bound = statistics.rule_of_three(found["cells"][0]["n"], WHOLE)
    assert found["cells"][0]["unseen"]["high"] == min(1, 3 * bound)
