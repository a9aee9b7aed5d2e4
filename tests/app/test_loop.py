"""The loop of the first page says what the engine played, under every version."""

from __future__ import annotations

import json
import re
from threading import Thread

import pytest
from flask.testing import FlaskClient

from app.web import loop
from engine.export import tanks
from engine.export.comparing import playable
from engine.model.profiles import get_profile
from engine.sim.run import Run, play_all


def test_only_versions_before_epochs_lose_the_message() -> None:
    """As on real brokers: lost on 0.10.2.2, kept on 1.1.1."""
    stops = loop.stops()
    releases = [get_profile(one.profile).release for one in stops]
    assert releases == sorted(set(releases)) and len(stops) > 15
    for one in stops:
        played = play_all(playable(Run(loop.scenario(), one.profile))[0])
        assert one.lost == bool(played.ledger.lost), one
        assert one.lost == (get_profile(one.profile).release < (0, 11, 0)), one


@pytest.mark.parametrize("lang", ["en", "zh-Hans"])
@pytest.mark.parametrize("profile", ["Z0102", "Z011", "K41"])
def test_each_moment_is_a_picture_and_a_sentence(
    client: FlaskClient, profile: str, lang: str
) -> None:
    with client.application.app_context():
        address = loop.address(profile, lang)
    answer = client.get(address)
    assert "immutable" in answer.headers["Cache-Control"]
    told = json.loads(answer.data)
    assert len(told["frames"]) == len(loop.MOMENTS)
    for frame in told["frames"]:
        assert frame["picture"].count(":wall") == 3
        assert frame["say"] and not frame["say"].startswith("loop.")
    assert told["lost"] == (profile == "Z0102")
    assert ("m1" in told["frames"][-1]["say"]) == told["lost"]


def test_the_pictures_are_of_the_moments_that_the_captions_tell() -> None:
    steps = [step for step, _ in loop.pictured("Z0102")[0]]
    parts = [step["view"]["partitions"][0] for step in steps]
    leaders = [part["record"]["leader"] for part in parts]
    assert leaders == [1, 1, 1, 1, 1, 2, 3, 3]
    ends = [[part["replicas"][broker]["leo"] for broker in "123"] for part in parts]
    assert ends[1:6] == [[1, 1, 1], [2, 1, 1], [2, 2, 2], [2, 2, 2], [2, 2, 1]]
    assert [part["replicas"]["1"]["hw"] for part in parts[:5]] == [0, 1, 1, 1, 2]
    assert [record["id"] for record in parts[5]["replicas"]["3"]["cut"]] == ["m1"]
    assert [record["id"] for record in parts[-1]["replicas"]["2"]["cut"]] == ["m1"]


def test_the_first_page_shows_the_end_where_nothing_moves(client: FlaskClient) -> None:
    page = client.get("/").text
    still = page.split("<noscript>")[1].split("</noscript>")[0]
    assert "m1 was acknowledged, and it is lost." in still and 'data-k="loop-b3:o0"' in still
    assert page.count('name="version"') == len(loop.stops())
    assert client.get("/loop/K41/en/000000000000.json").headers.get("Cache-Control") is None
    assert client.get("/loop/K99/en/000000000000.json").status_code == 404


def test_a_tick_is_dark_where_it_stands_on_the_hue_of_an_epoch() -> None:
    """Hues are the same in both themes; the page's green is pale in the dark one."""
    view = loop.pictured("Z0102")[0][-1][0]["view"]
    cells = re.findall(
        r"<rect [^>]*/><text[^>]*>m\d</text><path [^>]*>", tanks.draw(view, 500, 340)
    )
    assert len(cells) > 3
    for cell in cells:
        assert ("fill-opacity" in cell) == ('stroke="var(--ok)"' in cell), cell


def test_first_visitors_at_once_share_no_replay(client: FlaskClient) -> None:
    """One thread computes the frames of a version; the others wait for it."""
    for known in (loop.pictured, loop.frame, loop.frames, loop.stops):
        known.cache_clear()
    context = client.application.app_context
    told: list[bytes] = []

    def visit(lang: str) -> None:
        with context():
            told.append(loop.frames("Z20", lang))

    visitors = [Thread(target=visit, args=(lang,)) for lang in ("en", "zh-Hans", "en", "zh-Hans")]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    assert len(told) == 4 and len(set(told)) == 2
