"""Worker processes: within limits, small work first, ended when no client waits."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.admission import client_disconnect
from app.admission.cpu_quota import Accounts
from app.admission.queue import Shares
from app.core import clock
from app.core.config import Settings
from app.core.refusals import RequestError
from app.questions.comparing import compared
from app.questions.names import parse_run
from app.runs import build_tasks, replays
from app.server.services import Services
from app.workers import pool
from app.workers.absence import NoWorkerError
from app.workers.pool import Workers
from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.app import hands
from tests.app.conftest import Socket
from tests.waiting import until

LARGE = Run(find("crash-storm"), "K39", 7)


@pytest.fixture
def workers() -> Iterator[Workers]:
    made_here = Workers(1, 512, 0.1)
    yield made_here
    made_here.close()


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_work_is_done_by_another_process_and_charged_to_the_client(workers: Workers) -> None:
    first = workers.do(hands.number)
    assert first != os.getpid() and workers.do(hands.number) == first
    before = clock.processor()
    workers.do(hands.works, 0.1)
    assert clock.processor() - before > 0.08
    assert workers.memory_bytes() > 1 << 20


def test_errors_of_a_worker_are_raised_here(workers: Workers) -> None:
    with pytest.raises(KeyError, match="what is not there") as raised:
        workers.do(hands.errs)
    assert "hands.py" in raised.value.__notes__[0]
    with pytest.raises(RequestError, match="more than 6000 steps"):
        long = Run(find("S61"), "Z0102", 1, ("run 5m",))
        Workers.do(workers, compared, long, long)


@pytest.mark.parametrize(
    ("work", "much", "words"),
    [
        (hands.works, 60, "seconds of a processor"),
        (hands.eats, 600, "more than 512 MiB of memory"),
    ],
)
def test_a_task_over_its_limit_ends_alone(
    workers: Workers, work: Callable[[int], object], much: int, words: str
) -> None:
    with pytest.raises(RequestError, match=words) as refused:
        workers.do(work, much)
    assert refused.value.status == 413
    assert workers.do(hands.same, "after it") == "after it"


def test_abandoned_work_is_ended(workers: Workers, tmp_path: Path) -> None:
    place = tmp_path / "number"

    def gone() -> bool:
        return place.exists() and place.read_text() != ""

    with client_disconnect.asking(gone):
        with pytest.raises(RequestError, match="was cancelled"):
            workers.do(hands.waits, 600, str(place))
        until(lambda: not is_there(int(place.read_text())))
        assert workers.do(hands.waits, 0.5, others=lambda: 1) is None, "somebody else does"


def test_small_work_passes_large_work_which_stands_still() -> None:
    workers, ended = Workers(1, 512, 10.0), []

    def large() -> None:
        workers.do(hands.works, 1.0)
        ended.append("large")

    other = threading.Thread(target=large)
    try:
        workers.do(hands.same, 0)  # so that a process is there
        other.start()
        until(lambda: workers.counts()[0] == 1)
        time.sleep(0.1)
        workers.do(hands.works, 0.01)
        ended.append("small")
        other.join()
        assert ended == ["small", "large"]
    finally:
        workers.close()


def test_one_address_leaves_some_to_the_others(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of four processes, an address holds two; another one still gets a place."""
    monkeypatch.setattr(pool, "PATIENCE_S", 0.5)
    workers, accounts = Workers(1, 512, 10.0), Accounts(settings)
    try:
        with contextlib.ExitStack() as held:
            for _ in range(2):
                held.enter_context(workers._shares.one("192.0.2.1", 0.5))
            with (
                accounts.charged("192.0.2.1"),
                pytest.raises(RequestError, match="busy") as refused,
            ):
                workers.do(hands.same, "too much")
            assert refused.value.code == "slow_down"
            with accounts.charged("192.0.2.2"):
                assert workers.do(hands.same, "another's") == "another's"
        with accounts.charged("192.0.2.1"):
            assert workers.do(hands.same, "his again") == "his again"
        assert not workers._shares._held, "an address without work is forgotten"
    finally:
        workers.close()


def test_without_worker_processes_work_is_done_by_the_caller() -> None:
    with pytest.raises(NoWorkerError):
        Workers(0, 0, 0).do(hands.number)
    closed = Workers(1, 512, 1.0)
    closed.close()
    with pytest.raises(RequestError, match="busy"):
        closed.do(hands.number)


