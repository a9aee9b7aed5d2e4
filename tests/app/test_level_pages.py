"""Pages and questions of the levels; addresses of the challenges that they replaced."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from engine.learn.levels import Level, levels
from engine.sim.run import Run
from tests.app.conftest import Socket
from tests.conftest import sample


def ask(socket: Socket, level: Level, *moves: str, **more: object) -> dict[str, object]:
    run = Run(level.beginning.scenario, level.profile, 0, (*level.first, *moves))
    digest = socket.open(text=run.text())["run"]
    answer: dict[str, object] = socket.ask("level", {"run": digest, "level": level.slug, **more})
    return answer


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_all_levels_stand_in_both_languages(client: FlaskClient, lang: str) -> None:
    text = unescape(client.get(f"/levels?lang={lang}").text)
    assert re.search(r">\s*level\.[\w.%-]+\s*<", text) is None
    for level in levels().values():
        assert level.goal["en" if lang == "en" else "zh-Hans"] in text


@pytest.mark.parametrize("slug", levels())
def test_a_level_opens_where_its_first_moves_end(client: FlaskClient, slug: str) -> None:
    text = client.get(f"/levels/{slug}?lang=en").text
    boot = json.loads(unescape(text.split('id="boot">')[1].split("</script>")[0]))
    level = levels()[slug]
    assert boot["level"]["goal"] == level.goal["en"] and boot["level"]["par"] == level.par
    assert boot["run"] == level.beginning.digest and (boot["step"] > 0) == bool(level.first)
    assert client.get(boot["level"]["next"]).status_code == 200


@pytest.mark.parametrize(
    "level", sample([pytest.param(one, id=one.slug) for one in levels().values()], 3)
)
def test_the_engine_judges_a_solution_and_a_claim(socket: Socket, level: Level) -> None:
    begun = ask(socket, level)
    assert begun["ok"] and not begun["done"] and begun["used"] == 0 and begun["moves"]
    claimed = ask(socket, level, claim=True)
    assert claimed["done"] == (not level.solution)
    assert (f"{level.states:,} states" in str(claimed["say"])) == (not level.solution)
    if level.solution:
        solved = ask(socket, level, *level.solution)
        assert solved["done"] and str(solved["say"]).endswith(f"{level.par} moves: par.")


def test_the_verdict_says_why_a_move_did_not_work(socket: Socket) -> None:
    level = levels()["three-copies"]
    gone = ask(socket, level, "kill 1")
    assert gone["say"] == "Broker 1 is gone, and the controller has not noticed. Let time pass."
    kept = ask(socket, level, "kill 1", *str(gone["wait"]).split("; "))
    assert kept["say"] == "Broker 2 leads and has m1: nothing is lost."
    killed = {"text": "kill 3", "about": ["b3"], "say": "Kill broker 3"}
    assert isinstance(kept["moves"], list) and killed in kept["moves"]


def test_moves_that_a_level_does_not_have_are_refused(socket: Socket) -> None:
    refused = ask(socket, levels()["three-copies"], "elect 2")
    assert not refused["ok"] and refused["sentence"] == "“elect 2” is no move of this level."
    assert ask(socket, levels()["one-copy"], "power 1")["code"] == "impossible"
    known = socket.open(scenario="S20")["run"]
    assert socket.ask("level", {"run": known, "level": "one-copy"})["code"] == "impossible"
    assert socket.ask("level", {"run": known, "level": "none"})["code"] == "not_found"


def test_addresses_of_challenges_lead_to_levels(client: FlaskClient) -> None:
    assert client.get("/challenges").location == "/levels"
    for level in levels().values():
        for old in level.was:
            answer = client.get(f"/challenges/{old}?lang=zh")
            assert answer.location == f"/levels/{level.slug}?lang=zh", old
    assert client.get("/challenges/commit").location == "/levels"
    assert client.get("/levels/none-such").status_code == 404
