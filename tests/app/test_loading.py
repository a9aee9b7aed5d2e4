"""What a page fetches before it can show anything: every module at once, its own words, no more."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.core.words import Catalogue
from app.server import bundler

STATIC = Path(__file__).resolve().parents[2] / "static"
LOADED = re.compile(r"entry='([^']+)', page='([^']+)'")
SCRIPTS = {
    page: entry
    for path in (STATIC.parent / "templates").rglob("*.html")
    for entry, page in LOADED.findall(path.read_text("utf-8"))
}
TEXT = re.compile(r"""["`]([a-z]\w*(?:\.[\w-]+)+)["`]""")
BEGUN = re.compile(r"`([a-z]\w*(?:\.[\w-]+)*\.)\$\{")


def all_of(entry: str) -> set[str]:
    """An entry, what it imports, and what it may import later."""
    modules: set[str] = set()
    left = [entry]
    while left:
        path = left.pop()
        if path not in modules:
            modules.add(path)
            left += [*bundler.module(path).imports, *bundler.module(path).later]
    return modules


@pytest.mark.parametrize("page", sorted(SCRIPTS))
@pytest.mark.parametrize("lang", ["en", "zh-Hans"])
def test_a_page_gets_every_word_its_scripts_say(client: FlaskClient, page: str, lang: str) -> None:
    own = client.get(f"/i18n/{lang}.json?page={page}").json
    alone = client.get(f"/i18n/{lang}.json?page=lens").json
    every = Catalogue().words(lang)
    assert own.items() <= every.items() and len(own) < len(every)
    for file in all_of(SCRIPTS[page]):
        text = (STATIC / "js" / file).read_text("utf-8")
        said = {key for key in TEXT.findall(text) if key in every}
        # The code lens fetches its own words with its releases.
        known = own.keys() | alone.keys() if file.startswith("lens/") else own.keys()
        assert said <= known, file
        # metric. is what a batch counts as well as what the dashboard draws.
        for start in set(BEGUN.findall(text)) - {"metric."}:
            missing = {key for key in every if key.startswith(start)} - known
            assert not missing, f"{file}: {start}"


def test_an_unknown_page_is_refused(client: FlaskClient) -> None:
    answer = client.get("/i18n/en.json?page=nowhere")
    assert answer.status_code == 400 and "page" in answer.json["sentence"]


def test_every_module_of_the_first_view_is_asked_for_by_the_page(client: FlaskClient) -> None:
    page = client.get("/s/S20").text
    listed = re.findall(r'<link rel="modulepreload" href="([^"]+)">', page)
    assert page.index("importmap") < page.index("modulepreload"), "names are known before modules"
    assert len(listed) == len(set(listed)) and "/static/vendor/socket.io-4.8.4.mjs" in listed
    assert listed[0] == bundler.pack_at("pages/animator.js")
    mapped = json.loads(re.findall(r'<script type="importmap"[^>]*>(.*?)</script>', page)[0])
    asked = {
        mapped["imports"][name] for name in bundler.libraries(bundler.needed("pages/animator.js"))
    }
    assert asked | {mapped["imports"]["@preact/signals-core"]} <= set(listed), "and libraries' own"
    # What opens on request comes then.
    at_once = {one.path for one in bundler.needed("pages/animator.js")}
    for name in ("share/dialog", "panels/metrics", "panels/timeview", "export/gif"):
        assert f"{name}.js" in all_of("pages/animator.js") and f"{name}.js" not in at_once
