"""The editor: what is wrong stands at its place, what happens is told, and nothing is unbounded."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.config import Settings
from app.editor.pages import BEGINNINGS, example
from engine.checks.catalogue import VIOLABLE
from engine.moves.moves import parse
from engine.moves.verbs import VERBS
from engine.scenarios.file import find, load_text
from tests.app.conftest import Socket, browser, post
from tests.conftest import sample

pytestmark = pytest.mark.quick


def check(client: FlaskClient, **sent: Any) -> Any:
    return post(client, "/api/scenarios/check", sent).json


def boot(page: str) -> Any:
    found = re.search(r'id="boot">(.*?)</script>', page, re.S)
    assert found
    return json.loads(found[1])


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("title: a\nscrpt: b\n", 2, 1, "did you mean script"),
        ("title: a\nbrokers: many\n", 2, 10, "brokers"),
        ("title: a\nscript: |\n  settle\n  fech 2\n", 4, 3, "fech"),
        ("title: a\nconfigs: {min.insync.replicas: x}\n", 2, 32, "min.insync.replicas"),
        ("title: [\n", 2, 1, "not YAML"),
        ("", 1, 1, "empty"),
    ],
)
def test_errors_have_a_line_a_column_and_a_sentence(
    client: FlaskClient, text: str, line: int, column: int, words: str
) -> None:
    (problem,) = check(client, yaml=text)["problems"]
    assert (problem["line"], problem["column"]) == (line, column)
    assert words in problem["sentence"]


def test_every_bad_line_of_a_script_is_told_at_once(client: FlaskClient) -> None:
    answer = check(client, yaml="title: a\nscript: |\n  fech 2\n  settle\n  kill 9\n")
    assert [one["script"] for one in answer["problems"]] == [1, 3]
    assert answer["scenario"]["script"].startswith("fech")


def test_text_and_form_are_the_same_value(client: FlaskClient) -> None:
    text = boot(client.get("/edit/S20").text)["yaml"]
    said = check(client, yaml=text)
    assert said["problems"] == []
    back = check(client, scenario=said["scenario"])
    assert back["yaml"] == text
    assert load_text(text).to_dict() == {**find("S20").to_dict(), "slug": "", "code": ""}


def test_a_form_that_is_not_right_yet_is_written_and_pointed_at(client: FlaskClient) -> None:
    data = find("S01").to_dict() | {"difficulty": "hard"}
    answer = check(client, scenario=data)
    (problem,) = answer["problems"]
    assert answer["yaml"].split("\n")[problem["line"] - 1].startswith("difficulty: ")
    assert answer["scenario"] is None


def test_outcomes_are_shown_beside_promises(client: FlaskClient) -> None:
    text = boot(client.get("/edit/R20").text)["yaml"]
    told = post(client, "/api/scenarios/play", {"yaml": text}).json["profiles"]
    assert [one["profile"] for one in told] == list(find("R20").profiles)
    assert told[0]["verdict"] == "violates I6 I7 I10" and told[0]["complaints"] == []
    assert told[-1]["final"] == "P{3 4 7 [2,3,1]}"
    wrong = post(client, "/api/scenarios/play", {"yaml": text.replace("violates I6 ", "violates ")})
    assert wrong.json["profiles"][0]["complaints"]


def test_trying_plays_up_to_the_line_that_cannot_be_played(client: FlaskClient) -> None:
    text = "title: a\nscript: |\n  produce m0\n  expect waiting m0\n  restart 1\n  settle\n"
    tried = post(client, "/api/scenarios/try", {"yaml": text}).json
    assert tried["problem"]["script"] == 3
    assert tried["facts"]["moves"] == ["produce m0"]
    assert tried["steps"][0]["n"] == 0 and len(tried["steps"]) == tried["facts"]["total"] + 1
    whole = post(client, "/api/scenarios/try", {"yaml": text.replace("  restart 1\n", "")}).json
    assert whole["problem"] is None
    assert client.get(f"/r/{whole['run']}/steps.json").json["ok"]


def test_a_topic_that_the_script_deletes_is_tried_and_promised(client: FlaskClient) -> None:
    text = "title: a\nscript: |\n  delete_topic t\n"
    assert post(client, "/api/scenarios/try", {"yaml": text}).json["problem"] is None
    (told,) = post(client, "/api/scenarios/play", {"yaml": text}).json["profiles"]
    assert told["final"] == "deleted t-0"
    for final, kept in (("deleted t-0", True), ("deleting t-0", False)):
        expect = f"expect:\n  K39: {{verdict: holds, final: {final}}}\n"
        (one,) = post(client, "/api/scenarios/play", {"yaml": text + expect}).json["profiles"]
        assert (one["complaints"] == []) is kept, one


def test_a_run_becomes_a_scenario_that_asks_for_comments(
    client: FlaskClient, socket: Socket
) -> None:
    opened = socket.open(scenario="R20", profile="Z0102")
    moved = socket.ask("move", {"run": opened["run"], "step": 117, "text": "kill 1"})
    page = client.get(f"/edit?run={moved['run']}")
    found = boot(page.text)
    assert found["problems"] == []
    assert found["scenario"]["profiles"] == ["Z0102"]
    lines = found["scenario"]["script"].split("\n")
    assert lines[-1].startswith("kill 1")
    assert any("All three brokers have m0" in line for line in lines), (
        "comments of the library are kept"
    )
    asked = {one["script"]: one["sentence"] for one in found["asks"]}
    assert asked[len(lines)].startswith("Broker 1 crashes") or "1" in asked[len(lines)]
    assert "崩溃" in str(boot(client.get(f"/edit?run={moved['run']}&lang=zh").text)["asks"])
    assert client.get("/edit?run=nothing").status_code == 404
    assert client.get("/edit?run=0123456789abcdef").status_code == 404


def test_a_new_scenario_is_right_from_the_start(client: FlaskClient) -> None:
    assert boot(client.get("/edit").text)["problems"] == []
    named = boot(client.get("/edit?title=Who+wins%3F").text)
    assert named["scenario"]["title"] == "Who wins?"
    assert client.get("/edit/no-such-scenario").status_code == 404
    assert "<script>alert" not in client.get("/edit?title=</script><script>alert(1)").text


def test_everything_is_bounded(client: FlaskClient) -> None:
    assert client.post("/api/scenarios/check", json={"yaml": "title: a"}).status_code == 403
    assert post(client, "/api/scenarios/check", {"yaml": "#" * 70_000}).status_code == 413
    assert post(client, "/api/scenarios/check", {"scenario": ["a"]}).status_code == 400
    deep: Any = "end"
    for _ in range(200):
        deep = [deep]
    assert post(client, "/api/scenarios/check", {"scenario": {"title": deep}}).json["problems"]
    endless = "title: a\nfetching: auto\nscript: |\n  run\nduration_ms: 86400000\n"
    told = post(client, "/api/scenarios/play", {"yaml": endless}).json["profiles"]
    assert "events" in told[0]["problem"]["sentence"]


def test_frequent_requests_are_refused_with_a_time_to_wait(
    make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    client = browser(make_app(dataclasses.replace(settings, opens_burst=1, opens_per_s=0.01)))
    body = {"yaml": "title: a\n"}
    assert post(client, "/api/scenarios/play", body).status_code == 200
    refused = post(client, "/api/scenarios/try", body)
    assert refused.status_code == 429 and refused.json["code"] == "slow_down"


def test_mistakes_and_refusals_are_told_in_chinese(client: FlaskClient, app: Flask) -> None:
    client.get("/?lang=zh")
    (problem,) = check(client, yaml="title: a\nscrpt: b\n")["problems"]
    assert problem["sentence"].startswith("没有键")
    told = post(client, "/api/scenarios", {"yaml": "title: a\nbrokers: many"}).json["sentence"]
    assert told.startswith("scenario:2:10: ") and "列表" in told
    socket = Socket(app, lang="zh")
    run = socket.open(scenario="R20", profile="Z0102")
    assert "当选" in str(run["facts"]["verdict"]["broken"])
    refused = socket.ask("move", {"run": run["run"], "step": 0, "text": "restart 1"})
    assert refused["sentence"].endswith("已在运行。")
    whys = [one["why"] for one in socket.ask("possible", {"run": run["run"], "step": 0})["moves"]]
    assert any(why.endswith("已在运行。") for why in whys)


def test_whatever_the_form_offers_has_a_name_in_both_languages(client: FlaskClient) -> None:
    for lang in ("en", "zh"):
        words = client.get(f"/i18n/{lang}.json").json
        offered = boot(client.get(f"/edit?lang={lang}").text)["offers"]
        for row in offered["faults"]:
            for key in (
                f"breaks.{row['name']}",
                *(f"own.{field['name']}" for field in row["own"]),
            ):
                assert key in words, f"static/i18n/editor, {lang}, lacks {key}"
        for tag in offered["tags"]:
            assert f"tag.{tag}" in words
        assert offered["invariants"] == list(VIOLABLE)
        for name in VIOLABLE:
            assert f"broken.{name}" in words
    for told in [one["meaning"] for one in offered["configs"]] + [
        verb["help"] for verb in offered["verbs"]
    ]:
        assert re.search("[\u4e00-\u9fff]", told), told


@pytest.mark.parametrize("grammar", [verb.grammar for verb in VERBS.values()])
def test_every_move_has_an_example_that_can_be_read(grammar: str) -> None:
    move = example(grammar)
    assert parse(move, find("S01").brokers).verb.grammar == grammar, move


@pytest.mark.parametrize("name", sample(list(BEGINNINGS), 3))
def test_every_beginning_can_be_played_to_its_end(client: FlaskClient, name: str) -> None:
    text = boot(client.get(f"/edit?begin={name}").text)["yaml"]
    assert boot(client.get(f"/edit?begin={name}&lang=zh").text)["yaml"] != text, "the title"
    told = post(client, "/api/scenarios/try", {"yaml": text}).json
    assert told["problem"] is None and told["facts"]["total"] > 10
