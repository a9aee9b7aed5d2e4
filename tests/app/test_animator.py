"""The socket: every question gets an answer, and every refusal a sentence."""

from __future__ import annotations

import json
import shlex
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.config import Settings
from app.live.channel import JsonPacket
from app.server.services import KEY, Services
from engine.replay.replay import Replay
from tests.app.conftest import SCENARIO, Socket, browser


def test_open_tells_the_facts_and_the_first_steps(socket: Socket, scenario: str) -> None:
    answer = socket.open(scenario=scenario)
    assert answer["first"] == 0
    assert [step["n"] for step in answer["steps"]][:2] == [0, 1]
    assert answer["facts"]["digest"] == answer["run"]
    assert answer["facts"]["profile"] == "K39"
    assert answer["facts"]["saved"] is False


def test_open_takes_a_profile_a_seed_and_a_step(socket: Socket, scenario: str) -> None:
    plain = socket.open(scenario=scenario)
    other = socket.open(scenario=scenario, profile="Z0102", seed=7, step=2)
    assert other["facts"]["profile"] == "Z0102"
    assert other["run"] != plain["run"]
    assert other["steps"][0]["n"] == other["first"] == 1
    beyond = socket.open(scenario=scenario, step=10_000)
    assert beyond["steps"][-1]["n"] == beyond["facts"]["total"]


def test_open_sends_only_what_the_client_does_not_have(socket: Socket, scenario: str) -> None:
    answer = socket.open(scenario=scenario, step=1, have=1)
    assert answer["first"] == 2
    assert answer["steps"][0]["n"] == 2


def test_a_move_in_the_past_makes_a_new_run(socket: Socket, scenario: str) -> None:
    opened = socket.open(scenario=scenario)
    moved = socket.ask("move", {"run": opened["run"], "step": 1, "text": "produce x1", "ahead": 4})
    assert moved["ok"], moved
    assert moved["run"] != opened["run"]
    assert moved["at"] == 2
    assert moved["steps"][0]["n"] == 2
    again = socket.ask("move", {"run": opened["run"], "step": 1, "text": "produce x1", "ahead": 4})
    assert again == moved


def test_play_and_seek_answer_with_steps(socket: Socket, scenario: str) -> None:
    opened = socket.open(scenario=scenario)
    total = opened["facts"]["total"]
    played = socket.ask("play", {"run": opened["run"], "step": 0, "count": 2})
    assert [step["n"] for step in played["steps"]] == [1, 2]
    at_end = socket.ask("play", {"run": opened["run"], "step": total, "count": 2})
    assert at_end["steps"] == []
    sought = socket.ask("seek", {"run": opened["run"], "step": total})
    assert [step["n"] for step in sought["steps"]] == [total - 2, total - 1, total]
    greedy = socket.ask("play", {"run": opened["run"], "step": 0, "count": 10**9})
    assert len(greedy["steps"]) <= 32


def test_possible_lists_moves(socket: Socket, scenario: str) -> None:
    opened = socket.open(scenario=scenario)
    answer = socket.ask("possible", {"run": opened["run"], "step": 1})
    assert {"text", "group", "enabled", "why"} <= set(answer["moves"][0])


