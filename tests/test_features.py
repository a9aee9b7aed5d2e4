"""A feature can be deleted: its folders, its command and its row; the rest imports and starts."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from app.core.features import FEATURES, Feature
from tests.conftest import ROOT
from tests.test_tidy import imports, python_files, short

TABLE: Final = "app/core/features.py"
TOPS: Final = ("app", "engine", "static", "templates")
BY_NAME: Final = {feature.name: feature for feature in FEATURES}
NEEDED: Final = {
    *("advisor", "batch", "cluster", "compare", "compiled", "editor", "explore", "find"),
    *("incident", "learn", "lens", "python_api", "recordings"),
}
"""Features that another room imports, or links to: they cannot be deleted alone."""
START: Final = """
import sys
from pathlib import Path
from app.command.cli import main
from app.core import config
from app.find.index import index
from app.server.factory import build
client = build(config.load(instance=Path(sys.argv[1]))).test_client()
for path in ("/", "/scenarios", "/s/S20", "/cluster", "/api/search?q=GC+pause"):
    answer = client.get(path)
    assert answer.status_code == 200, (path, answer.status)
assert client.get(f"/{sys.argv[2]}").status_code == 404
assert index().search("GC pause").hits
print(*main.commands)
"""


def command_of(feature: Feature) -> str:
    return (feature.command and feature.command.name) or feature.name


def paths(feature: Feature) -> list[str]:
    """Return the files and folders of a feature."""
    name = feature.name
    found = [f"{folder}/{name}" for folder in ("app", "engine", "templates", "static/js")]
    found += [f"static/css/{name}.css", f"static/i18n/{name}.en.json"]
    return [*found, f"app/command/{command_of(feature)}.py"]


def blueprints(feature: Feature) -> set[str]:
    modules = [f"app.{feature.name}.{name}" for name in f"{feature.pages} {feature.served}".split()]
    return {import_module(name).blueprint.name for name in modules}


def of_feature(path: Path, feature: Feature) -> bool:
    return any(path.is_relative_to(ROOT / own) for own in paths(feature))


@cache
def links() -> tuple[tuple[Path, str], ...]:
    """Return the files that link to a page, with the page's blueprint."""
    sources = (*python_files("app"), *(ROOT / "templates").rglob("*.html"))
    linking = re.compile(r"url_for\(\s*[\"'](\w+)\.")
    return tuple((path, name) for path in sources for name in linking.findall(path.read_text()))


def importers(feature: str) -> tuple[str, ...]:
    """Return where modules of a feature are imported, and links to its pages made, by others."""
    own = {own.removesuffix(".py").replace("/", ".") for own in paths(BY_NAME[feature])}
    pages = blueprints(BY_NAME[feature])
    linking = tuple(
        f"{short(path)} links to {name}"
        for path, name in links()
        if name in pages and not of_feature(path, BY_NAME[feature])
    )
    return linking + tuple(
        f"{short(path)}:{line} imports {module}"
        for path in python_files("app", "engine")
        if not of_feature(path, BY_NAME[feature])
        for line, module, name in imports(path)
        if any(f"{module}.{name}.".startswith(f"{one}.") for one in own)
    )


@pytest.mark.night
def test_only_some_features_are_needed_by_others() -> None:
    """The server, the command line and the search read the table only."""
    found = {feature: importers(feature) for feature in BY_NAME}
    assert {feature for feature, uses in found.items() if uses} == NEEDED, found


def test_a_row_has_what_it_names() -> None:
    for feature in FEATURES:
        for name in (*feature.pages.split(), *feature.served.split()):
            assert (ROOT / f"app/{feature.name}/{name}.py").exists(), feature.name


def delete(feature: Feature, tree: Path) -> None:
    """Delete the files of a feature, and its row."""
    for own in paths(feature):
        path = tree / own
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    table = tree / TABLE
    lines = table.read_text("utf-8").splitlines()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.Call) and ast.unparse(node).startswith(f"Feature('{feature.name}'"):
            del lines[node.lineno - 1 : node.end_lineno]
            break
    else:
        raise AssertionError(f"{TABLE} has no row for {feature.name}")
    table.write_text("\n".join(lines) + "\n", "utf-8")


def copied(folder: Path) -> Path:
    """Return a copy of the sources."""
    tree = folder / "tree"
    without = shutil.ignore_patterns("__pycache__", "*.so")
    for top in TOPS:
        shutil.copytree(ROOT / top, tree / top, ignore=without)
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def output(tree: Path, program: str, *arguments: str) -> str:
    """Return what a program prints that imports the copy."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("HIGHWATER_")}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=tree,
        env={**own, "HIGHWATER_PURE": "1", "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


ALONE: Final = sorted(BY_NAME.keys() - NEEDED)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.gate if name == "upgrade" else pytest.mark.night)
        for name in ALONE
    ],
)
def test_the_rest_starts_and_searches_without_a_feature(name: str, tmp_path: Path) -> None:
    tree = copied(tmp_path)
    feature = BY_NAME[name]
    delete(feature, tree)
    commands = output(tree, START, str(tmp_path / "instance"), name).split()
    assert "run" in commands and command_of(feature) not in commands
