"""What a page fetches before it can show anything: every module at once, its own words, no more."""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.core.words import Catalogue
from app.server import bundler
from app.web import pages

STATIC = Path(__file__).resolve().parents[2] / "static"
LOADED = re.compile(r"entry='([^']+)', page='([^']+)'")
SCRIPTS = {
    page: f"js/{entry}"
    for path in (STATIC.parent / "templates").rglob("*.html")
    for entry, page in LOADED.findall(path.read_text("utf-8"))
}
LATER = re.compile(r"""import\("([^"]+)"\)""")
TEXT = re.compile(r"""["`]([a-z]\w*(?:\.[\w-]+)+)["`]""")
BEGUN = re.compile(r"`([a-z]\w*(?:\.[\w-]+)*\.)\$\{")


def all_of(entry: str) -> set[str]:
    """An entry, what it imports, and what it may import later."""
    found: set[str] = set()
    left = [entry]
    while left:
        file = left.pop()
        if file in found:
            continue
        found.add(file)
        text = (STATIC / file).read_text("utf-8")
        names = [
            name for name in (*pages.imported_modules(text), *LATER.findall(text)) if name[0] == "."
        ]
        left += [posixpath.normpath(posixpath.join(posixpath.dirname(file), one)) for one in names]
    return found


@pytest.mark.parametrize("page", sorted(SCRIPTS))
@pytest.mark.parametrize("lang", ["en", "zh-Hans"])
def test_a_page_gets_every_word_its_scripts_say(client: FlaskClient, page: str, lang: str) -> None:
    own = client.get(f"/i18n/{lang}.json?page={page}").json
    alone = client.get(f"/i18n/{lang}.json?page=lens").json
    every = Catalogue().words(lang)
    assert own.items() <= every.items() and len(own) < len(every)
    for file in all_of(SCRIPTS[page]):
        text = (STATIC / file).read_text("utf-8")
        said = {key for key in TEXT.findall(text) if key in every}
        # The code lens fetches its own words with its releases.
        known = own.keys() | alone.keys() if file.startswith("js/lens/") else own.keys()
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
    assert asked <= set(listed)
    # What opens on request comes then.
    at_once = {one.path for one in bundler.needed("pages/animator.js")}
    for name in ("share/dialog", "panels/metrics", "panels/timeview", "export/gif"):
        assert f"js/{name}.js" in all_of("js/pages/animator.js") and f"{name}.js" not in at_once


def test_module_names_are_read_as_browsers_do() -> None:
    text = 'import { a,\n  b } from "./one.js";\nexport { c } from "two";\n' + (
        'export const later = () => import("./three.js");\nimport "./four.js";\nconst s = "x";'
    )
    assert pages.imported_modules(text) == ["./one.js", "two", "./four.js"]
