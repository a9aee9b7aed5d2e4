"""Read along: every guide in both languages, every statement at its moment, guides of one's own."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.core import config
from app.server.factory import build
from engine.learn import reading
from engine.learn.guides import guides
from engine.learn.reading import findings_of
from tests.test_guides import GUIDE

UNFILLED = re.compile(r">\s*(?:read|lens|claims|learn)\.[\w.%-]+\s*<")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_guide_says_all_it_has(client: FlaskClient, lang: str) -> None:
    own = "en" if lang == "en" else "zh-Hans"
    index = unescape(client.get(f"/read?lang={lang}").text)
    assert UNFILLED.search(index) is None
    for name, guide in guides().items():
        assert f'href="/read/{name}"' in index and guide.title[own] in index
        text = unescape(client.get(f"/read/{name}?lang={lang}").text)
        assert UNFILLED.search(text) is None and "<iframe" not in text
        for one in guide.statements():
            assert one.says[own] in text


@pytest.mark.parametrize("name", list(guides()))
def test_a_statement_opens_at_its_moment(client: FlaskClient, name: str) -> None:
    found = findings_of(guides()[name])
    for number, one in list(enumerate(found, 1))[::9]:
        text = unescape(client.get(f"/read/{name}?at={number}&lang=zh").text)
        assert UNFILLED.search(text) is None
        if one.moment is None:
            continue
        frame = re.search(r'<iframe[^>]* src="([^"]+)"', text)
        stage = re.search(r'class="btn primary" href="([^"]+)"', text)
        assert frame is not None and stage is not None
        assert f"step={one.moment.step}&" in frame[1] and f"step={one.moment.step}&" in stage[1]
        assert client.get(frame[1]).status_code == 200
        assert client.get(stage[1]).status_code == 200


def test_a_fetcher_is_called_by_whom_it_follows(client: FlaskClient) -> None:
    text = unescape(client.get("/read/fetcher?at=1").text)
    assert re.search(r"<code>ReplicaFetcherThread-0-\d+</code>", text), "/read/fetcher?at=1"


def test_statements_that_never_held_are_marked(client: FlaskClient) -> None:
    for name, guide in guides().items():
        wrong = sum(reading.summary(one.row)[0] == reading.NEVER for one in findings_of(guide))
        text = client.get(f"/read/{name}?lang=en").text
        assert text.count("true in no release</span>") == wrong


@pytest.mark.parametrize("path", ["/read/none", "/read/../guides", "/read/fetcher?at=x"])
def test_unknown_guides_are_not_found(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == (200 if "at=" in path else 404)


def test_a_guide_of_ones_own_stands_on_the_shelf(tmp_path: Path) -> None:
    folder = tmp_path / "guides"
    folder.mkdir()
    told = GUIDE.replace("lead:", "post: https://example.org/a?b=1&c=2\nlead:")
    (folder / "mine.yaml").write_text(
        told.replace("says: A follower appends.", "says: <b>bold</b> & more"), "utf-8"
    )
    settings = config.load({"HIGHWATER_INSTANCE": str(tmp_path), "HIGHWATER_GUIDES": str(folder)})
    app = build(settings)
    client = app.test_client()
    assert 'href="/read/mine"' in client.get("/read").text
    text = client.get("/read/mine?at=1&lang=en").text
    assert "&lt;b&gt;bold&lt;/b&gt;" in text and "<b>bold" not in text
    assert 'href="https://example.org/a?b=1&amp;c=2"' in text
    assert "so in every release" in text and "LogSegment.append" in text