def test_five_addresses_together_take_eight_places() -> None:
    shares, held = Shares(8), []
    with contextlib.ExitStack() as places:
        for number in range(1, 7):
            with contextlib.suppress(RequestError):
                while True:
                    places.enter_context(shares.one(f"192.0.2.{number}", 0))
                    held.append(number)
    assert held == [1, 1, 1, 2, 2, 3, 4, 5]


def test_they_end_with_the_pool(tmp_path: Path) -> None:
    workers, place = Workers(2, 512, 10.0), tmp_path / "number"
    idle = workers.do(hands.number)
    refusals: list[str] = []

    def ask() -> None:
        try:
            workers.do(hands.waits, 600, str(place))
        except RequestError as refusal:
            refusals.append(refusal.code)

    other = threading.Thread(target=ask)
    other.start()
    until(lambda: place.exists() and place.read_text() != "")
    workers.close()
    other.join()
    until(lambda: not is_there(idle) and not is_there(int(place.read_text())))
    assert refusals == ["busy"]


# -- runs ------------------------------------------------------------------------------------------


def test_a_large_run_is_played_elsewhere_and_shown_as_if_it_were_not(
    app: Flask, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    do = services.workers.do

    def noted(work: Callable[..., Replay], *args: object, **more: Callable[[], int]) -> Replay:
        asked.append(work)
        return do(work, *args, **more)

    monkeypatch.setattr(services.workers, "do", noted)
    socket = Socket(app)
    opened = socket.open(text=LARGE.text(), step=900)
    here = Replay(LARGE)
    assert asked == [parse_run, build_tasks.replay]
    assert opened["facts"]["outcome"] == here.outcome
    assert opened["steps"][0] == here.steps(899, 1)[0]
    for code, profile in (("S20", "Z0102"), ("R20", "K39")):
        socket.open(scenario=code, profile=profile)
    assert asked == [parse_run, build_tasks.replay], "the library's are played here"


def test_the_beginning_of_a_long_run_is_shown_before_its_end(
    app: Flask, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    do = services.workers.do

    def noted(work: Callable[..., Replay], *args: object, **more: Callable[[], int]) -> Replay:
        asked.append(work)
        return do(work, *args, **more)

    monkeypatch.setattr(services.workers, "do", noted)
    monkeypatch.setattr(replays, "EARLY_S", 0.01)
    here = Replay(LARGE)
    socket = Socket(app)
    opened = socket.open(text=LARGE.text(), early=True)
    facts, run = opened["facts"], opened["run"]
    assert facts["unfinished"] and 0 < facts["total"] < here.total
    assert opened["steps"] == here.steps(0, len(opened["steps"]))
    seen = socket.ask("play", {"run": run, "step": 20, "count": 4})["steps"]
    assert seen == here.steps(21, 4)
    last = facts["total"] - 1
    branch = socket.ask("possible", {"run": run, "step": last})
    assert branch["ok"] and asked == [parse_run], "none of this waits for the end"
    beyond = socket.ask("seek", {"run": run, "step": here.total})
    assert beyond["steps"][-1] == here.steps(here.total, 1)[0]
    assert asked == [parse_run, build_tasks.replay]
    known = app.test_client().get(f"/r/{run}/facts.json").get_json()
    assert not known["facts"]["unfinished"] and known["facts"]["outcome"] == here.outcome
    assert known["steps"] == [] and len(asked) == 2
    assert socket.open(run=run, early=True)["facts"] == known["facts"]


def test_a_short_run_is_shown_whole_at_once(app: Flask) -> None:
    run = Run(find("S20"), "Z0102", 0, ("produce m1", "settle"))
    facts = Socket(app).open(text=run.text(), early=True)["facts"]
    assert not facts["unfinished"] and facts["outcome"] == Replay(run).outcome


def test_a_run_that_cannot_be_played_on_is_shown_up_to_there(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "EARLY_S", 0.01)
    run = Run(LARGE.scenario, "K39", 7, ("run 60s", "heal 1 2"))
    socket = Socket(app)
    opened = socket.open(text=run.text(), early=True)
    assert opened["facts"]["unfinished"] and opened["run"] == run.digest
    known = app.test_client().get(f"/r/{run.digest}/facts.json").get_json()
    assert known["run"] == Run(run.scenario, "K39", 7, ("run 60s",)).digest
    assert known["facts"]["stops"] and not known["facts"]["unfinished"]
