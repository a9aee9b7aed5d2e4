"""The library page: cards and pictures, what is found without a script, the path, what is kept."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.learn.cards import card, minutes, outcomes
from app.web import home
from engine.scenarios.file import find, library
from tests.app.conftest import SCENARIO, Socket, post

SHOWN = re.compile(r'<li class="card"[^>]*data-slug="([a-z0-9-]+)"[^>]*?(hidden)?>')


def shown(client: FlaskClient, query: str = "") -> set[str]:
    page = client.get(f"/scenarios{query}").text
    return {slug for slug, hidden in SHOWN.findall(page) if not hidden}


def test_every_scenario_has_a_card_with_its_picture(client: FlaskClient) -> None:
    page = client.get("/scenarios").text
    address = re.search(r'href="(/pictures/\w+\.svg)#', page)
    assert address
    sheet = client.get(address[1])
    assert sheet.mimetype == "image/svg+xml"
    assert "immutable" in sheet.headers["Cache-Control"]
    for slug in library():
        assert f'<symbol id="{slug}"' in sheet.text
        assert f'{address[1]}#{slug}"' in page
    assert "immutable" not in client.get("/pictures/0.svg").headers.get("Cache-Control", "")


def test_the_page_is_small(client: FlaskClient) -> None:
    page = client.get("/scenarios")
    assert len(page.data) < 1_700 * len(library())


@pytest.mark.parametrize(
    ("query", "found", "missing"),
    [
        ("?q=S20", {"lost-to-truncation"}, {"happy-path"}),
        ("?q=kip-101", {"lost-to-truncation", "gone-after-a-clean-election"}, {"happy-path"}),
        ("?q=truncateToEpochEndOffsets", {"fast-failover"}, {"happy-path"}),
        ("?q=KIP-392", {"fetch-from-follower"}, {"happy-path"}),
        ("?tag=network", {"lossy-link"}, {"happy-path"}),
        ("?tag=network&tag=basics", {"lossy-link", "happy-path"}, {"lost-to-truncation"}),
        ("?difficulty=1", {"happy-path"}, {"lost-to-truncation"}),
        ("?profile=Z08", {"thrash-by-counting"}, {"happy-path"}),
        ("?difficulty=9&tag=nothing", {"happy-path"}, set()),
    ],
)
def test_cards_are_found_without_a_script(
    client: FlaskClient, query: str, found: set[str], missing: set[str]
) -> None:
    there = shown(client, query)
    assert found <= there
    assert not missing & there


def test_a_search_that_finds_nothing_offers_words_and_the_editor(client: FlaskClient) -> None:
    page = client.get("/scenarios?q=zzzzzz").text
    assert "/scenarios?q=leader%20election" in page
    assert 'href="/edit"' in page
    assert not shown(client, "?q=zzzzzz")


def test_unknown_words_are_searched_for_as_the_nearest(client: FlaskClient) -> None:
    page = client.get("/scenarios?q=elecktion").text
    assert "Searched for “election” instead of “elecktion”." in page
    assert "unclean-election" in shown(client, "?q=elecktion")


def test_cards_stand_in_the_order_of_their_rank_beside_other_answers(client: FlaskClient) -> None:
    page = client.get("/scenarios?q=NotEnoughReplicasException").text
    order = [slug for slug, hidden in SHOWN.findall(page) if not hidden]
    assert order[0] == "min-isr-refuses" and len(order) > 2
    assert 'href="/glossary#NOT_ENOUGH_REPLICAS"' in page


def test_hits_are_told_as_json_and_as_a_fragment(client: FlaskClient) -> None:
    found = client.get("/api/search?q=KAFKA-6361&kind=scenario&limit=2").json
    assert [hit["code"] for hit in found["hits"]][:1] == ["S23"]
    assert len(found["hits"]) == 2
    assert client.get("/api/search").json["hits"] == []
    fragment = client.get("/hits?q=KAFKA-6361&lang=zh").text
    assert "/s/fast-failover" in fragment and "场景" in fragment and "<html" not in fragment
    hostile = client.get("/hits?q=<script>alert(1)</script>").text
    assert "<script>alert" not in hostile
    assert client.get("/api/search?q=" + "x" * 5000).status_code == 200
    assert client.get("/api/search?q=isr&limit=abc").status_code == 400


def test_search_terms_stay_text(client: FlaskClient) -> None:
    page = client.get('/scenarios?q="><script>alert(1)</script>').text
    assert "<script>alert" not in page


def test_the_path_has_six_steps(client: FlaskClient) -> None:
    page = client.get("/").text
    keys = re.findall(r'<li data-key="([^"]+)"', page)
    assert len(keys) == 6
    assert keys[:4] == ["S01:K39", "S02:K39", "S10:K39", "R20:Z0102"]
    assert "/s/gone-after-a-clean-election?profile=Z0102" in page


def test_saved_runs_are_on_the_shelf_of_their_browser_only(client: FlaskClient) -> None:
    digest = post(client, "/api/scenarios", {"yaml": SCENARIO}).json["digest"]
    assert f"/s/{digest}" in client.get("/scenarios").text
    assert f"/s/{digest}" not in client.application.test_client().get("/scenarios").text
    assert f"/edit/{digest}" in client.get("/scenarios").text


def test_verdicts_that_are_the_same_are_said_once() -> None:
    told = outcomes(card(find("R20")))
    assert [one["verdict"]["kind"] for one in told] == ["lost", "kept"]
    assert told[0]["profiles"] == ["Z0102"] and told[0]["verdict"]["records"] == ["m1"]
    assert told[1]["profiles"] == ["Z011", "Z20", "Z28", "K39", "K41"]


def test_minutes_grow_with_what_is_to_be_seen() -> None:
    assert 2 <= minutes(find("S01")) <= minutes(find("S22")) < 12


def test_scenarios_are_told_in_the_visitors_language(client: FlaskClient, app: Flask) -> None:
    for address in (
        "/?lang=zh",
        "/scenarios?lang=zh",
        "/s/R20?lang=zh",
        "/s/R20?plain=1&lang=zh",
        "/batch?lang=zh",
    ):
        assert "已确认的消息会丢吗？" in client.get(address).text, address
    assert shown(client, "?lang=zh&q=高水位")
    facts = Socket(app, lang="zh").open(scenario="R20")["facts"]
    assert facts["scenario"]["teaches"].startswith("Follower")
    assert "维护之后" in facts["beats"][0][1]
    copy = client.get("/edit/R20?lang=zh").text
    assert "已确认的消息会丢吗？" in copy, "who writes a variant begins with their own language"


def test_the_first_page_has_eight_topics_of_four_runs(client: FlaskClient) -> None:
    page = client.get("/").text
    sections = page.split('<section aria-labelledby="topic-')[1:]
    assert [section.count('<li class="tile">') for section in sections] == [4] * 8
    codes = [code for _, four in home.TOPICS for code in four]
    assert len(set(codes)) == 32 and all(f'title="{code}"' in page for code in codes)
    lost = page.split('title="R20"')[1].split("</li>")[0]
    assert "Lost: m1. Kafka had promised to keep it." in lost and "0.10.2" in lost
    assert "profile=Z0102" in page.split('title="R20"')[0].rpartition("<a ")[2], "where it breaks"
    assert page.count('class="card"') == 0, "all scenarios stand on a page of their own"


@pytest.mark.parametrize("asked", ["q=KIP-101", "tag=network&tag=basics", "profile=Z08&lang=zh"])
def test_an_old_link_to_a_search_leads_to_it(client: FlaskClient, asked: str) -> None:
    answer = client.get(f"/?{asked}")
    assert (answer.status_code, answer.location) == (302, f"/scenarios?{asked}")
