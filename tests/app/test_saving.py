"""Saving and sharing: what was saved is there in the next process, and never changes."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event

from app.core.config import Settings
from app.server.services import KEY, Services
from app.storage import database
from tests.app.conftest import SCENARIO, TOKEN, Socket, browser, post
from tests.conftest import ROOT


def test_a_saved_scenario_has_a_link_and_saving_twice_changes_nothing(
    client: FlaskClient, scenario: str
) -> None:
    again = post(client, "/api/scenarios", {"yaml": SCENARIO})
    assert again.status_code == 200
    assert again.json["digest"] == scenario
    assert again.json["url"] == f"/s/{scenario}"


def test_a_scenario_may_be_sent_as_yaml_text_as_json_and_as_an_object(
    client: FlaskClient, scenario: str, services: Services
) -> None:
    found = services.store.scenario(scenario)
    assert found is not None
    as_object = post(client, "/api/scenarios", {"scenario": found.to_dict()})
    assert as_object.json["digest"] == scenario
    as_text = client.post(
        "/api/scenarios",
        data=SCENARIO,
        content_type="application/yaml",
        headers={"X-CSRF-Token": TOKEN},
    )
    assert as_text.json["digest"] == scenario


def test_malformed_yaml_is_refused_with_its_place(client: FlaskClient) -> None:
    answer = post(client, "/api/scenarios", {"yaml": "title: [unclosed\nbrokers: 2\n"})
    assert answer.status_code == 400
    assert answer.json["code"] == "invalid"
    assert answer.json["args"]["where"].startswith("scenario:")
    assert answer.json["sentence"].startswith("scenario:")


def test_an_unknown_profile_is_refused(client: FlaskClient) -> None:
    text = SCENARIO.replace("[K39, Z0102]", "[K39, Z0999]")
    answer = post(client, "/api/scenarios", {"yaml": text})
    assert answer.status_code == 400
    assert "Z0999" in answer.json["sentence"]


def test_five_megabytes_get_one_sentence(client: FlaskClient) -> None:
    answer = post(client, "/api/scenarios", {"yaml": "# " + "x" * 5_000_000})
    assert answer.status_code == 413
    assert answer.json["sentence"] == "That is too large: at most 262144 bytes are accepted."


def test_a_scenario_just_over_the_bound_is_refused(client: FlaskClient) -> None:
    answer = post(client, "/api/scenarios", {"yaml": SCENARIO + "#" * 65_536})
    assert answer.status_code == 413
    assert answer.json["code"] == "too_large"


def test_nothing_is_stored_without_the_token(client: FlaskClient, services: Services) -> None:
    for headers in ({}, {"X-CSRF-Token": "forged"}):
        answer = client.post("/api/scenarios", json={"yaml": SCENARIO}, headers=headers)
        assert answer.status_code == 403
        assert answer.json["code"] == "forbidden"
    assert services.store.scenarios() == []


def test_a_body_that_is_no_json_object_is_refused(client: FlaskClient) -> None:
    for body in (b"{", b"[]", b"null", b'"text"', b"\xff"):
        answer = client.post(
            "/api/runs",
            data=body,
            content_type="application/json",
            headers={"X-CSRF-Token": TOKEN},
        )
        assert answer.status_code == 400, body
        assert answer.json["code"] == "invalid"


def test_saving_too_often_is_slowed_down(
    make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    client = browser(make_app(replace(settings, saves_per_s=0.001)))
    for _ in range(settings.saves_burst):
        assert post(client, "/api/scenarios", {"yaml": SCENARIO}).status_code in (200, 201)
    answer = post(client, "/api/scenarios", {"yaml": SCENARIO})
    assert answer.status_code == 429
    assert answer.json["args"]["ms"] > 0


def test_a_branch_that_was_saved_opens_after_a_restart(
    app: Flask,
    client: FlaskClient,
    socket: Socket,
    scenario: str,
    make_app: Callable[[Settings], Flask],
    settings: Settings,
) -> None:
    opened = socket.open(scenario=scenario)
    moved = socket.ask("move", {"run": opened["run"], "step": 1, "text": "produce x1"})
    assert moved["ok"], moved
    saved = post(client, "/api/runs", {"run": moved["run"]})
    assert saved.status_code == 201
    assert saved.json == {"ok": True, "digest": moved["run"], "url": f"/r/{moved['run']}"}
    assert post(client, "/api/runs", {"run": moved["run"]}).status_code == 200

    restarted = make_app(settings)
    again = Socket(restarted).open(run=moved["run"])
    assert again["facts"]["saved"] is True
    assert again["facts"]["moves"] == moved["facts"]["moves"]
    assert "replayed_with" not in again["facts"]


def test_an_unsaved_branch_is_gone_after_a_restart_and_comes_back_from_its_text(
    socket: Socket, scenario: str, make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    opened = socket.open(scenario=scenario)
    moved = socket.ask("move", {"run": opened["run"], "step": 1, "text": "produce x1"})
    restarted = Socket(make_app(settings))
    gone = restarted.ask("open", {"run": moved["run"]})
    assert gone["code"] == "gone"
    back = restarted.open(text=moved["text"])
    assert back["run"] == moved["run"]


def test_a_killed_process_loses_nothing_that_was_saved(
    settings: Settings, make_app: Callable[[Settings], Flask]
) -> None:
    script = """
