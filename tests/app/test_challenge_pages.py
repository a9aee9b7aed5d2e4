"""The pages of challenges: what is played is judged, and what cannot be is told."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlencode

import pytest
from flask.testing import FlaskClient

from engine.learn.challenges import challenges

UNFILLED = re.compile(r">\s*(?:learn|challenge)\.[\w.%-]+\s*<")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_all_tasks_stand_in_both_languages(client: FlaskClient, lang: str) -> None:
    text = unescape(client.get(f"/challenges?lang={lang}").text)
    assert UNFILLED.search(text) is None
    for one in challenges().values():
        assert one.task["en" if lang == "en" else "zh-Hans"] in text


@pytest.mark.parametrize("slug", list(challenges()))
def test_a_solution_is_accepted_and_shown_on_the_stage(client: FlaskClient, slug: str) -> None:
    moves = urlencode({"moves": "\n".join(challenges()[slug].solution), "lang": "en"})
    text = client.get(f"/challenges/{slug}?{moves}").text
    assert UNFILLED.search(text) is None
    assert 'class="verdict ok"' in text and "That is par." in text
    frame = unescape(re.search(r'<iframe[^>]* src="([^"]+)"', text)[1])  # type: ignore[index]
    assert client.get(frame).status_code == 200


@pytest.mark.parametrize(
    ("moves", "told"),
    [
        ("settle", "Not yet"),
        ("fech 2", "Move 1 (“fech 2”):"),
        ("settle\nelect unclean", "elect is not allowed here."),
        ("<script>", "Move 1 (“<script>”):"),
        ("settle\n" * 30, "At most 24 moves"),
    ],
)
def test_failed_attempts_are_explained(client: FlaskClient, moves: str, told: str) -> None:
    query = urlencode({"moves": moves, "lang": "en"})
    answer = client.get(f"/challenges/last-standing?{query}")
    assert answer.status_code == 200 and told in unescape(answer.text)
    assert "<script>”" not in answer.text and moves.split("\n")[-1] in unescape(answer.text)


def test_unknown_challenges_are_not_found(client: FlaskClient) -> None:
    assert client.get("/challenges/none-such").status_code == 404
