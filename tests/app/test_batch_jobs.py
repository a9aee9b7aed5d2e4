"""Batches in the background: every way one can end, and that nothing done is lost."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from flask import Flask
from sqlalchemy import select

from app.batch import estimate, intervals, records, statistics
from app.batch import spec as batch_spec
from app.batch.batch_run import BatchRun
from app.batch.jobs import ACTIVE_PER_OWNER, Jobs
from app.batch.queue import FairQueue
from app.batch.result import result
from app.batch.runners.rows import chunks_on_disk
from app.batch.runners.tables import SparkError
from app.batch.spec import Spec, make_spec
from app.batch.wire import BatchResult
from app.core.config import Settings
from app.core.refusals import RequestError
from app.server.services import KEY, Services
from app.storage.models import BatchCellRow, BatchRow
from engine.scenarios.scenario import Scenario
from engine.study.batch import LOST, UNPROMISED
from tests.app.conftest import TOKEN, Socket, browser, post
from tests.batch_runner import play_chunk
from tests.wire import held

SCENARIO = Scenario.from_dict({"title": "Three brokers", "profiles": ["K39", "Z0102"]})


def spec(runs: int = 300, **more: Any) -> Spec:
    return make_spec(SCENARIO, runs, **more)


def ended(jobs: Jobs, number: str) -> list[str]:
    """Waits for the end; the states that were seen on the way, each once."""
    seen: list[str] = []

    def note(snapshot: dict[str, Any]) -> None:
        if snapshot["state"] not in seen:
            seen.append(snapshot["state"])

    jobs.wait(number, note)
    return seen


def rows_on_disk(jobs: Jobs, number: str) -> set[int]:
    return chunks_on_disk(f"{jobs._root}/{number}")


def test_a_batch_is_counted_and_stored(make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs()
    number = jobs.submit(spec(vary=[("min.insync.replicas", ["1", "2"])]))
    assert ended(jobs, number)[-1] == "done"
    found = result(jobs, number)
    assert found["done_runs"] == found["total_runs"] == 1200
    assert found["done_chunks"] == found["total_chunks"] > 1
    assert [(c["profile"], c["label"], c["n"] + c["errors"]) for c in found["cells"]] == [
        ("K39", "min.insync.replicas=1", 300),
        ("Z0102", "min.insync.replicas=1", 300),
        ("K39", "min.insync.replicas=2", 300),
        ("Z0102", "min.insync.replicas=2", 300),
    ]
    first = found["cells"][0]
    rows = play_chunk({"scenario": SCENARIO.to_dict(), "profile": "K39", "cell": 0,
                       "first_seed": 0, "count": 300})  # fmt: skip
    assert first["violating"]["hits"] == sum(row["verdict"] == "violates" for row in rows)
    failed = [row for row in rows if row["verdict"] == "error"]
    assert first["errors"] == len(failed) > 0
    assert 0 < first["violating"]["low"] < first["violating"]["share"] < 1
    assert found["sentences"][0]["key"] == "batch.said.lost.some.percent.at"
    lost = next(metric for metric in found["metrics"] if metric["name"] == "acked_lost")
    good = [row for row in rows if row not in failed]
    assert lost["cells"][0]["share"]["hits"] == sum(row["acked_lost"] > 0 for row in good)
    assert lost["cells"][0]["share"]["n"] == first["n"] == first["unseen"]["n"] == len(good)
    assert {row["profile"] for row in found["failures"]["rows"]} == {"K39", "Z0102"}
    assert sum(found["paired"][0][k] for k in ("neither", "only_a", "only_b", "both")) <= 300


def test_a_study_tells_promised_losses_from_others(make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs()
    ended(jobs, number := jobs.submit(spec(40)))
    found = result(jobs, number)
    last = found["sentences"][-1]
    assert (last["key"], last["args"]["releases"]) == ("batch.said.defaults", "Kafka 0.10.2")
    shares = {
        name: next(one for one in found["metrics"] if one["name"] == name)["cells"][0]["share"][
            "hits"
        ]
        for name in ("acked_lost", "promised_lost")
    }
    hits = {name: count["hits"] for name, count in found["cells"][0]["broken"].items()}
    assert hits[LOST] == shares["promised_lost"]
    assert hits[LOST] + hits[UNPROMISED] == shares["acked_lost"]
    said = [one for one in found["sentences"] if one["key"].startswith("batch.said.gone")]
    assert int(said[0]["args"]["hits"]) == hits[UNPROMISED] > 0


def test_an_older_study_is_counted_again_or_says_that_it_was_not(
    make_jobs: Callable[..., Jobs],
) -> None:
    jobs = make_jobs()
    ended(jobs, number := jobs.submit(spec(40)))
    kept = [cell["broken"] for cell in result(jobs, number)["cells"]]

    def change(promised: bool) -> None:
        """Write the counts as before promised records were told from others."""
        with jobs.database.writing() as session:
            for row in session.scalars(select(BatchCellRow)):
                broken = dict(row.broken)
                broken[LOST] = broken.get(LOST, 0) + broken.pop(UNPROMISED, 0)
                row.broken = broken
                if not promised:
                    row.metrics = {k: v for k, v in row.metrics.items() if k != "promised_lost"}

    change(promised=True)
    again = [cell["broken"] for cell in result(jobs, number)["cells"]]
    for before, after in zip(kept, again, strict=True):
        for name in (LOST, UNPROMISED):
            assert before.get(name, {}).get("hits", 0) == after.get(name, {}).get("hits", 0)
    assert all(one["key"] != "batch.said.older" for one in result(jobs, number)["sentences"])
    change(promised=False)
    assert result(jobs, number)["sentences"][-1]["key"] == "batch.said.older"


def test_a_study_stops_when_it_knows_enough(make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs(0.02)
    number = jobs.submit(spec(20_000, within=50))
    assert ended(jobs, number)[-1] == "done"
    found = result(jobs, number)
    assert 0 < found["done_runs"] < found["total_runs"] and found["look"]["growing"] == 1
    for cell in found["cells"]:
        share = cell["violating"]
        ends = share["share"], share["low"], share["high"]
        assert intervals.is_within(*ends, 0.5), "as the rows that were counted say"
        low, high = intervals.growing(share["hits"], share["n"])
        assert (share["low"], share["high"]) == (low, high)
    with pytest.raises(RequestError, match=r"± 5 to 50 % of it; ± 60 % was asked for\.$"):
        spec(within=60)


def test_few_runs_start_no_java(services: Services) -> None:
    jobs = Jobs(services.database, services.settings, lambda told, to: None)
    try:
        number = jobs.submit(make_spec(Scenario.from_dict({"title": "Still"}), 3, ["K39"]))
        assert ended(jobs, number)[-1] == "done"
        found = result(jobs, number)
        assert found["done_runs"] == 3 and found["cells"][0]["errors"] == 0
        assert "processes of this machine" in found["message"] and not jobs.runner.started
        assert [path.name for path in Path(jobs.directory(number)).iterdir()] == [
            "all-0000000-0000002-1.parquet"
        ]
    finally:
        jobs.close()


def test_failures_can_be_chosen_and_found_again(make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs()
    number = jobs.submit(spec())
    ended(jobs, number)
    batch = jobs.batch(number)
    total, every = records.failures(jobs.database, batch, limit=None)
    assert total == len(every) == result(jobs, number)["failures"]["total"]
    wanted = [one for one in every if (one.profile, one.invariant) == ("Z0102", "I6")]
    asked = records.FailureFilter(profile="Z0102", invariant="I6")
    assert records.failures(jobs.database, batch, asked, first=2, limit=3) == (
        len(wanted),
        wanted[2:5],
    )
    one = wanted[2]
    place = (one.profile, one.cell, one.seed, one.invariant)
    assert records.failure(jobs.database, batch, *place) == one
    assert records.failure(jobs.database, batch, "K39", *place[1:]) is None


def test_cancel_keeps_what_is_done_and_resume_does_the_rest(
    make_jobs: Callable[..., Jobs],
) -> None:
    jobs = make_jobs(0.02)
    number = jobs.submit(spec())
    while jobs.snapshot(number)["done_chunks"] < 3:
        time.sleep(0.01)
    jobs.cancel(number)
    ended(jobs, number)
    part = result(jobs, number)
    assert part["state"] == "cancelled"
    assert 0 < part["done_runs"] < part["total_runs"]
    assert part["done_chunks"] == len(rows_on_disk(jobs, number))
    jobs.resume(number)
    assert ended(jobs, number)[-1] == "done"
    whole = jobs.submit(spec())
    ended(jobs, whole)
    kept = ("cells", "metrics", "paired", "sentences")
    resumed, fresh = result(jobs, number), result(jobs, whole)
    assert [resumed[key] for key in kept] == [fresh[key] for key in kept]
    with pytest.raises(RequestError, match=r"^This batch has ended already\.$"):
        jobs.resume(number)
    with pytest.raises(RequestError, match=r"^This batch has ended already\.$"):
        jobs.cancel(number)


@pytest.mark.parametrize("where", ["start", "run", "summarise"])
def test_trouble_with_spark_is_one_sentence_and_can_be_taken_up(
    make_jobs: Callable[..., Jobs], where: str
) -> None:
    jobs = make_jobs()
    jobs.runner.trouble[where] = "Spark could not start at local: no Java."
    number = jobs.submit(spec())
    assert ended(jobs, number)[-1] == "failed"
    failed = result(jobs, number)
    assert failed["message"] == "Spark could not start at local: no Java."
    assert failed["done_chunks"] == len(rows_on_disk(jobs, number))
    if where != "start":
        assert sum(cell["n"] for cell in failed["cells"]) > 0
    jobs.resume(number)
    assert ended(jobs, number)[-1] == "done"
    assert result(jobs, number)["done_runs"] == 600


def test_a_result_is_stored_before_its_failures_are_traced(
    make_jobs: Callable[..., Jobs], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What traces them may fail; the batch is done all the same."""
    jobs = make_jobs()

    def traced(runs: list[str]) -> None:
        found = result(jobs, jobs.snapshot(number)["id"])
        assert found["metrics"] and found["failures"]["total"]
        raise SparkError("Spark could not trace the failures: Java is gone.")

    monkeypatch.setattr(jobs.runner, "causes", traced)
    number = jobs.submit(spec())
    assert ended(jobs, number)[-1] == "done"
    found = result(jobs, number)
    assert found["metrics"] and found["failures"]["total"] and found["causes"] == []
    assert found["message"] == "one plain process"


