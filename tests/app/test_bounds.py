"""What strangers may cost: every dear question has a bound, and says so when it is reached."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.admission.queue import Gate
from app.admission.rates import CpuAccounts
from app.batch.jobs import Jobs
from app.compare import pages
from app.core.config import Settings
from app.core.refusals import RequestError
from app.questions import comparing as ladders
from app.runs import replays as replays_module
from app.runs.replays import library_runs
from app.server.services import KEY, Services
from app.storage.row_limit import MIB, KeptRows
from app.workers.pool import Workers
from engine.replay import checkpoints
from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.app.conftest import SCENARIO, TOKEN, Socket, browser, post
from tests.app.test_batch_jobs import ended, spec

LONG = Run(find("S61"), "Z0102", 1, ("run 30m",))


# -- the door --------------------------------------------------------------------------------------


def test_the_door_lets_some_through_some_wait_and_the_rest_come_again() -> None:
    gate = Gate(1, 1, 5.0)
    inside, leave = threading.Event(), threading.Event()
    passed: list[str] = []

    def hold() -> None:
        with gate.turn():
            inside.set()
            leave.wait()

    def follow() -> None:
        with gate.turn():
            passed.append("the one who waited")

    first, second = threading.Thread(target=hold), threading.Thread(target=follow)
    first.start()
    inside.wait()
    second.start()
    while gate._here._value:
        pass
    with pytest.raises(RequestError, match="busy playing other runs"), gate.turn():
        passed.append("nobody")
    leave.set()
    first.join()
    second.join()
    assert passed == ["the one who waited"]
    with gate.turn():
        passed.append("and all is as before")


def test_long_tasks_let_short_ones_pass() -> None:
    gate = Gate(1, 1, 5.0, slice_s=0.0)
    order: list[str] = []

    def short() -> None:
        with gate.turn():
            order.append("short")

    other = threading.Thread(target=short)
    with gate.turn() as give_way:
        give_way()
        other.start()
        while not gate._line:
            pass
        give_way()
        order.append("long")
    other.join()
    assert order == ["short", "long"]
    with gate.turn():
        pass


def test_a_run_that_takes_too_much_of_the_processor_ends_in_one_sentence(
    make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    app = make_app(dataclasses.replace(settings, build_cpu_s=0.01))
    digest = app.extensions[KEY].replays.register(LONG)
    for lang, words in (("en", "run it at scale"), ("zh-Hans", "改用大规模运行")):
        answer = Socket(app, lang=lang).ask("open", {"run": digest})
        assert answer["code"] == "too_large" and words in answer["sentence"]


def test_waiting_for_a_turn_times_out() -> None:
    gate = Gate(1, 1, 0.01)
    with gate.turn(), pytest.raises(RequestError) as refused, gate.turn():
        pass
    assert (refused.value.code, refused.value.status) == ("slow_down", 429)
    assert refused.value.sentence("zh-Hans") == "服务器正忙于其他运行；请在 3000 ms 后再试。"
    with gate.turn():
        pass


def _dear(digest: str) -> list[Callable[[FlaskClient], Any]]:
    run = {"run": digest, "invariant": "I7"}
    return [
        lambda client: client.get("/s/S20/ladder"),
        lambda client: client.get(f"/r/{digest}/compare?with=K39"),
        lambda client: client.get(f"/r/{digest}/compare.json?with={digest}"),
        lambda client: post(client, "/api/scenarios/play", {"yaml": SCENARIO}),
        lambda client: post(client, "/api/scenarios/try", {"yaml": SCENARIO}),
        lambda client: post(client, "/api/batches/estimate", {"scenario": "S20", "runs": 1}),
        lambda client: post(client, "/api/shorten", run),
        lambda client: post(client, "/api/futures", run),
    ]


@pytest.mark.parametrize("number", range(8))
def test_requests_for_many_runs_share_one_gate(
    client: FlaskClient, services: Services, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services.jobs, "submit", lambda *_: "0")
    pages._rungs.cache_clear()
    ask = _dear(services.replays.register(Run(find("R20"), "Z0102")))[number]
    services.plays, services.workers = Gate(1, 0, 0.01), Workers(0, 0, 0)
    with services.plays.turn():
        answer = ask(client)
    assert answer.status_code == 429 and "busy playing other runs" in answer.text
    assert ask(client).status_code < 300, "and it opens again"


def test_a_ladder_plays_no_more_of_a_rung_than_it_says(
    client: FlaskClient, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladders, "COMPARED_MOST", 300)
    services.workers = Workers(0, 0, 0)
    own = find("S20").to_dict() | {"slug": "", "code": "", "title": "Long", "script": "advance 24h"}
    own |= {"fetching": "auto", "expect": {}}
    scenario = type(find("S20")).from_dict(own)
    rung = ladders.rung(scenario, "K39")
    assert 300 <= rung["total"] < 310
    assert rung["why"] == "The run passed 300 events."
    services.store.save_scenario(scenario, "")
    page = client.get(f"/s/{scenario.digest}/ladder?lang=zh").text
    assert "运行超过了" in page


# -- replays ---------------------------------------------------------------------------------------


def test_a_refused_question_leaves_no_replay_too_many(
    make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    app = make_app(dataclasses.replace(settings, live_runs=1))
    replays = app.extensions[KEY].replays
    for digest in list(library_runs())[:4]:
        with pytest.raises(RequestError), replays.using(digest):
            raise RequestError("impossible")
    assert len(replays._live) == 1


def test_a_run_that_others_keep_is_not_waited_for_for_ever(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays_module, "PATIENCE_S", 0.01)
    digest = services.replays.register(LONG)
    busy = pytest.raises(RequestError, match="busy")
    with services.replays._place(digest).lock, busy, services.replays.using(digest):
        pass


def test_far_seeks_take_a_turn_like_builds(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "MOST_CHECKPOINTS", 8)
    services.replays._workers = Workers(0, 0, 0)  # they have bounds of their own
    services.replays._builders = Gate(1, 0, 0.01)
    digest = services.replays.register(Run(find("S61"), "Z0102", 1, ("run 10m",)))
    with services.replays.using(digest) as replay:
        assert replay.steps(1, 8)
        far = replay._checkpoints[2].events - 1
        with services.replays._builders.turn():
            for ask in (lambda: replay.steps(far, 1), lambda: replay.possible(far)):
                with pytest.raises(RequestError, match="busy"):
                    ask()
        assert replay.steps(far, 1) and replay.possible(far)


@pytest.fixture
def cut(services: Services, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run that is longer than can be looked at."""
    made: Any = Replay.__init__
    monkeypatch.setattr(made, "__defaults__", (600, *made.__defaults__[1:]))
    services.replays._workers = Workers(0, 0, 0)  # they have defaults of their own
    return services.replays.register(LONG)


