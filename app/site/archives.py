"""Archives of Python files that the Web Worker of a static site unpacks."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

from app.core import compiled_engine
from app.core.config import ROOT
from engine.scenarios.file import own_tree
from engine.scenarios.places import Places

ENGINE_PACKAGES: Final = ("pyyaml", "lark")
PAGES_PACKAGES: Final = (
    "flask",
    "werkzeug",
    "jinja2",
    "markupsafe",
    "click",
    "itsdangerous",
    "blinker",
)
FIRST_ROOMS: Final = ("admission", "core", "questions", "runs", "storage", "workers")
"""Rooms of `app` that answer questions about runs; the others render pages."""
FIRST_FILES: Final = (
    "__init__.py",  # of a wheel
    "app/__init__.py",
    "app/site/__init__.py",
    "app/site/tab_session.py",
    "app/words/*.json",
)
DATA: Final = {".json", ".md", ".py", ".txt", ".yaml", ".yml", ".lark", ".html"}
UNUSED: Final = ("werkzeug/debug/", "click/testing", "flask/testing_", "lark/__pyinstaller")
LIBRARY: Final = re.compile(r"engine/scenarios/library/.*\.yaml$")
EPOCH: Final = (2020, 1, 1, 0, 0, 0)
"""Time of every file in an archive: equal files make equal archives."""


@dataclass(frozen=True)
class Package:
    """Installed pure-Python distribution that an archive contains."""

    name: str
    version: str
    licence: str
    """Text of its licence files."""


@dataclass(frozen=True)
class Archive:
    """Bytes of a zip file, and the distributions in it."""

    data: bytes
    packages: tuple[Package, ...]


def engine_archive() -> Archive:
    """Return the engine, the questions and the libraries that they import."""
    return _archive(_first_files(), ENGINE_PACKAGES)


def pages_archive() -> Archive:
    """Return the pages: handlers, templates, words, and the web framework."""
    first = _first_files()
    files = {name: path for name, path in _tree("app") if name not in first}
    for folder in ("templates", "static/i18n"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in DATA:
                files[path.relative_to(ROOT).as_posix()] = path
    for name in ("coverage.json", "vendor/VENDOR.json"):
        files[f"static/{name}"] = ROOT / "static" / name
    return _archive(files, PAGES_PACKAGES)


def _first_files() -> dict[str, Path]:
    files = dict(_tree("engine"))
    for room in FIRST_ROOMS:
        files |= dict(_tree(f"app/{room}"))
    for pattern in FIRST_FILES:
        files |= {path.relative_to(ROOT).as_posix(): path for path in ROOT.glob(pattern)}
    return files


def _tree(folder: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in DATA and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT).as_posix(), path


def _archive(own_files: dict[str, Path], packages: Iterable[str]) -> Archive:
    """Return an archive of files below ROOT, named as Python finds them, and of packages."""
    within = ROOT.relative_to(compiled_engine.ON_PATH)
    files = {(within / name).as_posix(): path for name, path in own_files.items()}
    bundled = []
    for name in packages:
        package, own = _installed(name)
        bundled.append(package)
        files |= own
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(files):
            path = files[name]
            data = _as_json(path) if LIBRARY.search(name) else path.read_bytes()
            archive.writestr(zipfile.ZipInfo(name, EPOCH), data, zipfile.ZIP_DEFLATED, 9)
    return Archive(buffer.getvalue(), tuple(bundled))


def _as_json(path: Path) -> bytes:
    """Return a file of the library as `engine.scenarios.file.own_tree` reads it fast."""
    tree = own_tree(path.read_text("utf-8"), Places(path.name))
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode()


def _installed(name: str) -> tuple[Package, dict[str, Path]]:
    """Return an installed distribution and its pure-Python files, with its metadata."""
    installed = distribution(name)
    files: dict[str, Path] = {}
    licences = []
    for entry in installed.files or ():
        text = entry.as_posix()
        path = Path(str(installed.locate_file(entry)))
        if ".dist-info/" in text:
            if any(word in entry.name.upper() for word in ("LICEN", "COPYING", "NOTICE")):
                licences.append(path.read_text("utf-8"))
            if entry.name == "METADATA":
                files[text] = path
        elif entry.suffix in {".py", ".lark"} and not text.startswith(("..", *UNUSED)):
            files[text] = path
    return Package(name, installed.version, "\n".join(licences)), files