def test_a_batch_that_could_not_be_counted_is_counted_again(
    app: Flask, make_jobs: Callable[..., Jobs]
) -> None:
    jobs = make_jobs()
    me = browser(app)
    jobs.runner.trouble["summarise"] = "Spark could not summarise the batch: no disk."
    body = {"scenario": "S61", "runs": 40}
    number = post(me, "/api/batches", body).json["id"]
    assert ended(jobs, number)[-1] == "failed"
    failed = result(jobs, number)
    assert failed["done_runs"] == failed["total_runs"] and not failed["metrics"]
    page = me.get(f"/batch/{number}").text
    assert f'action="/batch/{number}/resume"' in page and "Count again" in page
    assert me.post(f"/batch/{number}/resume", data={"csrf": TOKEN}).status_code == 303
    assert ended(jobs, number)[-1] == "done"
    assert result(jobs, number)["metrics"]


def test_a_cancel_on_the_way_to_spark_is_not_lost(
    make_jobs: Callable[..., Jobs], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = make_jobs()
    played: list[int] = []

    def cancel_and_play(chunk: dict[str, Any]) -> list[dict[str, Any]]:
        jobs._jobs[number].stop.set()
        played.append(chunk["count"])
        return play_chunk(chunk)

    hold = threading.Event()
    monkeypatch.setattr(jobs._announcer, "tell_waiting", lambda: hold.wait(10))
    monkeypatch.setattr(jobs._computation, "run_chunk", cancel_and_play)
    monkeypatch.setattr(jobs.runner, "start", lambda: 1 / 0)
    number = jobs.submit(spec())
    hold.set()
    assert ended(jobs, number)[-1] == "cancelled"
    assert played == [1], "not even the probe goes on"
    assert not rows_on_disk(jobs, number)


def test_too_many_chunks_end_with_a_sentence_and_are_known_before(
    app: Flask, make_jobs: Callable[..., Jobs], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_spec, "CHUNKS_MOST", 4)
    jobs = make_jobs()
    me = browser(app)
    two = {"profiles": ["K39", "Z0102"]}
    number = post(me, "/api/batches", {"scenario": "S61", "runs": 64, **two}).json["id"]
    assert ended(jobs, number)[-1] == "failed"
    held(result(jobs, number), BatchResult)
    said = jobs.snapshot(number)["message"]
    assert said.startswith("The 128 runs would be 16 pieces of work, 8 runs in each,"), said
    assert said.endswith("ask for at most 32 runs in all, or for a shorter duration.")
    assert said in me.get(f"/batch/{number}").text
    assert "128 次运行要分成 16 块" in me.get(f"/batch/{number}?lang=zh").text
    assert [str(note) for note in estimate.estimate(spec(runs=64), 2)["notes"]] == [said]
    small = jobs.submit(spec(runs=1))
    assert ended(jobs, small)[-1] == "done"
    with pytest.raises(RequestError, match="pieces of work"):
        jobs.add_runs(small, 2)
    assert jobs.batch(small).runs == 1 and jobs.snapshot(small)["state"] == "done"


def test_a_defect_fails_one_batch_and_not_the_next(make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs()
    jobs._computation.run_chunk = lambda chunk: 1 / 0  # type: ignore[assignment,return-value]
    number = jobs.submit(spec())
    assert ended(jobs, number)[-1] == "failed"
    assert jobs.snapshot(number)["message"] == (
        "The server failed (ZeroDivisionError); nothing that was saved is lost."
    )
    jobs._computation.run_chunk = play_chunk
    assert ended(jobs, jobs.submit(spec()))[-1] == "done"


def test_a_restart_interrupts_and_keeps(
    make_jobs: Callable[..., Jobs], make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    jobs = make_jobs(0.02)
    number = jobs.submit(spec())
    while jobs.snapshot(number)["done_chunks"] < 3:
        time.sleep(0.01)
    other: Services = make_app(settings).extensions[KEY]
    assert other.jobs.snapshot(number)["state"] == "running", "another process computes it"
    jobs.close()
    assert other.jobs.snapshot(number)["state"] == "interrupted"
    records.update(jobs.database, number, state="running")  # as after a power failure
    third: Services = make_app(settings).extensions[KEY]
    after = third.jobs.snapshot(number)
    assert after["state"] == "interrupted"
    assert after["done_runs"] > 0
    assert after["done_chunks"] == len(rows_on_disk(jobs, number))


def test_only_its_owner_changes_a_batch(make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs(0.02)
    number = jobs.submit(spec(), owner="me")
    with pytest.raises(RequestError, match="Only the browser or the key that started a batch"):
        jobs.cancel(number, "you")
    jobs.cancel(number, "me")
    ended(jobs, number)
    with pytest.raises(RequestError, match="Only the browser or the key that started a batch"):
        jobs.resume(number, "you")


def test_one_browser_cannot_fill_the_queue(make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs(0.05)
    for _ in range(ACTIVE_PER_OWNER):
        jobs.submit(spec(), owner="me")
    with pytest.raises(RequestError, match=r"^3 batches are waiting already; "):
        jobs.submit(spec(), owner="me")
    jobs.submit(spec(), owner="you")


def test_an_unknown_batch_is_one_sentence(make_jobs: Callable[..., Jobs]) -> None:
    for number in ("nothing", "../../etc/passwd", ""):
        with pytest.raises(RequestError, match="There is no batch"):
            make_jobs().snapshot(number)


def test_a_page_hears_of_progress(app: Flask, make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs(0.05)
    client = browser(app)
    socket = Socket(app, client)
    number = jobs.submit(spec(runs=100))
    assert socket.ask("watch", {"batch": number})["batch"]["id"] == number
    began = time.monotonic()
    ended(jobs, number)
    spent = time.monotonic() - began
    heard = [one["args"][0] for one in socket.raw.get_received() if one["name"] == "batch"]
    assert heard[-1]["state"] == "done"
    assert heard[-1]["done_runs"] == heard[-1]["total_runs"]
    running = [one for one in heard if one["state"] == "running"]
    assert 1 < len(running) <= spent * 4 + 3, "at most four a second"
    done = [one["done_runs"] for one in running]
    assert done == sorted(done)


def test_two_batches_run_at_once(make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs(0.02)
    numbers = [jobs.submit(spec(runs=200)) for _ in range(3)]
    together = threading.Event()

    def note(_: dict[str, Any]) -> None:
        states = [jobs.snapshot(number)["state"] for number in numbers]
        if states.count("running") == 2 and "queued" in states:
            together.set()

    jobs.wait(numbers[0], note)
    assert together.is_set()


def test_an_estimate_knows_the_total() -> None:
    found = estimate.estimate(spec(runs=1000), 1)
    assert found["total_runs"] == 2000
    assert found["seconds"] == pytest.approx(2000 / found["runs_per_s"])
    low, high = intervals.exact(10, 1000)
    assert found["precision"] == pytest.approx((high - low) / 2), "how well 1 % would be known"
    assert found["bound"] == 0.003
    assert estimate.estimate(spec(runs=1), 2)["bound"] == 1


def test_an_estimate_plays_the_beginning_of_a_long_run() -> None:
    long = {"events": 1_000, "whole": 50_000, "most": 10_000}

    def begun(chunk: dict[str, Any]) -> list[dict[str, Any]]:
        assert chunk["probe"] == estimate.PROBE_EVENTS
        time.sleep(0.02)
        return [{**row, **long} for row in play_chunk(chunk)]

    found = estimate.estimate(spec(runs=100), 2, begun)
    assert 2 < found["runs_per_s"] <= 5, "a tenth of what may be played in 20 ms"
    assert [note.sentence() for note in found["notes"]] == [
        f"A run would have about 50{statistics.THIN}000 events and end as an error after "
        f"10{statistics.THIN}000: ask for a shorter duration, for fewer brokers "
        "or for slower producers."
    ]
    assert "个事件" in found["notes"][0].sentence("zh-Hans")
    long["whole"] = 2_000
    assert estimate.estimate(spec(runs=100), 2, begun)["notes"] == []


def test_a_browser_with_many_studies_does_not_keep_another_waiting(
    make_jobs: Callable[..., Jobs],
) -> None:
    jobs = make_jobs(0.2)
    mine = [jobs.submit(spec(), owner="me") for _ in range(ACTIVE_PER_OWNER)]
    yours = jobs.submit(spec(runs=1), owner="you")
    until = time.monotonic() + 20
    while jobs.snapshot(yours)["state"] == "queued" and time.monotonic() < until:
        time.sleep(0.01)
    seen = [jobs.snapshot(number) for number in mine]
    assert [one["state"] for one in seen].count("queued") == 1, "two of one browser's at a time"
    assert all(one["done_runs"] < one["total_runs"] for one in seen), "nobody waited for their end"
    assert ended(jobs, yours)[-1] == "done"
    last = next(one["id"] for one in seen if one["state"] == "queued")
    jobs.cancel(last, "me")
    assert ended(jobs, last)[-1] == "cancelled"
    running = [number for number in mine if number != last]
    assert all(jobs.snapshot(number)["state"] != "done" for number in running), (
        "a study that waits is cancelled at once"
    )


def test_the_queue_is_fair_and_shows_its_order(app: Flask) -> None:
    queue = FairQueue(at_once=2, owners_at_once=3)
    runs = {
        name: BatchRun(
            app.extensions[KEY].database,
            BatchRow(id=name, owner=name[0]),
            directory="",
            lock=io.StringIO(),
        )
        for name in ("a1", "a2", "a3", "a4", "b1", "b2", "c1", "d1")
    }
    for run in runs.values():
        queue.put(run)
    turns = ["a1", "b1", "c1", "d1", "a2", "b2", "a3", "a4"]
    assert [run.id for run in queue.waiting()] == turns
    assert queue.before(runs["a2"]) == 4
    started = [queue.get(), queue.get(), queue.get()]
    assert [run.id for run in started if run] == ["a1", "b1", "c1"], "two, and one of another"
    assert queue.before(runs["a1"]) == 0
    assert [run.id for run in queue.waiting()] == ["d1", "a2", "b2", "a3", "a4"]
    runs["a4"].stop.set()
    assert queue.get() is runs["a4"], "what was cancelled needs no place"
    for name in ("a4", "a1", "b1"):
        queue.ended(runs[name])
    assert [run.id for run in (queue.get(), queue.get()) if run] == ["a2", "b2"]
    for name in ("c1", "a2", "b2"):
        queue.ended(runs[name])
    queue.close()
    left = [queue.get() for _ in range(2)]
    assert [run.id for run in left if run] == ["a3", "d1"]
    assert queue.get() is None


def test_a_batch_from_before_a_metric_opens_and_grows(make_jobs: Callable[..., Jobs]) -> None:
    """Its rows and its cells lack the column; rows that are added have it."""
    jobs = make_jobs()
    number = jobs.submit(spec(runs=50))
    ended(jobs, number)
    directory = Path(jobs._root) / number
    for path in directory.glob("*.parquet"):
        pq.write_table(pq.read_table(path).drop_columns(["acked_lost"]), path)
    with jobs.database.writing() as session:
        for row in session.scalars(select(BatchCellRow).where(BatchCellRow.batch_id == number)):
            row.metrics = {name: one for name, one in row.metrics.items() if name != "acked_lost"}
    assert "acked_lost" not in {metric["name"] for metric in result(jobs, number)["metrics"]}
    jobs.add_runs(number, 30)
    assert ended(jobs, number)[-1] == "done"
    found = result(jobs, number)
    lost = next(metric for metric in found["metrics"] if metric["name"] == "acked_lost")
    new = [sum(row["verdict"] != "error" for row in play_chunk(
               {"scenario": SCENARIO.to_dict(), "profile": profile, "cell": 0, "first_seed": 50,
                "count": 30})) for profile in ("K39", "Z0102")]  # fmt: skip
    assert [cell["n"] for cell in lost["cells"]] == new, "of 80 runs"
    assert [cell["n"] + cell["errors"] for cell in found["cells"]] == [80, 80]
