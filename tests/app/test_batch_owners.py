"""Whose a batch is: the browser's that started it, and the process's that computes it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from flask import Flask

from app.batch import records
from app.batch.jobs import Jobs
from app.core.config import Settings
from app.core.refusals import RequestError
from app.server.services import KEY
from app.storage.models import BatchRow
from tests.app.conftest import TOKEN, Socket, browser
from tests.app.test_batch_jobs import ended, spec


def test_a_batch_of_the_command_line_belongs_to_no_browser(
    app: Flask, make_jobs: Callable[..., Jobs]
) -> None:
    jobs = make_jobs()
    number = jobs.submit(spec(runs=20))
    ended(jobs, number)
    visitor = browser(app)
    page = visitor.get(f"/batch/{number}").text
    for what in ("delete", "more", "title", "resume", "cancel"):
        assert f"/batch/{number}/{what}" not in page
        answer = visitor.post(f"/batch/{number}/{what}", data={"csrf": TOKEN, "runs": "1"})
        assert answer.status_code == 403, what
    answer = visitor.delete(f"/api/batches/{number}", headers={"X-CSRF-Token": TOKEN})
    assert answer.status_code == 403
    jobs.rename(number, "Mine")
    jobs.delete(number)


def test_a_batch_of_a_dead_process_is_noticed_at_the_next_view(
    app: Flask, make_jobs: Callable[..., Jobs]
) -> None:
    jobs = make_jobs()
    number = jobs.submit(spec(runs=20))
    ended(jobs, number)
    socket = Socket(app, browser(app))
    socket.ask("watch", {"batch": number})
    # As a process leaves it that was killed: active, with a lock that no process holds.
    records.update(jobs.database, number, state="running", finished=None)
    assert jobs.cancel(number)["state"] == "interrupted"
    heard = [one["args"][0]["state"] for one in socket.raw.get_received() if one["name"] == "batch"]
    assert heard[-1] == "interrupted"
    assert jobs.cancel(number)["state"] == "interrupted"
    records.update(jobs.database, number, state="summarising")
    assert jobs.snapshot(number)["state"] == "interrupted"
    jobs.resume(number)
    assert ended(jobs, number)[-1] == "done"


def test_a_batch_that_another_process_computes_is_left_to_it(
    make_jobs: Callable[..., Jobs], make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    jobs = make_jobs(0.05)
    number = jobs.submit(spec())
    while jobs.snapshot(number)["state"] != "running":
        time.sleep(0.01)
    other: Jobs = make_app(settings).extensions[KEY].jobs
    assert other.snapshot(number)["state"] == "running"
    with pytest.raises(RequestError, match="runs in another process of this server"):
        other.cancel(number)
    with pytest.raises(RequestError, match="still runs"):
        other.delete(number)
    jobs.cancel(number)
    assert ended(jobs, number)[-1] == "cancelled"
    assert other.snapshot(number)["state"] == "cancelled"
    records.interrupt(jobs.database, number)
    assert other.snapshot(number)["state"] == "cancelled", "it had ended before"


def test_a_batch_of_another_instance_is_not_judged(make_jobs: Callable[..., Jobs]) -> None:
    """One database may serve two machines; each sees only its own locks."""
    jobs = make_jobs()
    number = jobs.submit(spec(runs=20))
    ended(jobs, number)
    jobs._locks.forget(number)
    records.update(jobs.database, number, state="running")
    assert jobs.snapshot(number)["state"] == "running"


def test_a_cancel_while_a_batch_ends_is_not_refused(
    make_jobs: Callable[..., Jobs], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = make_jobs()
    number = jobs.submit(spec(runs=20))
    run, read = jobs._jobs[number], jobs.batch

    def read_before_the_end(asked: str) -> BatchRow:
        row = read(asked)
        assert run.ended.wait(20)
        return row

    monkeypatch.setattr(jobs, "batch", read_before_the_end)
    assert jobs.cancel(number)["state"] == "done"


def test_a_batch_that_was_resumed_meanwhile_is_left_alone(
    make_jobs: Callable[..., Jobs], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = make_jobs()
    number = jobs.submit(spec(runs=20))
    ended(jobs, number)
    before = jobs.batch(number)
    jobs.add_runs(number, 10)
    ended(jobs, number)
    monkeypatch.setattr(jobs, "_ended", lambda _number, _owner: before)
    with pytest.raises(RequestError, match="still runs"):
        jobs.add_runs(number, 5)
    assert jobs.batch(number).parts == [20, 10]
    jobs.delete(number)


def test_a_title_set_while_a_batch_runs_is_kept(make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs(0.02)
    number = jobs.submit(spec())
    jobs.rename(number, "Mine")
    ended(jobs, number)
    assert jobs.batch(number).title == "Mine"
