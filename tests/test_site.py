"""The static site as a folder: whole links, frozen answers, archives, and refusals."""

from __future__ import annotations

import gzip
import html
import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.command.cli import main
from app.core.json_response import plain_json, to_json
from app.questions.table import OPENS, STEPS
from app.site import archives, pyodide
from app.site.building import languages
from app.site.layout import SiteLayout, needs_server, served_addresses
from app.site.rewriting import Page, links
from app.site.tab import build, fetch
from app.site.tab_session import TabSession
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.sim.run import Run


def pages(folder: Path) -> dict[str, str]:
    """File -> text of every page."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob("*.html"))
    }


def places(folder: Path) -> dict[str, Any]:
    text = (folder / "places.js").read_text("utf-8")
    found: dict[str, Any] = json.loads(text.removeprefix("globalThis.highwaterMap = ")[:-2])
    return found


# -- the folder -----------------------------------------------------------------------------------


@pytest.mark.night
def test_every_link_of_every_page_leads_to_a_file(site_folder: Path) -> None:
    files = {path.relative_to(site_folder).as_posix() for path in site_folder.rglob("*")}
    found = {file: text for file, text in pages(site_folder).items() if file != "404.html"}
    assert len(found) > 2 * len(library())
    broken = {
        f"{file} -> {link}"
        for file, text in found.items()
        for link in links(text, file)
        if link not in files
    }
    assert broken == set()


def test_links_are_relative_and_scripts_are_named_by_a_policy(site_folder: Path) -> None:
    for file, text in pages(site_folder).items():
        assert file == "404.html" or not re.search(r'\s(?:href|src|action)="/', text), file
        policy = html.unescape(re.findall(r'Content-Security-Policy" content="([^"]*)"', text)[0])
        script = re.findall(r"script-src ([^;]*)", policy)[0].split()
        assert "'unsafe-eval'" not in script and "'unsafe-inline'" not in script
        inline = re.findall(r"<script(?![^>]*(?:\ssrc=|application/json))[^>]*>", text)
        assert inline == ['<script type="importmap">'], file
        assert sum(one.startswith("'sha256-") for one in script) == 1, file


def test_import_maps_packs_and_lists_name_files_that_are_there(site_folder: Path) -> None:
    for file, text in pages(site_folder).items():
        if file == "404.html":
            continue
        body = re.findall(r'<script type="importmap">(.*?)</script>', text)[0]
        for target in json.loads(body)["imports"].values():
            assert (site_folder / file).parent.joinpath(target.partition("?")[0]).is_file(), target
    for pack in (site_folder / "packs").rglob("*.js"):
        if pack.is_file():
            for target in re.findall(r'import\("(\.[^"]+)"\)', pack.read_text("utf-8")):
                assert (pack.parent / target).is_file(), f"{pack} imports {target}"
    told = places(site_folder)
    assert told["files"].pop("package") == "app.site", "the package that the worker imports"
    named = [one for one in told["files"].values() if isinstance(one, str)]
    for name in (*named, *told["packs"].values(), *told["answers"]):
        assert (site_folder / name).exists(), name
    kept = json.loads((site_folder / "files.js").read_text().partition(" = ")[2][:-2])
    for name in kept["first"]:
        path = site_folder / name
        assert path.is_file() or (path / "index.html").is_file(), name
    assert set(told["words"]) == {"en", "zh"} and "folder.loading" in told["words"]["zh"]


def test_there_are_a_list_of_pages_a_manifest_and_notices(site_folder: Path) -> None:
    listed = (site_folder / "sitemap.xml").read_text()
    slug = find("R20").slug
    assert f"<loc>https://example.org/some/where/s/{slug}/</loc>" in listed
    assert f"<loc>https://example.org/some/where/zh/s/{slug}/</loc>" in listed
    manifest = json.loads((site_folder / "site.webmanifest").read_text())
    assert all((site_folder / icon["src"]).is_file() for icon in manifest["icons"])
    notices = (site_folder / "LICENCES.txt").read_text()
    for name in ("Pyodide", "pyyaml", "lark", "flask", "jinja2", "Mozilla Public License"):
        assert name in notices, name
    assert 'src="/some/where/places.js"' in (site_folder / "404.html").read_text()


# -- frozen runs ----------------------------------------------------------------------------------


def test_a_frozen_run_is_what_the_engine_plays(site_folder: Path) -> None:
    run = Run(find("R20"), "Z0102", 0)
    replay = Replay(run)
    steps = json.loads(gzip.decompress((site_folder / f"runs/{run.digest}.bin").read_bytes()))
    assert [step["n"] for step in steps] == list(range(replay.total + 1))
    for step in steps:
        assert to_json(step) == to_json(*replay.steps(step["n"], 1))
    for lang, title in (("en", "vanish"), ("zh", "会丢")):
        told = gzip.decompress((site_folder / f"runs/{run.digest}.{lang}.bin").read_bytes())
        found = json.loads(told)
        assert found["text"] == run.text()
        assert found["facts"]["digest"] == run.digest
        assert title in found["facts"]["scenario"]["title"]
    index = json.loads((site_folder / "runs/index.json").read_text())
    assert run.digest in index and all((site_folder / f"runs/{one}.bin").is_file() for one in index)
    names = json.loads((site_folder / "runs/library.json").read_text())
    assert names["runs"]["R20"]["Z0102"] == run.digest and names["kafkas"]["0.10.2.2"] == "Z0102"


# -- where links lead -----------------------------------------------------------------------------

DIGEST = "0123456789abcdef"
LAYOUT = SiteLayout(
    ("en", "zh"),
    {"/", "/glossary", "/learn", "/s/vanish", "/batch"},
    {"R20": "vanish"},
    answers={"loop/a.json"},
)


@pytest.mark.parametrize(
    ("link", "lang", "address"),
    [
        ("/", "en", ""),
        ("/", "zh", "zh/"),
        ("/glossary#F-6", "zh", "zh/glossary/#F-6"),
        ("/s/vanish?profile=Z0102&step=3", "en", "s/vanish/?profile=Z0102&step=3"),
        ("/s/R20?lang=zh", "en", "zh/s/vanish/"),
        ("/s/vanish?lang=en", "zh", "s/vanish/"),
        ("/learn?s=S02", "en", "at/?p=/learn&s=S02"),
        ("/s/R20/ladder", "zh", "zh/at/?p=/s/vanish/ladder"),
        ("/r/0123456789abcdef?step=3", "en", "r/?run=0123456789abcdef&step=3"),
        ("/e/0123456789abcdef", "zh", "zh/e/?run=0123456789abcdef"),
        (
            "/r/0123456789abcdef/compare?with=K39",
            "en",
            "at/?p=/r/0123456789abcdef/compare&with=K39",
        ),
        ("/batch?scenario=vanish", "en", "batch/?scenario=vanish"),
        ("/batch/0123456789ab", "en", "needs-server/"),
        ("/i18n/zh-Hans.json?page=lens", "en", "i18n/zh-Hans.lens.json"),
        ("/static/icons.svg?v=1#brand", "zh", "static/icons.svg?v=1#brand"),
        ("/loop/a.json", "zh", "loop/a.json"),
    ],
)
def test_a_link_of_the_server_leads_into_the_folder(link: str, lang: str, address: str) -> None:
    assert LAYOUT.address(link, lang) == address


def test_pages_that_need_a_server_are_none_of_a_tab() -> None:
    app = build(TabSession())
    addresses = {rule.rule for rule in app.url_map.iter_rules()}
    refused = {address for address in addresses if needs_server(address)}
    assert {address for address in refused if not address.startswith("/api/")} == set()
    assert {fetch(app, "GET", address)[0] for address in served_addresses()} == {404}
    assert {"/advisor", "/batch", "/class", "/learn/deck.apkg"} <= {*served_addresses()}


def test_a_page_links_relatively_from_where_it_lies() -> None:
    page = Page(LAYOUT, "/s/vanish", "zh")
    assert page.file == "zh/s/vanish/index.html" and page.root == "../../../"
    assert page.relative("/learn") == "../../../zh/learn/"
    assert page.relative("?lang=en") == "../../../s/vanish/"
    assert page.relative("https://kafka.apache.org/") == "https://kafka.apache.org/"
    assert page.relative("#main") == "#main"


# -- Python in the archives -----------------------------------------------------------------------

ALONE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from app.site.tab_session import TabSession
tab_session = TabSession()
opened = tab_session.ask("open", json.dumps({"scenario": "R20", "profile": "Z0102"}), "zh")
run = json.loads(opened)["run"]
moved = tab_session.ask("move", json.dumps({"run": run, "step": 9, "text": "kill 3"}), "en")
if len(sys.argv) > 2:
    from app.site import tab
    app = tab.build(tab_session)
    asked = f"/practice/question?run={run}&step=9"
    for path in ("/cluster", f"/r/{run}/compare", "/s/R20/ladder", asked):
        status, _, body = tab.fetch(app, "GET", path)
        assert status == 200 and b"<main" in body, path
print(json.dumps([opened, moved, sorted(json.loads(tab_session.new_runs()))]))
"""


