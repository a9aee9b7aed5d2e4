"""The documentation builds without a warning: links, anchors and the table of contents."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
import yaml

from app.command.cli import main as cli
from tests.conftest import ROOT, THOROUGH

pytestmark = pytest.mark.gate

DOCS = ROOT / "docs"
KINDS = ("tutorial", "how-to", "reference", "explanation")
AT_THE_TOP = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def build(source: Path, target: Path, builder: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", builder]
    return subprocess.run([*command, str(source), str(target)], capture_output=True, text=True)


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """All is read and every link followed; the HTML itself is the next test's."""
    built = build(DOCS, tmp_path / "site", "html" if THOROUGH else "dummy")
    assert built.returncode == 0, built.stderr


def test_a_broken_link_and_a_page_outside_the_contents_fail(tmp_path: Path) -> None:
    broken = {
        "page": "[a page](missing.md)",
        "heading": "[a heading](index.md#missing)",
        "file": "[a file](missing.json)",
        "picture": "![a picture](missing.png)",
        "outside": "",
    }
    source = tmp_path / "docs"
    source.mkdir()
    shutil.copy(DOCS / "conf.py", source)
    contents = "\n".join(name for name in broken if name != "outside")
    (source / "index.md").write_text(f"# Title\n\n```{{toctree}}\n{contents}\n```\n", "utf-8")
    for name, text in broken.items():
        (source / f"{name}.md").write_text(f"# Other\n\n{text}\n", "utf-8")
    built = build(source, tmp_path / "site", "html")
    assert built.returncode != 0
    assert (tmp_path / "site/page.html").exists()
    for name, text in broken.items():
        reason = "toctree" if name == "outside" else "missing"
        found = [line for line in built.stderr.splitlines() if f"{name}.md" in line]
        assert any(reason in line for line in found), (text, built.stderr)


def test_every_page_is_of_one_kind() -> None:
    """Only the index and the benchmarks are outside the four folders."""
    folders = {path.relative_to(DOCS).parts[0] for path in DOCS.rglob("*.md")}
    assert folders == {*KINDS, "index.md", "benchmarks.md"}


def test_files_that_pages_name_exist() -> None:
    """In backticks, with a folder: below the project, the engine or the scripts."""
    rooms = (ROOT, ROOT / "engine", ROOT / "static/js")
    named = re.compile(r"`((?:[\w-]+/)+[\w.-]+\.(?:py|js|json|yaml|txt|md))`")
    pages = [*DOCS.rglob("*.md"), *(ROOT / name for name in AT_THE_TOP)]
    found = [(page, path) for page in pages for path in named.findall(page.read_text("utf-8"))]
    assert len(found) > 50, "the pattern finds what pages name"
    lost = [
        f"{page.relative_to(ROOT)}: {path}"
        for page, path in sorted(found)
        if not any((room / path).exists() for room in rooms)
    ]
    assert lost == []


CALLED = re.compile(r"(?:^|[|`] *|/)highwater +([a-z][^`|\n]*)", re.MULTILINE)
"""A call of the command, at the start of a line, behind a pipe or a folder, or in backticks."""


def unknown(call: str) -> str:
    """The command or option of a call that does not exist, or ""."""
    command: click.Command = cli
    for word in re.sub(r"'[^']*'|\"[^\"]*\"", "text", call.split("#")[0]).split():
        options = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        if isinstance(command, click.Group) and not word.startswith("-"):
            if word not in command.commands:
                return word
            command = command.commands[word]
        elif word.startswith("--") and word.partition("=")[0] not in {*options, "--help"}:
            return word
    return ""


def test_commands_that_pages_show_exist() -> None:
    pages = [*DOCS.rglob("*.md"), *(ROOT / name for name in AT_THE_TOP[:-1])]
    calls = [(page, call) for page in pages for call in CALLED.findall(page.read_text("utf-8"))]
    assert len(calls) > 60, "the pattern finds what pages show"
    lost = [(page.name, call, unknown(call)) for page, call in calls if unknown(call)]
    assert lost == []


@pytest.mark.parametrize("name", AT_THE_TOP)
def test_links_outside_the_site_lead_somewhere(name: str) -> None:
    text = re.sub(r"`[^`\n]*`", "", (ROOT / name).read_text("utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert [target for target in targets if not _leads_somewhere(target)] == []


def _leads_somewhere(target: str) -> bool:
    if target.startswith(("http://", "https://")):
        return True
    path, _, anchor = target.partition("#")
    file = ROOT / path
    return file.exists() and (not anchor or anchor in _anchors(file))


def _anchors(file: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST write them."""
    headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in headings}


def test_the_version_is_that_of_the_newest_release() -> None:
    """Of the changelog, the project and the lock."""
    headings = re.findall(r"^## \[(.+?)\](?: - (.+))?$", changelog(), re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    newest, day = headings[1]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", dated) for _, dated in headings[1:]), day
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["version"] == newest
    with (ROOT / "uv.lock").open("rb") as file:
        packages = tomllib.load(file)["package"]
    assert [one["version"] for one in packages if one["name"] == "highwater"] == [newest]


def test_every_change_stands_under_its_kind() -> None:
    found = set(re.findall(r"^### (.+)$", changelog(), re.MULTILINE))
    assert found <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def changelog() -> str:
    return (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["model", "site", "input"])
def test_issue_templates_ask_for_what_repeats_the_fault(name: str) -> None:
    """The keys that GitHub requires; every question has a label and an id of its own."""
    form = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{name}.yml").read_text("utf-8"))
    assert form["name"] and form["description"]
    assert {one["type"] for one in form["body"]} <= {"input", "textarea", "dropdown", "markdown"}
    ids = [one["id"] for one in form["body"]]
    assert len(set(ids)) == len(ids)
    assert all(one["attributes"]["label"] for one in form["body"])
    assert any(one.get("validations", {}).get("required") for one in form["body"])