import json, os, signal, sys
from app import create_app
from app.core import config
from tests.app.conftest import SCENARIO, browser, post
app = create_app(config.load({}, instance=sys.argv[1]))
print(json.dumps(post(browser(app), "/api/scenarios", {"yaml": SCENARIO}).json), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run(
        [sys.executable, "-c", script, str(settings.instance)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    digest = json.loads(killed.stdout)["digest"]
    assert Socket(make_app(settings)).open(scenario=digest)["ok"]


def test_a_run_saved_by_another_engine_says_so(
    app: Flask, services: Services, client: FlaskClient, socket: Socket, scenario: str
) -> None:
    from sqlalchemy import update

    from app.storage.models import RunRow

    opened = socket.open(scenario=scenario)
    post(client, "/api/runs", {"run": opened["run"]})
    with services.database.writing() as session:
        session.execute(update(RunRow).values(engine_version=0))
    facts = socket.open(run=opened["run"])["facts"]
    assert facts["replayed_with"]["saved"] == 0
    assert facts["replayed_with"]["same"] is True
    with services.database.writing() as session:
        session.execute(update(RunRow).values(outcome="something else"))
    assert socket.open(run=opened["run"])["facts"]["replayed_with"]["same"] is False


def test_a_run_that_can_be_played_no_further_opens_as_far_as_it_can(
    client: FlaskClient, socket: Socket, scenario: str
) -> None:
    """As one saved by an older engine, which let broker 1 start what runs already."""
    run = json.loads(socket.open(scenario=scenario)["text"])
    good = ["produce m1", "fetch 2"]
    text = json.dumps({**run, "moves": [*good, "restart 1", "settle"]})
    opened = socket.open(text=text, step=1)
    assert opened["facts"]["stops"].startswith("Move 3 (“restart 1”): ")
    assert json.loads(opened["text"])["moves"] == good
    assert [one["n"] for one in opened["steps"]][:2] == [0, 1]
    again = socket.open(run=opened["run"])
    assert again["facts"]["total"] == opened["facts"]["total"] and "stops" not in again["facts"]


def test_the_digest_of_a_run_is_the_same_in_every_process(
    app: Flask, socket: Socket, scenario: str
) -> None:
    text = socket.ask(
        "move", {"run": socket.open(scenario=scenario)["run"], "step": 0, "text": "produce x1"}
    )
    script = (
        "import sys; from engine.sim.run import Run; print(Run.from_text(sys.stdin.read()).digest)"
    )
    for seed in ("0", "1"):
        told = subprocess.run(
            [sys.executable, "-c", script],
            input=text["text"],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        assert told.stdout.strip() == text["run"], told.stderr


def test_the_owner_of_a_scenario_is_stored_as_a_hash(services: Services, scenario: str) -> None:
    (row,) = services.store.scenarios()
    assert len(row.owner) == 64
    assert "token" not in row.owner


def test_another_browser_may_open_what_was_saved(app: Flask, scenario: str) -> None:
    assert Socket(app, browser(app)).open(scenario=scenario)["ok"]


def test_a_database_that_is_locked_is_told_so_by_every_answer(
    make_app: Callable[[Settings], Flask], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_MS", 20)
    app = make_app(settings)
    there = browser(app)
    other = sqlite3.connect(settings.instance / "highwater.db")
    try:
        other.execute("BEGIN IMMEDIATE")
        locked = post(there, "/api/scenarios", {"yaml": SCENARIO})
        assert (locked.status_code, locked.json["code"]) == (503, "busy")
        assert "database" in locked.json["sentence"]
        other.rollback()
        assert post(there, "/api/scenarios", {"yaml": SCENARIO}).status_code == 201
    finally:
        other.close()


def test_a_database_that_is_full_is_told_so(app: Flask, client: FlaskClient) -> None:
    engine = app.extensions[KEY].database.engine
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
    event.listen(
        engine,
        "begin",
        lambda one: one.exec_driver_sql(f"PRAGMA max_page_count = {pages}"),
    )
    long = SCENARIO + "teaches: " + "very " * 100 + "\n"
    codes = set()
    for number in range(40):
        sent = long.replace("Does the", f"Does {number} the")
        codes.add(post(client, "/api/scenarios", {"yaml": sent}).status_code)
    assert codes <= {201, 429, 507} and 507 in codes


def test_health_says_when_the_database_cannot_be_read(app: Flask, client: FlaskClient) -> None:
    assert client.get("/health").status_code == 200
    app.extensions[KEY].database.engine.dispose()
    with app.extensions[KEY].database.engine.connect() as connection:
        connection.exec_driver_sql("DROP TABLE scenario")
        connection.commit()
    sick = client.get("/health")
    assert sick.status_code == 503 and "database" in sick.json["sentence"]