def unpacked(folder: Path, *found: archives.Archive) -> Path:
    for archive in found:
        zipfile.ZipFile(io.BytesIO(archive.data)).extractall(folder)
    return folder


def alone(folder: Path, *more: str) -> Any:
    """What Python says that has nothing but its standard library and these files."""
    command = [sys.executable, "-I", "-S", "-c", ALONE, str(folder), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_engine_archive_answers_as_the_server_does_with_nothing_else(tmp_path: Path) -> None:
    opened, moved, new = alone(unpacked(tmp_path, archives.engine_archive()))
    run = Run(find("R20"), "Z0102", 0)
    own = TabSession()
    told = json.dumps({"scenario": "R20", "profile": "Z0102"})
    assert opened == own.ask("open", told, "zh")
    told = json.dumps({"run": run.digest, "step": 9, "text": "kill 3"})
    assert moved == own.ask("move", told, "en")
    assert new == sorted({run.digest, json.loads(moved)["run"]})


def test_the_pages_archive_renders_pages_with_nothing_else(tmp_path: Path) -> None:
    both = archives.engine_archive(), archives.pages_archive()
    alone(unpacked(tmp_path, *both), "pages")


@pytest.mark.night
def test_archives_are_the_same_each_time_and_hold_no_native_code() -> None:
    for make in (archives.engine_archive, archives.pages_archive):
        found = make()
        assert found.data == make().data
        names = zipfile.ZipFile(io.BytesIO(found.data)).namelist()
        assert not [name for name in names if name.endswith((".so", ".pyd", ".dylib", ".pyc"))]
        assert all(one.licence for one in found.packages)


@pytest.mark.parametrize("code", ["R20", "S01", "S31", "S82"])
def test_json_without_native_code_has_the_same_bytes(code: str) -> None:
    replay = Replay(Run(find(code), find(code).profiles[0], 0))
    steps = replay.steps(0, replay.total + 1)
    for data in (steps, replay.facts(), replay.dashboard(0), replay.possible(0)):
        assert plain_json(data) == to_json(data)


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dance", "join"])
def test_the_door_refuses_in_a_sentence(name: str) -> None:
    assert name not in {**OPENS, **STEPS}
    tab_session = TabSession()
    refused = json.loads(tab_session.ask(name, "{}", "en"))
    assert not refused["ok"] and name in refused["sentence"]
    broken = json.loads(tab_session.ask("open", '{"scenario": NaN}', "en"))
    assert broken["code"] == "invalid"
    assert (
        json.loads(tab_session.ask("open", '{"scenario": "nowhere"}', "zh"))["code"] == "not_found"
    )
    assert (
        json.loads(tab_session.ask("why", '{"run": "0123456789abcdef"}', "en"))["code"] == "invalid"
    )


def test_a_tab_shortens_a_failing_run() -> None:
    tab_session = TabSession()
    run = tab_session.replays.register(Run(find("R20"), "Z0102", 0))
    sent = json.dumps({"run": run, "invariant": "I7"}).encode()
    status, _, body = fetch(build(tab_session), "POST", "/api/shorten", sent, "application/json")
    found = json.loads(body)
    assert status == 200 and found["ok"] and found["after"] <= found["before"]
    assert found["digest"] in json.loads(tab_session.new_runs())
    assert found["url"].startswith(f"/r/{found['digest']}?step=")


def run_command(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["site", *args])
    return done.exit_code, done.output


def test_a_folder_that_is_no_site_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    code, said = run_command(str(tmp_path))
    assert code == 2 and "is not empty" in said and len(said.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--lang", "en,xx"), "xx is no language of Highwater; there are: en, zh."),
        (("--lang", ","), "Name at least one language"),
        (("--base", "here"), "--base here is no address"),
        (("--pyodide", "nowhere"), "nowhere has no package.json: unpack the npm package pyodide"),
    ],
)
def test_unusable_options_are_named(tmp_path: Path, args: tuple[str, ...], words: str) -> None:
    code, said = run_command(str(tmp_path / "site"), *args)
    assert code == 2 and words in said and len(said.splitlines()) == 1
    assert not (tmp_path / "site").exists()


def test_another_pyodide_is_named(tmp_path: Path) -> None:
    for name in pyodide.NEEDED:
        (tmp_path / name).write_text('{"version": "0.27.0"}')
    code, said = run_command(str(tmp_path / "site"), "--pyodide", str(tmp_path))
    assert code == 2 and f"holds pyodide 0.27.0, and this needs pyodide {pyodide.VERSION}" in said


@pytest.mark.parametrize("kind", ["none", "offline", "other"])
def test_without_pyodide_a_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    if kind != "none":
        npm = tools / "npm"
        body = "exit 1" if kind == "offline" else "echo not this > pyodide.tgz"
        npm.write_text(f"#!/bin/sh\n{body}\n")
        npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    code, said = run_command(str(tmp_path / "site"))
    assert code == 2 and "--pyodide DIR" in said and len(said.splitlines()) == 1
    words = {"none": "no npm", "offline": "cannot fetch", "other": "its hash differs"}
    assert words[kind] in said
    assert not (tmp_path / "cache").exists()


def test_languages_are_named_once_in_the_order_given() -> None:
    assert languages("zh, en,zh") == ("zh-Hans", "en")
