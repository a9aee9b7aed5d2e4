"""The interview page: every question in both languages, every proof at its moment."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from engine.learn.interview import moments, questions

UNFILLED = re.compile(r">\s*(?:learn|claims|interview)\.[\w.%-]+\s*<")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_question_stands_with_its_facts(client: FlaskClient, lang: str) -> None:
    text = unescape(client.get(f"/interview?lang={lang}").text)
    name = "en" if lang == "en" else "zh-Hans"
    assert UNFILLED.search(text) is None
    for item in questions().values():
        for told in (item.ask, *item.facts, item.wrong, item.follow):
            assert told[name] in text, item.id


def test_every_proof_opens_its_run_at_its_moment(client: FlaskClient) -> None:
    text = unescape(client.get("/interview").text)
    found = re.findall(r'href="(/s/(\w+)\?profile=(\w+)&step=(\d+))"', text)
    wanted = [(one.scenario, one.profile, str(moments()[one.id])) for one in questions().values()]
    assert [(code, profile, step) for _, code, profile, step in found] == wanted
    for address, *_ in found[::10]:
        assert client.get(address).status_code == 200


def test_a_sheet_has_what_was_asked_for(client: FlaskClient) -> None:
    text = unescape(client.get("/interview/sheet?only=Q39,Q2,Q2,nothing&lang=en").text)
    assert text.count("<article>") == 2
    assert questions()["Q39"].ask["en"] in text and "<svg viewBox" in text
    assert client.get("/interview/sheet").text.count("<article>") > 5
