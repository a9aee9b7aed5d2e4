"""Packs hold what the modules hold, and what was fetched once is not asked for again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.server import addresses, bundler
from app.server.edition import FOR_EVER, edition

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = re.compile(r"script\('(pages/[\w-]+\.js)'\)")


def used() -> dict[str, list[str]]:
    """Template -> the scripts it names."""
    found = {
        path.name: SCRIPTS.findall(path.read_text("utf-8"))
        for path in sorted((ROOT / "templates").rglob("*.html"))
    }
    return {name: scripts for name, scripts in found.items() if scripts}


def test_every_module_is_in_the_packs_that_need_it_once_and_after_what_it_imports() -> None:
    for entry in sorted({one for scripts in used().values() for one in scripts}):
        text = bundler.pack(entry).text
        told = re.findall(r'^\$\["([\w/.-]+\.js)"\] = \{', text, re.MULTILINE)
        assert told == [one.path for one in bundler.needed(entry)], entry
        for one in bundler.needed(entry):
            assert all(told.index(name) < told.index(one.path) for name in one.imports)
        assert not re.search(r'import\("\.|from "\.', text), "a module is asked for by itself"
        for name in bundler.parts(entry):
            assert bundler.part_at(entry, name) in text


def test_scripts_of_one_page_share_no_module() -> None:
    """Each has a table of its own: what they shared would be there twice."""
    for template, scripts in used().items():
        every = [
            one.path for entry in ("pages/settings.js", *scripts) for one in bundler.needed(entry)
        ]
        assert template == "base.html" or len(every) == len(set(every)), template


@pytest.mark.parametrize(
    "text",
    [
        'import a from "./state.js";',
        'export * from "./state.js";',
        "export default 1;",
        "export let a = 1;",
        "const a = 1;\nexport { a };",
    ],
)
def test_a_form_that_is_not_read_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd.js").write_text(text)
    monkeypatch.setattr(bundler, "JS", tmp_path)
    with pytest.raises(bundler.BundleError, match=r"odd\.js"):
        bundler.module("odd.js")


def test_a_circle_of_imports_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.js").write_text('import { b } from "./other.js";\nexport const a = 1;\n')
    (tmp_path / "other.js").write_text('import { a } from "./one.js";\nexport const b = 1;\n')
    monkeypatch.setattr(bundler, "JS", tmp_path)
    with pytest.raises(bundler.BundleError, match="circle"):
        bundler.needed("one.js")


def test_files_that_a_page_names_are_cached_for_ever(client: FlaskClient) -> None:
    page = client.get("/s/S20").text
    named = re.findall(r'(?:src|href)="(/(?:static|packs|i18n)/[^"#]+)', page)
    assert len(named) > 12
    for address in named:
        answer = client.get(address.replace("&amp;", "&"), buffered=True)
        assert answer.status_code == 200, address
        assert answer.headers["Cache-Control"] == FOR_EVER, address


def test_files_that_scripts_fetch_for_a_first_view_are_cached_for_ever(app: Flask) -> None:
    client = app.test_client()
    with app.test_request_context():
        now = edition()
        fetched = list(addresses.fetched().values())
    assert f'data-edition="{now}"' in client.get("/s/S20").text
    data = ["/api/registry", "/api/cards/K39", "/s/S20/endings.json", "/i18n/en.json"]
    for address in [*fetched, *(f"{one}?v={now}" for one in data)]:
        assert client.get(address, buffered=True).headers["Cache-Control"] == FOR_EVER, address


@pytest.mark.parametrize(
    "address",
    [
        "/static/css/page.css?v=000000000000",
        "/static/css/page.css",
        "/api/registry?v=000000000000",
        "/api/registry",
        "/packs/000000000000/pages/loop.js",
        "/packs/000000000000/pages/animator.js/share/dialog.js",
    ],
)
def test_an_old_address_gets_what_is_new_but_not_for_ever(
    client: FlaskClient, address: str
) -> None:
    answer = client.get(address, buffered=True)
    assert answer.status_code == 200
    assert "immutable" not in answer.headers["Cache-Control"]


@pytest.mark.parametrize(
    "address",
    [
        "/packs/0/pages/nothing.js",
        "/packs/0/pages/..%2fcore%2fkept.js",
        "/packs/0/pages/loop.js/core/kept.js",
        "/packs/0/pages/animator.js/../../../README.md",
    ],
)
def test_only_packs_are_sent(client: FlaskClient, address: str) -> None:
    assert client.get(address).status_code == 404


def test_developers_get_the_modules_as_they_are(app: Flask) -> None:
    app.debug = True
    page = app.test_client().get("/s/S20").text
    assert 'src="/static/js/pages/animator.js"' in page and "/packs/" not in page
    assert 'href="/static/js/animator/state.js"' in page and "data-edition" not in page
    assert re.search(r"/static/css/page\.css\?v=\w{12}", page)


def test_every_sheet_that_comes_later_is_named_by_its_bytes() -> None:
    text = (bundler.JS / "animator/on_request.js").read_text("utf-8")
    sheets = {f"css/{name}.css" for name in re.findall(r',\s+"(\w+)",?\s*\);', text)}
    assert "css/share.css" in sheets
    assert sheets <= set(addresses.FETCHED)
