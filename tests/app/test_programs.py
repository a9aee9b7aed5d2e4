"""`/api/play`: what programs in other languages get, without a session."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

import highwater as hw
from engine.scenarios import file


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
