"""What is done with failing runs and ended batches: shorten, futures, more runs, delete."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.batch.failed_run import LEAD_STEPS
from app.batch.jobs import Jobs
from app.batch.result import result
from app.batch.runners.rows import canonical, chunks_on_disk, read_chunks
from app.batch.spec import make_spec
from app.batch.wire import BatchResult
from app.core.refusals import RequestError
from app.server.services import KEY, Services
from engine.replay.replay import Replay
from engine.scenarios import file
from engine.sim.run import Run
from engine.study.batch import run_chunk
from engine.study.futures import places_most
from tests.app.conftest import TOKEN, browser, post
from tests.app.test_batch_jobs import ended, spec
from tests.wire import held


@pytest.fixture
def jobs(make_jobs: Callable[..., Jobs]) -> Jobs:
    """Batches of the real engine, in this process."""
    return make_jobs(play=run_chunk)


@pytest.fixture
def failures(jobs: Jobs) -> tuple[str, list[dict[str, Any]]]:
    number = jobs.submit(make_spec(file.find("S61"), 12, ["Z0102"]))
    ended(jobs, number)
    rows = [one for one in result(jobs, number)["failures"]["rows"] if one["invariant"] == "I7"]
    assert rows
    return number, rows


def press(client: FlaskClient, path: str, **fields: Any) -> Any:
    return client.post(path, data={"csrf": TOKEN, **fields})


def opened(app: Flask, location: str) -> tuple[Replay, int]:
    """The replay and the step that an address of the animator shows."""
    where = urlsplit(location)
    services: Services = app.extensions[KEY]
    digest = where.path.removeprefix("/r/")
    return Replay(services.replays.run(digest)), int(parse_qs(where.query)["step"][0])


def test_a_failure_is_shortened_and_opens_before_it_happens(
    app: Flask, failures: tuple[str, list[dict[str, Any]]]
) -> None:
    number, rows = failures
    client = browser(app)
    answer = press(client, f"{rows[0]['url']}/shorten")
    assert answer.status_code == 303
    replay, step = opened(app, answer.location)
    broken = [at for name, at, _ in replay.end.broken if name == "I7"]
    assert broken == [step + 1]
    assert replay.total < rows[0]["step"] / 2
    assert client.get(answer.location).status_code == 200
    assert client.post(f"{rows[0]['url']}/shorten").status_code == 403, "not without our token"
    assert press(client, f"/batch/{number}/failure/999/shorten").status_code == 404


def test_a_run_is_shortened_by_its_digest(app: Flask, services: Services, jobs: Jobs) -> None:
    client = browser(app)
    digest = services.replays.register(Run(file.find("R20"), "Z0102"))
    found = post(client, "/api/shorten", {"run": digest, "invariant": "I7"}).json
    assert found["after"] < found["before"]
    wrong = post(client, "/api/shorten", {"run": digest, "invariant": "I1"})
    assert wrong.status_code == 409
    assert "does not break I1" in wrong.text


@pytest.mark.night
def test_futures_say_from_where_on_a_run_was_lost(
    app: Flask,
    jobs: Jobs,
    failures: tuple[str, list[dict[str, Any]]],
) -> None:
    _, rows = failures
    client = browser(app)
    answer = press(client, f"{rows[0]['url']}/futures", runs=3)
    assert answer.status_code == 303
    number = answer.location.rsplit("/", 1)[1]
    ended(jobs, number)
    found = result(jobs, number)
    held(found, BatchResult)
    steps = found["futures"]["steps"]
    assert found["done_runs"] == found["total_runs"] == 3 * len(steps)
    assert 8 < len(steps) <= places_most(rows[0]["step"] - 1)
    looked = [one["step"] for one in steps]
    assert looked == sorted(looked) == [int(cell["values"]["step"]) for cell in found["cells"]]
    assert found["futures"]["broken"] == rows[0]["step"]
    assert steps[-1]["share"] == 1.0, "one step before, nothing can be saved"
    assert steps[0]["share"] < 1.0
    assert 1 < found["futures"]["point"] < rows[0]["step"]
    assert found["futures"]["held"] == found["futures"]["point"] - 1, "no step lies between"
    page = client.get(f"/batch/{number}").text
    assert "most futures end like this: “" in page and 'id="futures"' in page
    replay, step = opened(app, client.get(found["futures"]["url"]).location)
    assert (step, replay.run.seed) == (found["futures"]["point"], rows[0]["seed"])
    # Every failing future is a run like any other.
    future = found["failures"]["rows"][0]
    lost, before = opened(app, client.get(future["url"]).location)
    assert before == max(0, future["step"] - LEAD_STEPS)
    assert any(at == future["step"] for _, at, _ in lost.end.broken)


def counts(cell: dict[str, Any]) -> tuple[Any, ...]:
    """What was counted in a cell, without the ends of intervals."""
    hits = {name: one["hits"] for name, one in cell["broken"].items()}
    return cell["profile"], cell["n"], cell["errors"], cell["violating"]["hits"], hits


def test_more_runs_add_to_what_is_there(make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs()
    number = jobs.submit(spec(runs=90))
    ended(jobs, number)
    jobs.add_runs(number, 60)
    ended(jobs, number)
    grown = result(jobs, number)
    assert grown["done_runs"] == grown["total_runs"] == 300
    rows = list(read_chunks(f"{jobs._root}/{number}", chunks_on_disk(f"{jobs._root}/{number}")))
    assert sorted(row["seed"] for row in rows if row["profile"] == "K39") == list(range(150))
    whole = jobs.submit(spec(runs=150))
    ended(jobs, whole)
    other = list(read_chunks(f"{jobs._root}/{whole}", chunks_on_disk(f"{jobs._root}/{whole}")))
    assert canonical(rows) == canonical(other), "grown or run at once: the same rows"
    at_once = result(jobs, whole)["cells"]
    assert [counts(cell) for cell in at_once] == [counts(cell) for cell in grown["cells"]]
    # Of a study that may go on, an interval holds however often one looks: it is the wider one.
    for once, often in zip(at_once, grown["cells"], strict=True):
        assert often["violating"]["low"] <= once["violating"]["low"]
        assert often["violating"]["high"] > once["violating"]["high"]


def test_an_ended_batch_is_deleted_by_its_owner_only(
    app: Flask, make_jobs: Callable[..., Jobs]
) -> None:
    jobs = make_jobs()
    mine = browser(app)
    answer = post(mine, "/api/batches", {"scenario": "S61", "runs": 50})
    number = answer.json["id"]
    ended(jobs, number)
    with pytest.raises(RequestError, match="Only the browser or the key that started"):
        jobs.delete(number, "someone else")
    assert press(mine, f"/batch/{number}/delete").status_code == 303
    assert mine.get(f"/batch/{number}").status_code == 404
    assert not Path(jobs._root, number).exists()
    assert not re.search(number, mine.get("/batch").text)


def test_a_running_batch_is_neither_grown_nor_deleted(make_jobs: Callable[..., Jobs]) -> None:
    jobs = make_jobs(pace_s=0.05)
    number = jobs.submit(spec())
    for act in (lambda: jobs.delete(number), lambda: jobs.add_runs(number, 10)):
        with pytest.raises(RequestError, match="still runs"):
            act()
    jobs.cancel(number)
    ended(jobs, number)


@pytest.mark.parametrize("runs", ["0", "-5", "ten", "1000000000", ""])
def test_the_number_of_further_runs_is_checked(
    app: Flask, make_jobs: Callable[..., Jobs], runs: str
) -> None:
    jobs = make_jobs()
    client = browser(app)
    number = post(client, "/api/batches", {"scenario": "S61", "runs": 20}).json["id"]
    ended(jobs, number)
    assert press(client, f"/batch/{number}/more", runs=runs).status_code == 400
    assert result(jobs, number)["runs"] == 20
