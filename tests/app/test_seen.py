"""What real brokers did, on the pages: badges, the two sides, the first difference and its why."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.words import Catalogue
from app.recordings.page import badge, format_fact, moves_of, results_by_scenario, sides, standing
from engine.export import tanks
from engine.model.profiles import get_profile
from engine.recordings import by_chance
from engine.recordings.comparing import moments
from engine.recordings.reading import own
from engine.scenarios.file import find
from tests.conftest import sample

UNFILLED = re.compile(r">\s*(?:seen|real)\.[\w.]+\s*<")
NAMES = {1: "1", 2: "2", 3: "3"}
SAY = partial(Catalogue().text, "en")


def test_every_recording_is_of_the_script_that_is_played_today() -> None:
    listed = {
        one.recording.name for all_of_it in results_by_scenario().values() for one in all_of_it
    }
    assert listed == {one.name for one in own()}
    assert [one.kafka for one in results_by_scenario()["R20"]][:2] == ["0.10.2.2", "1.1.1"]


def test_a_badge_is_for_that_very_script(app: Flask) -> None:
    scenario = find("R20")
    found = badge_of(app, "R20")
    assert found["equal"] > 800 and found["different"] == 0
    other = replace(scenario, script=scenario.script + "\nkill 1\n")
    assert moves_of(other, "Z0102") != results_by_scenario()["R20"][0].recording.moves


def badge_of(app: Flask, code: str) -> dict[str, Any]:
    with app.test_request_context():
        found = badge(find(code))
        assert found is not None
        assert badge(find("S75")) is None
        assert badge(replace(find(code), title="Another")) is None
        return found


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_library_and_stage_say_what_was_played(client: FlaskClient, lang: str) -> None:
    page = unescape(client.get(f"/scenarios?lang={lang}").text)
    assert page.count('class="seenreal"') == len(results_by_scenario())
    assert 'href="/s/R20/real/0.10.2.2"' in page
    boot = re.search(r'id="boot">(.*?)</script>', client.get(f"/s/R20?lang={lang}").text)
    assert boot
    told = json.loads(boot[1])["seen"]
    assert told["href"] == "/s/R20/real/0.10.2.2"
    assert '"seen": null' in client.get(f"/s/S75?lang={lang}").text


@pytest.mark.parametrize(
    ("name", "lang"), sample([(one.name, lang) for one in own() for lang in ("en", "zh")], 9)
)
def test_the_last_moment_of_each_recording(client: FlaskClient, name: str, lang: str) -> None:
    code, _, kafka = name.partition("-")
    page = unescape(client.get(f"/s/{code}/real/{kafka}?at=99999&lang={lang}").text)
    assert UNFILLED.search(page) is None
    assert page.count("data-picture=") == 2
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids)), "two things on one page have one id"


def test_records_lost_by_real_brokers_are_named(client: FlaskClient) -> None:
    page = client.get("/s/R20/real/0.10.2.2?at=19&lang=en").text
    assert "no longer in any log of Kafka 0.10.2.2: m1." in page
    assert "All 19 facts are equal" in page
    assert "no longer in any log" not in client.get("/s/R20/real/1.1.1?at=19&lang=en").text


@pytest.mark.parametrize(
    ("lang", "why"), [("en", "lab: a controlled shutdown"), ("zh", "实验环境：受控关闭")]
)
def test_the_first_difference_has_its_why(client: FlaskClient, lang: str, why: str) -> None:
    page = client.get(f"/s/R11/real/2.0.1?at=15&lang={lang}").text
    assert why in page
    assert page.count('class="first') == 1 and page.count('class="differs') == 5
    both = re.findall(r'<td class="differs mono">.*?</td>', page, re.S)
    assert any("m0@1 x1@1 y2@3" in cell and "m0@1 x1@1<" in cell for cell in both)
    quiet = client.get(f"/s/R11/real/2.0.1?at=14&lang={lang}").text
    assert 'class="first' not in quiet and why not in quiet


@pytest.mark.parametrize(("show", "sides_shown"), [("real", ["real"]), ("model", ["model"])])
def test_one_side_alone(client: FlaskClient, show: str, sides_shown: list[str]) -> None:
    page = client.get(f"/s/R11/real/2.0.1?at=15&show={show}&lang=en").text
    assert re.findall(r'data-picture="(\w+)"', page) == sides_shown
    shown_log = "m0@1 x1@1 y2@3" if show == "real" else "m0@1 x1@1"
    assert f">{shown_log}</td>" in page


def test_pictures_follow_the_facts_and_nothing_else() -> None:
    recording = next(one for one in own() if one.name == "R11-2.0.1")
    told = tuple(moments(recording))

    def drawn(at: int) -> tuple[str, str]:
        real, model, real_before, model_before = sides(told, at)
        return (
            tanks.draw(standing(recording, NAMES, real, real_before), 560, 330, say=SAY),
            tanks.draw(standing(recording, NAMES, model, model_before), 560, 330, say=SAY),
        )

    equal = [one.number for one in told if not one.differences and one.number < 15]
    assert all(drawn(at)[0] == drawn(at)[1] for at in equal)
    real, model = drawn(15)
    assert real != model
    assert "HW 3" in real


def test_a_mark_of_a_broker_that_is_down_stays_where_it_was() -> None:
    recording = next(one for one in own() if one.name == "S30-3.9.1")
    told = tuple(moments(recording))
    at = next(one.number for one in told if one.step.move == "detect 1")
    real, _, before, _ = sides(told, at)
    assert "b1 HW" not in real and before["b1 HW"] == 3
    view = standing(recording, NAMES, real, before)
    assert view["partitions"][0]["replicas"]["1"]["hw"] == 3
    assert view["brokers"][0]["alive"] == "down"


def test_facts_as_people_write_them() -> None:
    names = {1: "A", 2: "B"}
    assert format_fact("leader", 2, names) == "B" and format_fact("leader", -1, names) == "–"
    assert format_fact("isr", [1, 2, 9], names) == "A, B, 9"
    assert format_fact("epochs", [[0, 0], [2, 5]], names) == "0:0 2:5"


@pytest.mark.parametrize(
    "path",
    ["/s/R20/real/9.9.9", "/s/S75/real/4.1.1", "/s/nothing/real/4.1.1", "/s/R20/real/%3Cb%3E"],
)
def test_unplayed_releases_are_not_found(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_odd_moments_are_the_first(client: FlaskClient) -> None:
    for odd in ("x", "-1", "9" * 400, ""):
        assert client.get(f"/s/R20/real/1.1.1?at={odd}").status_code == 200


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_table_has_every_recording(client: FlaskClient, lang: str) -> None:
    page = unescape(client.get(f"/real?lang={lang}").text)
    assert UNFILLED.search(page) is None
    links = re.findall(r'class="cell \w+" href="(/s/\w+/real/[\d.]+)"', page)
    names = [one.name.replace("-", "/real/", 1) for one in own()]
    assert sorted(links) == sorted(f"/s/{name}" for name in names)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_shows_what_chance_has_tried(client: FlaskClient, lang: str) -> None:
    text = unescape(client.get(f"/real?lang={lang}").get_data(as_text=True))
    part = text[text.index('id="chance"') :]
    assert by_chance.totals()
    for one in by_chance.totals():
        name = re.escape(one.kafka) + (rf", {one.voters}\W[^<]+" if one.voters else "")
        row = re.search(rf'<tr><th scope="row">{name}</th>(.*?)</tr>', part)
        assert row is not None
        cells = list(map(int, re.findall(r"<td>(\d+)</td>", row[1])))
        assert cells[:4] == [one.scripts, one.moves, one.equal, one.different]
        assert cells[4:6] == [len(one.findings), one.mended]
        for finding in one.findings:
            assert finding.what["zh-Hans" if lang == "zh" else "en"] in part
            assert "\n".join(finding.moves) in part
    assert not UNFILLED.search(part)


def test_totals_of_chance_are_possible() -> None:
    for one in by_chance.totals():
        assert get_profile(one.profile)
        assert 0 < one.scripts <= one.moves < one.equal
        for finding in one.findings:
            assert finding.of in ("model", "laboratory")
            assert {"en", "zh-Hans"} <= set(finding.what)


def test_a_group_is_shown_with_its_members_and_its_partition(client: FlaskClient) -> None:
    page = unescape(client.get("/s/S87/real/3.9.1?at=8").text)
    rows = re.findall(r'<th scope="row">(\w+)</th>(.*?)</tr>', page)
    cells = {name: re.findall(r"<td[^>]*>([^<]*)</td>", row) for name, row in rows[3:]}
    assert cells["orders"] == ["stable", "2", "C1-1: 0", "0: 3"]
    assert cells["C1"] == ["✓", "C1-1", "1", "0", "0: 3", "–", "–"]
    assert cells["2"][-1] == "g1:C1-1@0 p0:3:e0@0"
