"""The picture that goes with a link: its size, its sentence, its moment."""

from __future__ import annotations

import re
import struct
from functools import partial

import pytest
from flask.testing import FlaskClient

from app.core.words import Catalogue
from app.python_api import picture
from engine.export import tanks
from engine.export.postcard import LINE_CHARS, Postcard, postcard, wrapped
from engine.export.thumbnail import telling_step
from engine.export.verdict_by_release import ending, endings
from engine.model.releases import ONLY_KRAFT
from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.conftest import ROOT, sample

SAY = partial(Catalogue().text, "en")


def test_a_run_unfurls_as_its_picture(client: FlaskClient) -> None:
    page = client.get("/s/S20?profile=Z0102&step=51").text
    found = re.search(r'property="og:image" content="https?://[^/]+(/[^"]+)"', page)
    assert found and "step=51" in found[1]
    picture = client.get(found[1].replace("&amp;", "&"))
    assert picture.mimetype == "image/png"
    assert struct.unpack(">II", picture.data[16:24]) == (1200, 630)
    other = client.get(found[1].replace("&amp;", "&").replace("step=51", "step=20"))
    assert other.data != picture.data, "every moment has its own"


def test_without_a_step_the_picture_is_the_moment_that_tells(client: FlaskClient) -> None:
    page = client.get("/s/S20?profile=Z0102").text
    found = re.search(r'property="og:image" content="https?://[^/]+(/[^"?]+)', page)
    assert found
    telling = telling_step(Replay(Run(find("S20"), "Z0102")))
    pictures = [client.get(found[1] + more).data for more in ("", f"?step={telling}", "?step=0")]
    assert pictures[0] == pictures[1] != pictures[2]


def test_chinese_is_drawn_in_a_face_for_chinese() -> None:
    view = Replay(Run(find("S20"), "Z0102")).steps(0, 1)[0]["view"]
    svg = postcard(Postcard("已确认的消息会丢吗？", "Kafka 3.9", "没丢。", "kept"), view)
    assert 'font-family="Noto Sans CJK SC' in svg


def test_no_line_begins_with_a_mark_that_ends_another() -> None:
    for most in range(6, 20):
        lines = wrapped("没有提交，所以离开的副本拥有消息；ISR 低于下限。", most, 9)
        assert len(lines) > 1 and all(line[0] not in "，；。" for line in lines), lines


def test_pictures_have_the_colours_of_the_page() -> None:
    tokens = (ROOT / "static/css/tokens.css").read_text()
    light = dict(re.findall(r"--(\w+): (?:light-dark\()?(#\w{6})", tokens))
    assert {name: light[name] for name in tanks.COLOURS} == tanks.COLOURS
    both = re.compile(r"--([\w-]+): (light-dark\([^)]*\)|#\w{6});")
    of_page, of_notebook = dict(both.findall(tokens)), dict(both.findall(picture.STYLE))
    assert len(of_notebook) > 12
    assert {name: of_page[name] for name in of_notebook} == of_notebook


def test_tanks_stand_in_the_order_of_their_brokers() -> None:
    """The replicas of R20 are assigned as 2, 3, 1."""
    view = Replay(Run(find("R20"), "Z0102")).steps(0, 1)[0]["view"]
    assert view["partitions"][0]["ar"] == [2, 3, 1]
    drawn = postcard(Postcard("?", "Kafka", "Gone", "lost", say=SAY), view)
    assert re.findall(r">Broker (\d)<", drawn) == ["1", "2", "3"]


@pytest.mark.parametrize("address", ["/r/nothing/card.png", "/r/0123456789abcdef/card.png"])
def test_a_picture_of_no_run_is_refused(client: FlaskClient, address: str) -> None:
    assert client.get(address).status_code == 404


def test_a_postcard_has_no_colour_of_a_page_and_says_what_is_lost() -> None:
    replay = Replay(Run(find("S20"), "Z0102"))
    view = replay.steps(51, 1)[0]["view"]
    view["brokers"][0] |= {"name": "A<b>", "alive": "down"}
    card = Postcard(
        "Can it vanish?",
        "Kafka 0.10.2",
        "Gone: m3 & m4",
        "lost",
        answer="One. Two; " + "three " * 40,
        say=SAY,
    )
    svg = postcard(card, view)
    assert ">crashed<" in svg and ">One. Two.<" in svg, "whole sentences, as many as there is room"
    assert "var(" not in svg and "Gone: m3 &amp; m4" in svg and "A&lt;b&gt;" in svg
    assert svg.count(">m3</text>") == 2, "where it is, and where it is missing"


@pytest.mark.parametrize("title", ["Short?", "word " * 40, "一条已经确认的消息会不会丢" * 9])
def test_a_title_takes_two_lines_at_most(title: str) -> None:
    lines = wrapped(title)
    assert 1 <= len(lines) <= 2
    assert all(len(line) <= LINE_CHARS for line in lines)


def test_the_strip_tells_what_each_version_does(client: FlaskClient) -> None:
    told = client.get("/s/R20/endings.json").json
    assert told is not None
    first, second = told["endings"]
    assert first["span"].startswith("0.8") and "I7" in first["broken"]
    newest = ".".join(ONLY_KRAFT[-1].split(".")[:2])
    assert second["span"] == f"0.11.0.0 – {newest}" and second["broken"] == []
    assert [first["kind"], second["kind"]] == ["lost", "kept"]
    halves = [one["span"] for one in client.get("/s/S14/endings.json").json["endings"]]
    assert halves[2:4] == ["3.3.0 – 3.9.1 (ZooKeeper)", "3.3.0 – 3.8 (KRaft)"]
    assert len(halves) == len(set(halves)) == 7
    assert client.get("/s/crash-storm/endings.json").json == {"ok": True, "endings": []}


@pytest.mark.parametrize("code", sample(["S22", "S14", "S20", "S30"], 2))
def test_the_strip_says_what_the_scenario_promises(code: str) -> None:
    scenario = find(code)
    under = {name: set(one.broken) for one in endings(scenario) for name in one.profiles}
    for profile in scenario.profiles:
        expected = scenario.expectation(profile) or {}
        verdict = expected.get("verdict")
        assert under[profile] == set(ending(scenario, profile).broken)
        promises = {one for one in under[profile] if re.fullmatch(r"I\d+", one)}
        if isinstance(verdict, list):
            assert promises == {one for one in verdict if re.fullmatch(r"I\d+", one)}, profile
        elif verdict == "holds":
            assert not promises, profile