def test_a_long_run_opens_as_far_as_it_can_and_every_page_says_so(
    client: FlaskClient, app: Flask, cut: str
) -> None:
    opened = Socket(app).open(run=cut, step=590)
    assert not opened["facts"]["whole"] and 600 <= opened["facts"]["total"] < 610
    for path in (f"/r/{cut}?plain=1&step=600", f"/e/{cut}"):
        page = client.get(path).text
        assert "run it at scale" in page and f'href="/batch?run={cut}"' in page
    assert "大规模运行" in client.get(f"/r/{cut}?plain=1&lang=zh").text
    assert client.get(f"/batch?run={cut}").status_code == 200
    usual = next(iter(library_runs()))
    assert "run it at scale" not in client.get(f"/r/{usual}?plain=1").text


def test_a_move_at_the_end_of_what_is_shown_is_refused_in_both_languages(
    app: Flask, cut: str
) -> None:
    for lang, words in (("en", "run it at scale"), ("zh-Hans", "改用大规模运行")):
        socket = Socket(app, lang=lang)
        total = socket.open(run=cut)["facts"]["total"]
        refused = socket.ask("move", {"run": cut, "step": total, "text": "kill 1"})
        assert refused["code"] == "too_large" and words in refused["sentence"]
        assert socket.ask("move", {"run": cut, "step": 300, "text": "kill 1"})["ok"]


# -- accounts --------------------------------------------------------------------------------------


def test_an_overdrawn_account_waits_until_it_is_even() -> None:
    now = [0.0]
    accounts = CpuAccounts(500, 1000, most=2, clock=lambda: now[0])
    assert accounts.wait_ms("a") == 0
    accounts.charge("a", 2000)
    assert accounts.wait_ms("a") == 2002 and accounts.wait_ms("b") == 0
    now[0] = 2.5
    assert accounts.wait_ms("a") == 0


