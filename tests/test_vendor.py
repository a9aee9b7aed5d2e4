"""The vendored browser libraries are what VENDOR.json says, and nothing is loaded from elsewhere.

A changed byte, an unlisted file or an address outside this site fails here: the pages promise to
work without any other server, and their Content-Security-Policy would refuse one anyway.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
VENDOR = ROOT / "static" / "vendor"
# Not libraries: how the folder is made, and under which licences.
TOOLS = {"VENDOR.json", "package.json", "package-lock.json", "vendor.mjs"}
# Names of XML namespaces are not addresses: nothing is fetched from them.
NAMESPACE = re.compile(r"https?://www\.w3\.org/(?:2000/svg|1999/xlink|1999/xhtml)")
ADDRESS = re.compile(r"""(?:https?:)?//[a-z0-9-]+(?:\.[a-z0-9-]+)+""", re.IGNORECASE)


def entries() -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads((VENDOR / "VENDOR.json").read_text("utf-8"))
    return listed


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: str(entry["file"]))
def test_a_vendored_file_is_unchanged(entry: dict[str, Any]) -> None:
    content = (VENDOR / entry["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == entry["sha256"], "run: node vendor.mjs"
    assert entry["licence"] and entry["version"] in entry["file"] and entry["from"]
    assert b"sourceMappingURL" not in content


def test_every_file_is_listed() -> None:
    found = {path.name for path in VENDOR.iterdir() if path.is_file()} - TOOLS
    assert found == {str(entry["file"]) for entry in entries()}


def test_the_versions_are_those_of_package_json() -> None:
    wanted = json.loads((VENDOR / "package.json").read_text("utf-8"))["devDependencies"]
    for entry in entries():
        assert wanted[entry["name"]] == entry["version"]


def own_files() -> list[Path]:
    kinds = {".js", ".mjs", ".css", ".html", ".svg", ".json"}
    files = [*(ROOT / "static").rglob("*"), *(ROOT / "templates").rglob("*")]
    return sorted(f for f in files if f.suffix in kinds and VENDOR not in f.parents)


def test_nothing_comes_from_another_site() -> None:
    for path in own_files():
        text = NAMESPACE.sub("", path.read_text("utf-8"))
        # `//` also begins a comment: only what looks like a host name after it counts.
        assert not [a for a in ADDRESS.findall(text) if not a.endswith((".js", ".css"))], path
        if path.suffix == ".html":
            assert not re.search(r"\son[a-z]+=[\"']", text), f"{path}: no inline event handlers"
            assert not re.search(r"\|\s*safe\b", text), f"{path}: nothing is trusted unescaped"
