"""One place knows what each address uses; faults are answered, told by /health, and pass."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.admission import client_disconnect
from app.admission import cpu_quota as accounts_module
from app.admission.cpu_quota import Accounts, CpuBudget, payer
from app.admission.queue import Gate
from app.core import clock
from app.core.config import Settings
from app.core.refusals import RequestError
from app.server.services import KEY, Services
from app.storage import database as database_module
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.app.conftest import SCENARIO, TOKEN, Socket, browser, post

LONG = Run(find("S61"), "Z0102", 1, ("run 30m",))


# -- addresses -------------------------------------------------------------------------------------


def test_an_ipv6_network_counts_as_one_address() -> None:
    assert payer("2001:db8:1:2::7") == payer("2001:db8:1:2:ffff::1") != payer("2001:db8:1:3::7")
    assert payer("::ffff:192.0.2.1") == payer("192.0.2.1") == "192.0.2.1"
    assert payer("") == "" and payer("a socket") == "a socket"


def test_requests_and_bytes_under_way_are_limited_by_address(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = Accounts(dataclasses.replace(settings, sockets_per_address=1))
    monkeypatch.setattr(accounts_module, "BODIES_BYTES", 100)
    with mine.under_way("2001:db8::1", 80):
        with (
            pytest.raises(RequestError, match="being answered already"),
            mine.under_way("2001:db8::2", 30),
        ):
            pass
        with mine.under_way("192.0.2.1", 100):
            assert mine.totals()["body_bytes"] == 180
    assert mine.totals()["requests"] == 0 and not mine._here and not mine._bytes
    assert mine.refused == {"slow_down.hands": 1}


def test_requests_of_one_address_beyond_its_hands_are_refused(
    app: Flask, services: Services, client: FlaskClient
) -> None:
    services.accounts._hands = 0
    refused = client.get("/s/S20")
    assert refused.status_code == 429 and refused.headers["Retry-After"] == "1"
    with client.get("/static/brand.svg") as free:
        assert free.status_code == 200
    assert client.get("/health").status_code == 200


def test_saved_bytes_a_day_are_limited_by_address_whatever_its_cookies(
    make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    app = make_app(dataclasses.replace(settings, saved_kib_per_day=1))
    statuses = []
    for number in range(8):
        sent = SCENARIO.replace("Does the", f"Does {number} the")
        statuses.append(post(browser(app), "/api/scenarios", {"yaml": sent}))
    refused = statuses[-1]
    assert statuses[0].status_code == 201 and refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 3_600 and "today" in refused.json["sentence"]
    again = post(
        browser(app), "/api/scenarios", {"yaml": SCENARIO.replace("Does the", "Does 0 the")}
    )
    assert again.status_code == 200, "what is there already costs nothing"


def test_all_that_is_saved_has_a_bound(
    make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    app = make_app(settings)
    store = app.extensions[KEY].store
    assert post(browser(app), "/api/scenarios", {"yaml": SCENARIO}).status_code == 201
    store._most_bytes = store.kept_bytes() + 10
    sent = SCENARIO.replace("Does the", "Does one more")
    full = post(browser(app), "/api/scenarios", {"yaml": sent})
    assert full.status_code == 507 and "HIGHWATER_SAVED_MIB" in full.json["sentence"]
    assert browser(app).get("/s/S20").status_code == 200


def test_a_busy_browser_leaves_half_to_others_of_its_address(settings: Settings) -> None:
    mine = Accounts(dataclasses.replace(settings, cpu_burst_ms=1_000, cpu_ms_per_s=0.001))
    mine.charge("192.0.2.1", 400, "greedy")
    mine.require_time("192.0.2.1", "greedy")
    mine.charge("192.0.2.1", 200, "greedy")
    with pytest.raises(RequestError, match="Others at your address"):
        mine.require_time("192.0.2.1", "greedy")
    for pupil in ("one", "two", "three"):
        mine.require_time("192.0.2.1", pupil)
        mine.charge("192.0.2.1", 100, pupil)
    for number in range(9):  # a browser with ever new cookies has no more than its address
        with contextlib.suppress(RequestError):
            mine.require_time("192.0.2.1", f"new {number}")
            mine.charge("192.0.2.1", 100, f"new {number}")
    assert 1_000 <= mine.totals()["cpu_ms"] <= 1_100
    with pytest.raises(RequestError, match="This address has used"):
        mine.require_time("192.0.2.1", "newest")
    assert mine.refused["slow_down.own"] == 1


def test_work_under_way_is_paid_for_as_it_goes_on(settings: Settings) -> None:
    """However much of it is begun at one moment: together it overdraws by no more than one piece
    may take, and by what was not looked at yet."""
    mine = Accounts(
        dataclasses.replace(settings, cpu_burst_ms=1_000, cpu_ms_per_s=0.001, build_cpu_s=1)
    )
    begun, ended = threading.Barrier(8), []

    def build() -> None:
        with contextlib.suppress(RequestError), mine.charged("192.0.2.1"):
            begun.wait(30)  # all have been let in by an account that has not been charged yet
            budget = CpuBudget(1)
            for _ in range(9):
                clock.spend(0.1)
                budget.check()
            ended.append(True)

    threads = [threading.Thread(target=build) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 2_000 <= mine.totals()["cpu_ms"] <= 2_000 + 8 * 120
    assert mine.refused["slow_down.cpu"] == 8 - len(ended) >= 5
    with pytest.raises(RequestError, match="This address has used"):
        mine.require_time("192.0.2.1")


def test_an_address_alone_ends_what_was_begun_with_time_left(settings: Settings) -> None:
    mine = Accounts(
        dataclasses.replace(settings, cpu_burst_ms=100, cpu_ms_per_s=0.001, build_cpu_s=1)
    )
    with mine.charged("192.0.2.1"):
        budget = CpuBudget(1)
        for _ in range(9):
            clock.spend(0.1)
            budget.check()
    assert mine.totals()["cpu_ms"] >= 900 and not mine.refused


# -- builds ----------------------------------------------------------------------------------------


def test_the_task_with_the_least_cpu_time_goes_first() -> None:
    gate = Gate(1, 3, 5.0, slice_s=0.0)
    order: list[str] = []

    def large() -> None:
        gate._enter(3.0, 5.0)
        order.append("large")
        gate._leave()

    def small() -> None:
        with gate.turn():
            order.append("small")

    threads = [threading.Thread(target=large), threading.Thread(target=small)]
    with gate.turn() as give_way:
        for number, thread in enumerate(threads, 1):
            thread.start()
            while len(gate._line) < number:
                time.sleep(0.001)
        give_way()
        order.append("here")
    for thread in threads:
        thread.join()
    assert order == ["small", "here", "large"] and gate.counts() == (0, 0)


def test_a_build_ends_when_its_client_hangs_up(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts_module, "LOOK_EVERY_S", 0.0)
    mine, theirs = socket.socketpair()
    digest = services.replays.register(LONG)
    with mine, client_disconnect.asking(lambda: client_disconnect.has_hung_up(mine)):
        theirs.send(b"x")
        assert not client_disconnect.is_gone(), "what was sent and not read is a sign of life"
        mine.recv(1)
        assert not client_disconnect.is_gone()
        theirs.close()
        place = services.replays._place(digest)
        with pytest.raises(RequestError, match="was cancelled"), services.replays.using(digest):
            pass
        assert place.replay is None and place.waiting_count == 0
        with place.waiting(), services.replays.using(digest) as replay:
            assert replay.total, "somebody else waits for the same run"
    assert services.replays.building() == (0, 0)


# -- metrics ---------------------------------------------------------------------------------------


def test_metrics_are_for_operators_only(
    make_app: Callable[[Settings], Flask], settings: Settings, client: FlaskClient
) -> None:
    client.get("/s/S20")
    told = client.get("/metrics")
    assert told.status_code == 200 and 'highwater_answers_total{status="200"} 1.0' in told.text
    for name in ("live_run_bytes", "cpu_seconds_total", "saved_bytes", "database_up 1.0"):
        assert f"highwater_{name}" in told.text
    stranger: Any = {"environ_base": {"REMOTE_ADDR": "192.0.2.7"}}
    assert client.get("/metrics", **stranger).status_code == 404
    assert client.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"}).status_code == 404
    named = browser(make_app(dataclasses.replace(settings, metrics_token="s3cret")))
    assert named.get("/metrics").status_code == 404
    given = {"Authorization": "Bearer s3cret"}
    assert named.get("/metrics", headers=given, **stranger).status_code == 200


# -- faults ----------------------------------------------------------------------------------------


def test_a_locked_database_is_told_and_passes(
    app: Flask, client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "BUSY_MS", 50)
    app.extensions[KEY].database.engine.dispose()
    other = sqlite3.connect(settings.instance / "highwater.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert post(client, "/api/scenarios", {"yaml": SCENARIO}).status_code == 503
    sick = client.get("/health")
    assert sick.status_code == 503 and sick.json["parts"]["instance"] == "ok"
    for path in ("/", "/s/S20", "/batch"):
        assert client.get(path).status_code == 200, path
    assert Socket(app).open(scenario="S20")["facts"]["total"]
    other.execute("ROLLBACK")
    other.close()
    assert client.get("/health").status_code == 200, "and nobody had to save anything"
    assert post(client, "/api/scenarios", {"yaml": SCENARIO}).status_code == 201


def test_without_its_tables_the_library_still_plays(app: Flask, client: FlaskClient) -> None:
    with app.extensions[KEY].database.engine.connect() as connection:
        for table in ("run", "scenario"):
            connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO {table}_gone")
        connection.commit()
    for path in ("/", "/s/S20", "/s/S20?plain=1"):
        assert client.get(path).status_code == 200, path
    opened = Socket(app).open(scenario="S20")
    assert not opened["facts"]["saved"]
    lost = client.get("/r/0123456789abcdef")
    assert lost.status_code == 503 and "database" in lost.text
    with app.extensions[KEY].database.engine.connect() as connection:
        for table in ("run", "scenario"):
            connection.exec_driver_sql(f"ALTER TABLE {table}_gone RENAME TO {table}")
        connection.commit()
    assert client.get("/r/0123456789abcdef").status_code == 404
    assert client.get("/health").json["ok"]


def test_a_full_disk_is_told_by_health(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.server.metrics.LEAST_FREE", 1 << 62)
    sick = client.get("/health")
    assert sick.status_code == 507 and "full" in sick.json["sentence"]
    assert client.get("/s/S20").status_code == 200


def test_two_servers_share_an_instance(
    make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    one, two = browser(make_app(settings)), browser(make_app(settings))
    saved = post(one, "/api/scenarios", {"yaml": SCENARIO}).json
    assert two.get(saved["url"]).status_code == 200
    assert post(two, "/api/scenarios", {"yaml": SCENARIO}).status_code == 200
    assert TOKEN, "one key signs the cookies of both"