def test_every_question_is_charged_to_its_address(
    make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    app = make_app(dataclasses.replace(settings, cpu_burst_ms=1, cpu_ms_per_s=0.01))
    first, other = browser(app), {"REMOTE_ADDR": "192.0.2.7"}
    assert first.get("/s/S20").status_code == 200
    for ask in ("/s/S20/ladder", "/r/0123456789abcdef/steps.json", "/edit"):
        refused = first.get(ask)
        assert refused.status_code == 429 and int(refused.headers["Retry-After"]) > 60
        assert "share of the server's time" in refused.text.replace("&#39;", "'")
    assert Socket(app).ask("open", {"scenario": "S20"})["code"] == "slow_down"
    assert first.get("/health").status_code == 200, "which costs next to nothing"
    assert app.test_client().get("/s/S20", environ_base=other).status_code == 200


# -- batches ---------------------------------------------------------------------------------------


def test_many_browsers_of_one_address_do_not_fill_the_queue(
    make_jobs: Callable[..., Jobs], services: Services
) -> None:
    jobs = make_jobs(pace_s=0.2)
    most = services.settings.batches_per_address
    numbers = [jobs.submit(spec(), f"browser {i}", "192.0.2.1") for i in range(most)]
    with pytest.raises(RequestError, match=f"{most} batches are waiting"):
        jobs.submit(spec(), "one browser more", "192.0.2.1")
    numbers.append(jobs.submit(spec(), "somebody", "192.0.2.2"))
    for number in numbers:
        jobs.cancel(number, jobs.batch(number).owner)
    for number in numbers:
        ended(jobs, number)
    jobs.submit(spec(), "one browser more", "192.0.2.1")


def test_a_batch_counts_for_the_address_that_asks(
    app: Flask, make_jobs: Callable[..., Jobs]
) -> None:
    jobs = make_jobs(pace_s=0.2)
    post(browser(app), "/api/batches", {"scenario": "S61", "runs": 300})
    assert [job.address for job in jobs._jobs.values()] == ["127.0.0.1"]


def test_rows_are_kept_up_to_a_bound(
    make_app: Callable[[Settings], Flask], settings: Settings, make_jobs: Callable[..., Jobs]
) -> None:
    jobs = make_jobs()
    number = jobs.submit(spec())
    ended(jobs, number)
    jobs._kept._most = jobs._kept.bytes()
    for ask in (lambda: jobs.submit(spec()), lambda: jobs.add_runs(number, 10)):
        with pytest.raises(RequestError, match="HIGHWATER_ROWS_MIB") as refused:
            ask()
        assert "删除" in refused.value.sentence("zh-Hans")
    jobs.delete(number)
    ended(jobs, jobs.submit(spec()))


def test_only_what_changed_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "0000000.parquet").write_bytes(b"x" * 100)
    (tmp_path / "a.lock").touch()
    kept = KeptRows(str(tmp_path), MIB)
    assert kept.bytes() == 200
    looked: list[str] = []
    measured = KeptRows._of

    def counting(self: KeptRows, directory: Any) -> tuple[int, int]:
        before = self._known.get(directory.name)
        found = measured(self, directory)
        if found is not before:
            looked.append(directory.name)
        return found

    monkeypatch.setattr(KeptRows, "_of", counting)
    (tmp_path / "b" / "0000001.parquet").write_bytes(b"x" * 11)
    assert kept.bytes() == 211 and looked == ["b"]
    assert KeptRows("hdfs://elsewhere/batches", 0).bytes() == 0


def test_the_form_offers_only_the_scenarios_of_this_browser(
    client: FlaskClient, app: Flask, scenario: str
) -> None:
    assert scenario in client.get("/batch").text
    stranger = app.test_client().get("/batch").text
    assert scenario not in stranger and "second broker copy" not in stranger


def test_to_take_up_a_batch_costs_the_same_without_a_script(
    make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    app = make_app(dataclasses.replace(settings, saves_per_s=0.001, saves_burst=1))
    client = browser(app)
    assert client.post("/batch/0/resume", data={"csrf": TOKEN}).status_code == 404
    assert client.post("/batch/0/resume", data={"csrf": TOKEN}).status_code == 429
    assert client.post("/batch/0/cancel", data={"csrf": TOKEN}).status_code == 404


# -- cookies ---------------------------------------------------------------------------------------


def test_cookies_stay_on_https_where_the_proxy_says_so(
    make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    app = make_app(dataclasses.replace(settings, proxies=1))
    for proto, secure in (("https", True), ("http", False)):
        answer = app.test_client().get("/?lang=zh", headers={"X-Forwarded-Proto": proto})
        cookies = answer.headers.getlist("Set-Cookie")
        assert len(cookies) == 2
        for cookie in cookies:
            assert ("Secure" in cookie) == secure
            assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    plain = make_app(dataclasses.replace(settings, port=1)).test_client()
    spoofed = plain.get("/", headers={"X-Forwarded-Proto": "https"})
    assert "Secure" not in spoofed.headers["Set-Cookie"]
