"""What a disk, a clock or a person may do to a server that runs: nothing is lost by it."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from itsdangerous import TimestampSigner
from sqlalchemy import event

from app.batch import records
from app.batch.jobs import Jobs
from app.batch.runners.local import LocalRunner
from app.batch.runners.plan import BatchPlan, PlanTally
from app.batch.runners.rows import chunks_on_disk, read_chunks
from app.batch.runners.tables import RunnerError
from app.batch.spec import make_spec
from app.core import clock
from app.core.config import SettingError
from app.core.refusals import RequestError
from app.server.services import KEY
from app.storage.database import Database
from engine.scenarios.scenario import Scenario
from tests.app.conftest import SCENARIO, Socket, browser, post
from tests.batch_runner import play_chunk
from tests.bench.kills import Life, Person, workers
from tests.bench.server import ServerWire

RUNS = 300
SCENARIO_OF_ROWS = Scenario.from_dict({"title": "Three brokers", "profiles": ["K39"]})


def finish(jobs: Jobs, number: str) -> str:
    jobs.wait(number, lambda _told: None)
    return jobs.batch(number).state


def seeds(jobs: Jobs, number: str) -> list[int]:
    directory = jobs.directory(number)
    return sorted(row["seed"] for row in read_chunks(directory, chunks_on_disk(directory)))


def first_file(jobs: Jobs, number: str) -> Path:
    """With all chunks, as they were put together."""
    return next(Path(jobs.directory(number)).glob("*.parquet"))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def flip(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 3] ^= 0xFF
    path.write_bytes(whole)


@pytest.mark.parametrize("harm", [Path.unlink, cut, flip])
def test_rows_that_are_damaged_are_played_again(jobs: Jobs, harm: Callable[[Path], None]) -> None:
    jobs.runner.trouble["summarise"] = "Spark could not summarise the batch: no disk."
    number = jobs.submit(make_spec(SCENARIO_OF_ROWS, RUNS))
    assert finish(jobs, number) == "failed"
    assert len(chunks_on_disk(jobs.directory(number))) > 1
    for _ in ("failed", "done"):
        harm(first_file(jobs, number))
        jobs.resume(number)
        assert finish(jobs, number) == "done" and seeds(jobs, number) == list(range(RUNS))


@pytest.mark.parametrize("harm", [Path.unlink, cut])
def test_a_batch_whose_rows_went_meanwhile_is_not_done(
    jobs: Jobs, harm: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    summarise = jobs.runner.summarise

    def harmed(*asked: object) -> object:
        harm(first_file(jobs, number))
        monkeypatch.undo()
        return summarise(*asked)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(jobs.runner, "summarise", harmed)
        number = jobs.submit(make_spec(SCENARIO_OF_ROWS, RUNS))
        assert finish(jobs, number) == "failed"
    assert jobs.batch(number).message.endswith(
        "are gone or damaged: Run the rest plays them again."
    )
    jobs.resume(number)
    assert finish(jobs, number) == "done" and seeds(jobs, number) == list(range(RUNS))


@pytest.mark.parametrize("years", [-1, 0.001, 12])
def test_a_clock_that_jumps_takes_nobodys_things(app: Flask, years: float) -> None:
    first = app.test_client()
    found = re.search(r'name="csrf" value="([^"]+)"', first.get("/batch").text)
    assert found
    token = found[1]
    with pytest.MonkeyPatch.context() as wrong:
        wrong.setattr(clock, "wall", lambda: time.time() + years * 365 * 86_400)
        wrong.setattr(TimestampSigner, "get_timestamp", lambda _: int(clock.wall()))
        saved = first.post(
            "/api/scenarios", json={"yaml": SCENARIO}, headers={"X-CSRF-Token": token}
        )
        assert saved.status_code == 201, saved.text
        other = app.test_client()
        assert other.get("/batch").status_code == 200
        headers = {"X-CSRF-Token": token}
        refused = other.post("/api/scenarios", json={"yaml": SCENARIO}, headers=headers)
        assert refused.status_code == 403, "it has a cookie of its own"
    again = first.post("/api/scenarios", json={"yaml": SCENARIO}, headers={"X-CSRF-Token": token})
    assert again.status_code == 200, "and it is still the same browser"


# -- a disk that takes nothing, while the server runs ----------------------------------------------


@contextlib.contextmanager
def read_only(app: Flask) -> Iterator[None]:
    """The database takes nothing, nor does the directory of rows, not even from root."""
    lines = ["PRAGMA query_only = ON"]
    event.listen(
        app.extensions[KEY].database.engine,
        "checkout",
        lambda connection, *_: connection.execute(lines[0]).close(),
    )
    rows = app.extensions[KEY].settings.instance / "batches"
    rows.rename(rows.with_name("aside"))
    rows.touch()
    try:
        yield
    finally:
        lines[0] = "PRAGMA query_only = OFF"
        rows.unlink()
        rows.with_name("aside").rename(rows)


def test_a_database_and_a_directory_that_become_read_only(app: Flask) -> None:
    client = browser(app)
    leader, pupil = Socket(app, client), Socket(app)
    run = leader.open(scenario="S20")["run"]
    room = leader.ask("lead", {"run": run, "step": 1})["room"]
    study = {"scenario": "S20", "runs": 20, "profiles": ["K39"]}
    assert post(client, "/api/scenarios", {"yaml": SCENARIO}).status_code == 201
    with read_only(app):
        for path, body in (
            ("/api/scenarios", {"yaml": SCENARIO.replace("second", "other")}),
            ("/api/runs", {"run": run}),
            ("/api/batches", study),
        ):
            refused = post(client, path, body)
            assert refused.status_code in (503, 507), (path, refused.text)
            assert refused.json["sentence"].endswith("."), path
        assert client.get("/health").status_code in (503, 507)
        for path in ("/s/S20", "/", "/batch", f"/r/{run}", "/s/S20/ladder"):
            assert client.get(path).status_code == 200, path
        assert pupil.open(scenario="R20", profile="Z0102")["steps"]
        assert leader.ask("move", {"run": run, "step": 5, "text": "kill A"})["ok"]
        assert leader.ask("lead", {"room": room, "run": run, "step": 7})["ok"]
        assert pupil.ask("join", {"room": room})["step"] == 7
    assert post(client, "/api/runs", {"run": run}).status_code == 201
    assert client.get("/health").status_code == 200
    assert post(client, "/api/batches", study).status_code == 201


def test_a_server_whose_disk_takes_nothing_plays_on_and_mends(tmp_path: Path) -> None:
    me, life = Person(), Life(tmp_path / "instance")
    (worker,) = workers(life.process.pid)
    usual = resource.prlimit(worker, resource.RLIMIT_FSIZE)
    try:
        kept = me.save(life.port, "before")
        assert kept[0] == 201
        resource.prlimit(worker, resource.RLIMIT_FSIZE, (0, usual[1]))
        refused = me.ask(life.port, "POST", "/api/scenarios", {"yaml": SCENARIO})
        assert refused[0] in (503, 507) and refused[1]["sentence"].endswith("."), refused
        assert me.ask(life.port, "GET", "/health")[0] in (503, 507)
        assert me.ask(life.port, "GET", f"/s/{kept[1]}")[0] == 200
        with me.wire(life.port) as leader, ServerWire(life.port) as pupil:
            run = leader.ask("open", {"scenario": "S20"})["run"]
            assert leader.ask("play", {"run": run, "step": 0, "count": 8})["steps"]
            room = leader.ask("lead", {"run": run, "step": 3})["room"]
            assert pupil.ask("join", {"room": room})["step"] == 3
        resource.prlimit(worker, resource.RLIMIT_FSIZE, usual)
        assert me.save(life.port, "after")[0] == 201
        assert me.ask(life.port, "GET", "/health")[0] == 200
        assert workers(life.process.pid) == [worker]
    finally:
        life.stop()


def kill_first(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    """Kill the process that plays the first chunk, once, as the system does without memory."""
    mark = Path(os.environ["HIGHWATER_TEST_KILLED"])
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return play_chunk(chunk)


def kill_each(_chunk: dict[str, Any]) -> list[dict[str, Any]]:
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def test_chunks_of_a_killed_process_are_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIGHWATER_TEST_KILLED", str(tmp_path / "killed"))
    plan = BatchPlan((SCENARIO_OF_ROWS.to_dict(),), ["K39"], 20, 1, 5, ("acked",))
    told: list[list[PlanTally]] = []
    assert LocalRunner(2).run(
        plan, str(tmp_path / "rows"), on_done=told.append, run_chunk=kill_first
    )
    assert (tmp_path / "killed").exists()
    assert sorted(one.number for fresh in told for one in fresh) == [*range(plan.total_chunks)]
    with pytest.raises(RunnerError, match="killed 3 times: this machine may have too little"):
        LocalRunner(1).run(plan, str(tmp_path / "others"), run_chunk=kill_each)


def test_a_batch_whose_end_cannot_be_stored_says_that_the_disk_is_full(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = jobs.submit(make_spec(SCENARIO_OF_ROWS, RUNS))
    full = RequestError("full", "instance.full")

    def refuse(*_: object, **__: object) -> None:
        raise full

    with monkeypatch.context() as patch:
        patch.setattr(records, "update", refuse)
        patch.setattr(records, "interrupt", refuse)
        jobs.wait(number, lambda _told: None)
        told = jobs.snapshot(number)
        assert told["state"] == "interrupted" and told["message"] == str(full)
    assert jobs.batch(number).state == "interrupted"
    jobs.resume(number)
    assert finish(jobs, number) == "done" and seeds(jobs, number) == list(range(RUNS))


def test_a_database_with_zeroed_pages_is_refused_in_one_sentence(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'highwater.db'}")
    database.migrate()
    database.close()
    path = tmp_path / "highwater.db"
    whole = path.read_bytes()
    path.write_bytes(whole[: 2 * 4096] + bytes(len(whole) - 2 * 4096))
    with pytest.raises(SettingError, match="malformed"):
        Database(f"sqlite:///{path}").migrate()
