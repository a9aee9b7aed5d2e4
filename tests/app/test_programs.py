"""`/api/play`: what programs in other languages get, without a session."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from flask import Flask
from werkzeug.serving import make_server

import highwater as hw
from app.batch.jobs import Jobs
from engine.scenarios import file
from tests.conftest import ROOT

PAGE = ROOT / "docs/how-to/api.md"
TSC = f"{ROOT}/node_modules/.bin/tsc play.mts"
with_go = [
    pytest.mark.night,  # a minute of Go
    pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed"),
]


def played(app: Flask, **asked: Any) -> dict[str, Any]:
    answer = app.test_client().post("/api/play", json=asked)
    assert answer.status_code == 200, answer.text
    return dict(answer.json)


def test_a_loss_is_played_as_python_plays_it(app: Flask) -> None:
    told = played(app, scenario="R20", release="0.10.2.2", first=135, count=5)
    run = hw.run("R20", kafka="0.10.2.2")
    assert (told["run"], told["lost"], told["verdict"]) == (run.digest, ["m1"], run.verdict)
    assert [step["number"] for step in told["steps"]] == [135, 136, 137, 138, 139]
    for step, own in zip(told["steps"], run[135:140], strict=True):
        assert tuple(step["said"]) == own.said and step["move"] == own.move
    assert told["broken"][0] == vars(run.broken[0])
    assert app.test_client().get(told["url"]).status_code == 200


def test_moves_and_yaml_are_the_callers_own(app: Flask) -> None:
    told = played(app, scenario="S60", moves=["produce a to 1 acks=all", "settle"], count=0)
    assert told["steps"] == [] and told["verdict"] == "Nothing was at stake yet."
    text = hw.run("S20").export("yaml")
    assert played(app, yaml=text)["title"] == file.find("S20").title


def test_scenarios_releases_and_moves_are_listed(app: Flask) -> None:
    told = app.test_client().get("/api/play").json
    assert {"R20", "S60"} <= {one["code"] for one in told["scenarios"]}
    assert told["releases"] == hw.versions() and told["moves"] == hw.moves()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"scenario": "nothing"}, "There is no scenario nothing"),
        ({"scenario": "R20", "release": "9.9"}, "9.9"),
        ({"scenario": "R20", "moves": ["explode 1"]}, "explode"),
        ({"scenario": "R20", "moves": "kill 1"}, "moves is missing"),
        ({"scenario": "R20", "moves": ["kill 1"] * 201}, "moves is missing"),
        ({"yaml": "a: ["}, "scenario:"),
        ({"yaml": "x" * 300_000}, "at most"),
        ({}, "scenario is missing"),
    ],
)
def test_bad_input_is_one_sentence(app: Flask, asked: dict[str, Any], said: str) -> None:
    answer = app.test_client().post("/api/play", json=asked)
    assert 400 <= answer.status_code < 500 and said in answer.json["sentence"], answer.json


def test_why_and_compare_say_what_python_says(app: Flask) -> None:
    client, asked = app.test_client(), {"scenario": "R20", "release": "0.10.2.2"}
    run = hw.run("R20", kafka="0.10.2.2")
    told = client.post("/api/why", json={**asked, "step": 137, "subject": "isr 2"}).json
    own = run.why(137, "isr 2")
    assert (told["about"], told["happens"]) == (own.about, own.happens)
    assert [tuple(guard.values()) for guard in told["guards"]] == list(own.guards)
    compared = client.post("/api/compare", json={**asked, "other": "4.1"}).json
    assert "\n".join(compared["said"]) == str(run.compare("4.1"))
    assert (compared["lost"], compared["other_lost"], compared["at"]) == (["m1"], [], [2, 1])
    same = client.post("/api/compare", json={"scenario": "R20", "other": "0.10.2.2"}).json
    assert same["at"] == []
    beyond = client.post("/api/why", json={**asked, "step": 999, "subject": "hw"})
    assert beyond.status_code == 400 and "no step 999" in beyond.json["sentence"]


def test_futures_and_incidents_are_those_of_python(app: Flask) -> None:
    client, asked = app.test_client(), {"scenario": "S20", "release": "0.10.2.2"}
    told = client.post("/api/explore", json={**asked, "step": 30, "budgets": {"crashes": 2}}).json
    own = hw.explore(hw.run("S20", kafka="0.10.2.2"), 30, states=1_000, crashes=2)
    assert (told["complete"], told["said"]) == (own.complete, list(own.lines))
    loss = told["found"]["I7"]
    assert played(app, **{**asked, "moves": loss["moves"]})["lost"] == own.found["I7"].lost
    assert client.get(loss["url"].partition("#")[0]).status_code == 200
    line = "[2026-01-05 10:00:00,000] INFO [Partition orders-0 broker=1] Shrinking ISR"
    text = f"{line} from 1,2,3 to 1. Leader: (highWatermark: 5, endOffset: 9)."
    told = client.post("/api/incident", json={"text": text}).json
    assert (told["partition"], told["verdict"]) == ("orders-0", list(hw.incident(text).verdict))
    assert told["events"][0]["said"] == hw.incident(text).events[0][2]


@pytest.mark.parametrize(
    ("path", "asked", "said"),
    [
        ("explore", {"budgets": {"crash": 1}}, "no budget crash; there are: crashes"),
        ("explore", {"budgets": {"crashes": 4}}, "crashes"),
        ("explore", {"budgets": 2}, "budgets"),
        ("explore", {"never": "I99"}, "I99"),
        ("explore", {"step": 9_999}, "9999"),
        ("explore", {"states": 3_001}, "states"),
        ("incident", {"text": "nothing of Kafka"}, "not a log"),
        ("incident", {"text": "x", "profile": "K39"}, "no field profile here; the fields are: pa"),
        ("play", {"relase": "4.1"}, "no field relase here; the fields are: count, first"),
    ],
)
def test_questions_that_cannot_be_answered(
    app: Flask, path: str, asked: dict[str, Any], said: str
) -> None:
    named = {} if path == "incident" else {"scenario": "S20"}
    answer = app.test_client().post(f"/api/{path}", json={**named, **asked})
    assert answer.status_code in (400, 409) and said in answer.json["sentence"], answer.json


def test_pages_add_their_language_and_edition_to_any_query(app: Flask) -> None:
    for query in ("registry?v=0123456789ab", "cards/K39?v=0123456789ab", "search?q=isr&lang=zh"):
        assert app.test_client().get(f"/api/{query}").status_code == 200


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("search?q=isr&limit=abc", "limit"),
        ("search?q=isr&limit=41", "limit"),
        ("search?q=isr&kind=nope", "kind is one of: scenario, "),
        ("search?q=isr&page=2", "no field page here; the fields are: kind, limit, q"),
        ("batches?after=zzz", "after"),
        ("batches?limit=0", "limit"),
        ("lens.json?nope=1", "no field nope"),
    ],
)
def test_queries_are_read_strictly(app: Flask, query: str, said: str) -> None:
    answer = app.test_client().get(f"/api/{query}")
    assert answer.status_code == 400 and said in answer.json["sentence"], answer.json


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_a_program_owns_its_studies_by_a_key(app: Flask, jobs: Jobs) -> None:
    client, asked = app.test_client(), {"scenario": "S74", "runs": 5}
    begun = client.post("/api/batches", json=asked)
    assert begun.status_code == 201 and "Set-Cookie" not in begun.headers
    key, first = begun.json["key"], begun.json["id"]
    more = [client.post("/api/batches", json=asked, headers=bearer(key)).json for _ in range(2)]
    assert {one["key"] for one in more} == {key}
    for number in (first, *(one["id"] for one in more)):
        jobs.wait(number, lambda _: None)

    page = client.get("/api/batches?limit=2", headers=bearer(key)).json
    last = client.get(f"/api/batches?limit=2&after={page['next']}", headers=bearer(key)).json
    listed = [one["id"] for one in page["studies"] + last["studies"]]
    assert last["next"] is None and sorted(listed) == sorted([first, *(one["id"] for one in more)])
    assert client.get("/api/batches").json == {"ok": True, "studies": [], "next": None}

    another = client.post("/api/batches", json=asked).json["key"]
    for headers in ({}, bearer(another)):
        refused = client.post(f"/api/batches/{first}/more", json={"runs": 5}, headers=headers)
        assert refused.status_code == 403 and "the key" in refused.json["sentence"]
        assert client.delete(f"/api/batches/{first}", headers=headers).status_code == 403
    renamed = client.post(
        f"/api/batches/{first}/title", json={"title": "Mine"}, headers=bearer(key)
    )
    assert renamed.json["title"] == "Mine"
    over = client.post(f"/api/batches/{first}/cancel", headers=bearer(key))
    assert over.status_code == 409 and "ended already" in over.json["sentence"]
    assert client.delete(f"/api/batches/{first}", headers=bearer(key)).status_code == 200
    guessed = client.get("/api/batches", headers=bearer("a" * 31))
    assert guessed.status_code == 403 and "no key of a study" in guessed.json["sentence"]


def test_a_key_is_nothing_to_a_page(app: Flask, jobs: Jobs) -> None:
    """A visitor's cookie, or a page of another site, cannot use a key."""
    client = app.test_client()
    begun = client.post("/api/batches", json={"scenario": "S74", "runs": 5}).json
    cancel = f"/api/batches/{begun['id']}/cancel"
    foreign = {**bearer(begun["key"]), "Origin": "https://evil.example"}
    assert client.post(cancel, headers=foreign).status_code == 403
    client.set_cookie("highwater", "of a visitor")
    assert client.post(cancel, headers=bearer(begun["key"])).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 201),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Referer": "https://evil.example/"}, 403),
        ({"Content-Type": "text/plain"}, 403),
    ],
)
def test_a_program_saves_without_a_token(app: Flask, headers: dict[str, str], status: int) -> None:
    """A request that a browser's page could send for its visitor still needs the token."""
    text = json.dumps({"yaml": hw.run("S20").export("yaml")})
    client, sent = app.test_client(), {"Content-Type": "application/json", **headers}
    answer = client.post("/api/scenarios", data=text, headers=sent)
    assert answer.status_code == status, answer.text
    if status == 403:
        from_page = {"Origin", "Sec-Fetch-Site", "Referer"} & headers.keys()
        said = "reload the page" if from_page else "without cookies"
        assert said in answer.json["sentence"]
    client.set_cookie("highwater", "of a visitor")
    assert client.post("/api/scenarios", data=text, headers=sent).status_code == 403


def test_no_other_site_may_read_and_pages_keep_their_token(app: Flask) -> None:
    client = app.test_client()
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for answer in (
        client.options("/api/play", headers=asked),
        client.get("/api/play", headers=asked),
    ):
        assert not any(name.startswith("Access-Control") for name, _ in answer.headers)
    assert client.post("/batch/engine/build", json={}).status_code == 403


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """Serve the application; yields its host and port."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("language", "file", "command"),
    [
        ("python", "play.py", f"{sys.executable} play.py"),
        ("typescript", "play.mts", f"{TSC} --target es2022 --module nodenext && node play.mjs"),
        pytest.param("go", "play.go", "go run play.go", marks=with_go),
    ],
)
def test_programs_of_the_page_play_a_loss(
    app: Flask, tmp_path: Path, language: str, file: str, command: str
) -> None:
    (program,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    with serving(app) as address:
        (tmp_path / file).write_text(program.replace("localhost:8000", address))
        done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    run = hw.run("R20", kafka="0.10.2.2")
    assert "m1" in done.stdout and run.verdict in done.stdout, done
    assert done.stdout.splitlines()[-1] == run[137].said[0]
