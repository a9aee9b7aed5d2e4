"""What a page fetches before it can show anything: every module at once, its own words, no more."""

from __future__ import annotations

import http.client
import posixpath
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.command.bench.server import serving
from app.common.words import PAGES, Catalogue
from app.web import preloads
from app.web.pages import modules_of

STATIC = Path(__file__).resolve().parents[2] / "static"
SCRIPTS = {page: f"js/pages/{page}.js" for page in PAGES}
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
        names = [name for name in (*preloads.imports(text), *LATER.findall(text)) if name[0] == "."]
        left += [posixpath.normpath(posixpath.join(posixpath.dirname(file), one)) for one in names]
    return found


@pytest.mark.parametrize("page", sorted(PAGES))
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
        known = own.keys() | alone.keys() if file.startswith("js/panels/lens") else own.keys()
        assert said <= known, file
        # metric. is what a batch counts as well as what the dashboard draws.
        for start in set(BEGUN.findall(text)) - {"metric."}:
            missing = {key for key in every if key.startswith(start)} - known
            assert not missing, f"{file}: {start}"


def test_a_page_nobody_has_is_refused(client: FlaskClient) -> None:
    answer = client.get("/i18n/en.json?page=nowhere")
    assert answer.status_code == 400 and "page" in answer.json["sentence"]


def test_every_module_of_the_first_view_is_asked_for_by_the_page(client: FlaskClient) -> None:
    page = client.get("/s/S20").text
    listed = re.findall(r'<link rel="modulepreload" href="/static/([^"]+)">', page)
    assert page.index("importmap") < page.index("modulepreload"), "names are known before modules"
    assert len(listed) == len(set(listed)) and "vendor/socket.io-4.8.4.mjs" in listed
    own = {file for file in listed if file.startswith("js/")}
    at_once = {
        file
        for file in all_of("js/pages/animator.js")
        if file in own or file == "js/pages/animator.js"
    }
    for file in at_once:
        for name in preloads.imports((STATIC / file).read_text("utf-8")):
            if name[0] == ".":
                near = posixpath.normpath(posixpath.join(posixpath.dirname(file), name))
                assert near in own, f"{file} imports {near}, which the page does not name"
    # What opens on request comes then.
    for name in ("share/dialog", "panels/metrics", "panels/timeview", "export/gif"):
        assert f"js/{name}.js" in all_of("js/pages/animator.js") - own


def test_module_names_are_read_as_browsers_do(client: FlaskClient) -> None:
    text = 'import { a,\n  b } from "./one.js";\nexport { c } from "two";\n' + (
        'export const later = () => import("./three.js");\nimport "./four.js";\nconst s = "x";'
    )
    assert preloads.imports(text) == ["./one.js", "two", "./four.js"]
    with client.application.test_request_context():
        assert modules_of("js/animator/playing.js")[0].startswith("/static/js/")


def test_one_connection_carries_many_files() -> None:
    with serving() as port:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        line.request("GET", "/static/js/pages/animator.js")
        first = line.getresponse()
        assert first.read() == (STATIC / "js/pages/animator.js").read_bytes()
        kept = line.sock
        line.request(
            "GET", "/static/js/pages/animator.js", headers={"If-None-Match": first.headers["ETag"]}
        )
        again = line.getresponse()
        assert (again.status, again.read(), line.sock) == (304, b"", kept)
        line.request("GET", "/static/nothing.js", headers={"Accept": "application/json"})
        missing = line.getresponse()
        assert missing.status == 404 and missing.read() and line.sock is kept
        line.request("POST", "/static/js/pages/animator.js", body=b"x" * 9)
        refused = line.getresponse()
        assert refused.status == 405 and refused.read() and line.sock is kept
        line.close()
