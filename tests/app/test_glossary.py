"""The glossary: complete in both languages, and every link leads to what it promises."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient

from app.learn import glossary
from engine.catalogue.sourcemap import cards
from engine.checks.catalogue import INVARIANTS
from engine.lens.source import named
from engine.model.configs import CATALOGUE
from engine.model.errors import all_names
from engine.model.profiles import FLAGS

UNFILLED = re.compile(r">\s*(?:gloss|term|wire|card|rule|flag|config|invariant)\.[\w.%-]+\s*<")


def pages(client: FlaskClient, query: str) -> str:
    answer = client.get(f"/glossary?{query}")
    assert answer.status_code == 200, answer.text
    return answer.text


def test_everything_has_an_entry_that_can_be_linked_to(client: FlaskClient) -> None:
    text = pages(client, "lang=en")
    anchors = set(re.findall(r'id="([^"]+)"', text))
    names = [*cards(), *INVARIANTS, *CATALOGUE, *FLAGS]
    names += [name for name in all_names() if name != "NONE"]
    names += named()
    names += [f"term-{term}" for term in glossary.TERMS]
    assert sorted(set(names) - anchors) == []
    assert sorted(set(re.findall(r'href="#([^"]+)"', text)) - anchors) == []


@pytest.mark.parametrize(
    "query", ["lang=en", "lang=zh", "lang=zh&profile=Z0102", "profile=K39-elr"]
)
def test_no_word_is_missing(client: FlaskClient, query: str) -> None:
    text = pages(client, query)
    assert UNFILLED.search(text) is None, UNFILLED.search(text)
    assert "{" not in re.sub(r"<script.*?</script>|<code>.*?</code>", "", text, flags=re.S)


def test_a_profile_shows_its_own_lines_only(client: FlaskClient) -> None:
    old, new = (pages(client, f"profile={name}") for name in ("Z0102", "K39"))
    assert "|committed ISR| &lt; min.insync.replicas" in new
    assert "|committed ISR|" not in old
    assert 'class="when"' not in new
    assert client.get("/glossary?profile=K99").status_code == 400


def test_links_open_a_run_at_the_step(client: FlaskClient) -> None:
    links = re.findall(r'class="see" href="([^"]+)"', pages(client, "lang=en"))
    assert len(links) > 150
    for address in sorted({unescape(link) for link in links})[::12]:
        page = client.get(address)
        assert page.status_code == 200, address
        (profile,) = parse_qs(urlsplit(address).query)["profile"]
        assert f'"profile": "{profile}"' in page.text, address