@pytest.mark.parametrize(
    ("event", "data", "code"),
    [
        ("open", "no object", "invalid"),
        ("open", {}, "invalid"),
        ("open", {"run": "no-digest"}, "invalid"),
        ("open", {"run": "0123456789abcdef"}, "gone"),
        ("open", {"scenario": "no-such"}, "not_found"),
        ("open", {"scenario": "../../etc/passwd"}, "not_found"),
        ("open", {"text": "{}"}, "invalid"),
        ("open", {"text": 5}, "invalid"),
        ("open", {"text": "x" * 70_000}, "too_large"),
        ("move", {"run": "0123456789abcdef", "step": 0, "text": "settle"}, "gone"),
        ("play", {"step": 1}, "invalid"),
        ("seek", [1, 2], "invalid"),
        ("nonsense", {}, "invalid"),
    ],
)
def test_unanswerable_events_get_a_sentence(
    socket: Socket, event: str, data: Any, code: str
) -> None:
    answer = socket.ask(event, data)
    assert answer["ok"] is False
    assert answer["code"] == code, answer
    assert answer["sentence"].strip()
    assert "Traceback" not in answer["sentence"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"text": "conjure 1"}, "invalid"),
        ({"text": ""}, "invalid"),
        ({"text": "settle", "step": -1}, "invalid"),
        ({"text": "settle", "step": True}, "invalid"),
        ({"text": "settle", "step": 100_000}, "stale"),
        ({"text": "s" * 3_000}, "too_large"),
    ],
)
def test_a_bad_move_is_refused_and_nothing_is_lost(
    socket: Socket, scenario: str, data: dict[str, Any], code: str
) -> None:
    run = socket.open(scenario=scenario)["run"]
    answer = socket.ask("move", {"run": run, "step": 1, **data})
    assert (answer["ok"], answer["code"]) == (False, code), answer
    assert socket.ask("play", {"run": run, "step": 0, "count": 1})["ok"]


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (("kill 2",), "fetch 2"),
        (("kill 2",), "kill 2"),
        (("cut 1 2",), "cut 1 2"),
        ((), "deliver 1->2"),
        ((), "heal 1 2"),
        (("kill 1", "kill 2"), "produce m9 to 1"),
    ],
)
def test_a_move_that_is_impossible_says_why(
    socket: Socket, scenario: str, before: tuple[str, ...], text: str
) -> None:
    answer = socket.open(scenario=scenario)
    for move in before:
        step = answer["facts"]["total"]
        answer = socket.ask("move", {"run": answer["run"], "step": step, "text": move})
        assert answer["ok"], answer
    at = {"run": answer["run"], "step": answer["facts"]["total"]}
    refused = socket.ask("move", {**at, "text": text})
    assert (refused["ok"], refused["code"]) == (False, "impossible"), refused
    assert refused["sentence"].endswith(".")
    offered = {move["text"]: move for move in socket.ask("possible", at)["moves"]}
    if text in offered:
        assert offered[text]["why"] == refused["sentence"]
        assert offered[text]["enabled"] is False


def test_the_line_that_reproduces_a_failed_move_ends_with_that_move(
    socket: Socket, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = socket.open(scenario=scenario)["run"]

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Replay, "branch", fail)
    answer = socket.ask("move", {"run": run, "step": 1, "text": "produce x7"})
    assert answer["code"] == "engine"
    assert json.loads(shlex.split(answer["args"]["command"])[2])["moves"][-1] == "produce x7"


def test_malformed_json_is_returned_as_text_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert JsonPacket(data=["x", {1: {2}}]).encode() == '2["x",{"1":"{2}"}]'
    assert "which is no JSON" in caplog.text


def test_an_unknown_profile_is_refused(socket: Socket, scenario: str) -> None:
    answer = socket.ask("open", {"scenario": scenario, "profile": "K99"})
    assert answer["ok"] is False
    assert "K99" in answer["sentence"]


def test_refusals_are_worded_in_the_language_of_the_page(app: Flask) -> None:
    answer = Socket(app, lang="zh").ask("open", {"scenario": "no-such"})
    assert answer["sentence"] == "没有场景 no-such。"


def test_too_many_moves_are_slowed_down_then_cut_off(socket: Socket, settings: Settings) -> None:
    for _ in range(settings.moves_burst):
        assert socket.ask("seek", {})["code"] == "invalid"
    refused = []
    while socket.connected and len(refused) < 50:
        answer = socket.ask("seek", {})
        if isinstance(answer, dict) and answer["code"] == "slow_down":
            assert answer["args"]["ms"] > 0
            refused.append(answer)
    assert len(refused) == 3
    assert not socket.connected


def test_opens_have_a_limit_of_their_own(socket: Socket, settings: Settings) -> None:
    answers = [socket.ask("open", {}) for _ in range(settings.opens_burst + 1)]
    assert [answer["code"] for answer in answers[:-1]] == ["invalid"] * settings.opens_burst
    assert answers[-1]["code"] == "slow_down"


def test_sockets_are_limited_by_address(app: Flask, settings: Settings) -> None:
    client = browser(app)
    sockets = [Socket(app, client) for _ in range(settings.sockets_per_address)]
    assert all(one.connected for one in sockets)
    assert not Socket(app, client).connected
    sockets[0].raw.disconnect()
    assert Socket(app, client).connected


def test_a_defect_of_the_engine_is_told_with_the_line_that_reproduces_it(
    socket: Socket, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = socket.open(scenario=scenario)["run"]

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Replay, "possible", fail)
    answer = socket.ask("possible", {"run": run, "step": 0})
    assert answer["code"] == "engine"
    assert "highwater run" in answer["args"]["command"]
    assert socket.ask("play", {"run": run, "step": 0})["ok"]


def test_a_long_replay_does_not_block_others(
    app: Flask, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = Socket(app), Socket(app)
    run = quick.open(scenario=scenario)["run"]
    going, let_go = threading.Event(), threading.Event()
    original = Replay.__init__

    def held(self: Replay, wanted: Any, **more: Any) -> None:
        if wanted.seed == 99:
            going.set()
            assert let_go.wait(10)
        original(self, wanted, **more)

    monkeypatch.setattr(Replay, "__init__", held)
    answers: list[Any] = []
    thread = threading.Thread(
        target=lambda: answers.append(slow.ask("open", {"scenario": scenario, "seed": 99}))
    )
    thread.start()
    assert going.wait(10)
    try:
        assert quick.ask("play", {"run": run, "step": 0, "count": 2})["ok"]
        assert quick.open(scenario=scenario, seed=5)["ok"]
    finally:
        let_go.set()
        thread.join(10)
    assert answers[0]["ok"]


def test_forgotten_replays_are_played_again(
    settings: Settings, make_app: Callable[[Settings], Flask]
) -> None:
    app = make_app(replace(settings, live_runs=2))
    client = browser(app)
    socket = Socket(app, client)
    from tests.app.conftest import post

    digest = post(client, "/api/scenarios", {"yaml": SCENARIO}).json["digest"]
    runs = [socket.open(scenario=digest, seed=seed) for seed in range(5)]
    services: Services = app.extensions[KEY]
    assert len(services.replays._live) == 2
    for run in runs:
        assert socket.ask("play", {"run": run["run"], "step": 0, "count": 1})["ok"]


def test_answers_come_in_the_order_of_the_questions(
    services: Services, client: FlaskClient
) -> None:
    assert services.socketio.server.async_handlers is False


def test_the_dashboard_of_a_step_is_told_only_when_asked_for(socket: Socket, scenario: str) -> None:
    opened = socket.open(scenario=scenario)
    assert "metrics" not in opened["steps"][0]["view"]
    answer = socket.ask("metrics", {"run": opened["run"], "step": 1})
    assert answer["ok"] and answer["step"] == 1
    shown = answer["metrics"]
    assert shown["nodes"][-1] == "K"
    assert {"UnderReplicatedPartitions", "MaxLag"} <= {row["key"] for row in shown["rows"]}
    for wrong in ({"run": opened["run"], "step": -1}, {"run": opened["run"], "step": 10**9}):
        assert not socket.ask("metrics", wrong)["ok"]
    assert socket.ask("metrics", {"run": "0" * 16, "step": 0})["code"] == "gone"


def test_why_tells_the_guards_and_what_would_help(socket: Socket, scenario: str) -> None:
    run = socket.open(scenario=scenario)["run"]
    answer = socket.ask("why", {"run": run, "step": 2, "subject": "hw"})
    assert answer["ok"] and answer["step"] == 2 and not answer["holds"], answer
    false = [one for one in answer["guards"] if not one["ok"]]
    assert false[0]["rule"] == "H-2" and false[0]["cure"]["move"] == "fetch 2 x2"
    assert socket.ask("move", {"run": run, "step": 2, "text": "fetch 2 x2"})["ok"]


@pytest.mark.parametrize(
    ("subject", "code"),
    [("", "invalid"), ("weather", "invalid"), ("isr 9", "unknown"), ("x" * 441, "too_large")],
)
def test_why_refuses_what_is_no_subject(
    socket: Socket, scenario: str, subject: str, code: str
) -> None:
    run = socket.open(scenario=scenario)["run"]
    answer = socket.ask("why", {"run": run, "step": 1, "subject": subject})
    assert not answer["ok"] and answer["code"] in (code, "invalid"), answer
    assert answer["sentence"].endswith("."), answer
    assert not socket.ask("why", {"run": run, "step": 999, "subject": "hw"})["ok"]
