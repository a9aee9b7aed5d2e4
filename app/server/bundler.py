"""Packs: the modules of a page in one file, for few round trips, addressed by its hash.

The plain modules below ``static/js`` are the source, and there is no build step: a pack is written
by the server on the first request.  What a page needs at once is one pack; what it fetches later
(``import()``) is a part, which holds what the page does not have yet. Libraries stay files of their
own, found through the import map.

A module becomes a block that leaves its exports in a table, ``$``, under its path.  That says the
same as the module does because our modules import in no circle, and nothing exported is assigned
again; `tests/app/test_packs.py` holds them to it, and to the few forms of import and export that
are read here.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from dataclasses import dataclass
from typing import Final

from flask import Blueprint, Response

from app.core.config import ROOT
from app.core.memoize import once
from app.core.refusals import RequestError
from app.server.edition import FOR_EVER

blueprint = Blueprint("packs", __name__)

JS: Final = ROOT / "static" / "js"
FORMS: Final = re.compile(r"^(?:import|export)\b", re.MULTILINE)
IMPORT: Final = re.compile(
    r'^import (?:\* as (?P<whole>[\w$]+) from |\{(?P<names>[^}"]*)\} from )?"(?P<path>[^"]+)";$',
    re.MULTILINE,
)
EXPORT: Final = re.compile(
    r"^export (?=(?:async )?(?:function\*?|class|const) (?P<name>[\w$]+)\b)", re.MULTILINE
)
COMMENT: Final = re.compile(r"^[ \t]*(?://.*|/\*\*[^*]*(?:\*(?!/)[^*]*)*\*/[ \t]*)\n", re.MULTILINE)
"""Lines that are comments alone.  Minifiers without a grammar break nested template literals."""
LATER: Final = re.compile(r'\bimport\(\s*"(\.[^"]+)"\s*\)')
SCRIPT: Final = re.compile(r"\bscript\('([^']+)'")
"""How a template names the script of its page."""
SITE_ENTRY: Final = "site/page.js"
"""The script that a static site adds to each page."""
HEAD: Final = """const $ = {};
const $later = async (name) => {
  if (!$[name]) (await $parts[name]()).default($, $later);
  return $[name];
};
export { $ as modules, $parts as parts, $later as later };
"""
"""The table of modules, and what fetches a part; tests take modules from them by name."""


class BundleError(Exception):
    """Error for a module that imports or exports in a way that is not supported."""


@dataclass(frozen=True)
class Module:
    """One file below ``static/js``: its text, and the paths there of what it imports."""

    path: str
    text: str
    imports: tuple[str, ...]
    """Of own modules; those it needs at once."""
    libraries: tuple[str, ...]
    later: tuple[str, ...]


@dataclass(frozen=True)
class Pack:
    """Bytes that are sent; `digest` names them."""

    digest: str
    text: str

    @staticmethod
    def of(text: str) -> Pack:
        small = COMMENT.sub("", text)
        return Pack(hashlib.sha256(small.encode()).hexdigest()[:12], small)


def near(path: str, name: str) -> str:
    """Return the path below ``static/js`` that the module `path` calls `name`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))


@once
def module(path: str) -> Module:
    """Read a file.  Raises BundleError for a form that packs do not know."""
    text = (JS / path).read_text("utf-8")
    understood = len(IMPORT.findall(text)) + len(EXPORT.findall(text))
    if understood != len(FORMS.findall(text)):
        raise BundleError(
            f"{path} imports or exports in a form that app/server/bundler.py cannot read."
        )
    names = [match["path"] for match in IMPORT.finditer(text)]
    return Module(
        path,
        text,
        tuple(near(path, name) for name in names if name[0] == "."),
        tuple(name for name in names if name[0] != "."),
        tuple(near(path, name) for name in LATER.findall(text)),
    )


def needed(entry: str) -> list[Module]:
    """Return what a module needs at once, itself the last: each after all that it imports."""
    modules: dict[str, Module] = {}
    on_the_way: list[str] = []

    def visit(path: str) -> None:
        if path in on_the_way:
            raise BundleError(f"{' -> '.join((*on_the_way, path))} is a circle of imports.")
        if path in modules:
            return
        on_the_way.append(path)
        for name in module(path).imports:
            visit(name)
        on_the_way.pop()
        modules[path] = module(path)

    visit(entry)
    return list(modules.values())


def parts(entry: str) -> list[str]:
    """Return modules that a page may fetch later, and those that these may, by their paths."""
    at_once = {script.path for script in needed(entry)}
    left = [name for script in needed(entry) for name in script.later]
    names: dict[str, None] = {}
    for name in left:
        if name not in at_once and name not in names:
            names[name] = None
            left += [later for script in needed(name) for later in script.later]
    return list(names)


def _module_block(script: Module) -> str:
    """Return a module as a block.  Its libraries stand at the top of the pack."""

    def imported(match: re.Match[str]) -> str:
        path = match["path"]
        where = f'$["{near(script.path, path)}"]' if path[0] == "." else _library(path)
        if match["whole"]:
            return f"const {match['whole']} = {where};"
        if match["names"]:
            return f"const {{{match['names'].replace(' as ', ': ')}}} = {where};"
        return ""

    body = LATER.sub(lambda match: f'$later("{near(script.path, match[1])}")', script.text)
    names = ", ".join(match["name"] for match in EXPORT.finditer(body))
    body = EXPORT.sub("", IMPORT.sub(imported, body))
    return f'{{\n{body}\n$["{script.path}"] = {{ {names} }};\n}}\n'


def _library(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name)


def libraries(modules: list[Module]) -> list[str]:
    """Return bare names that the modules import, each once."""
    return list(dict.fromkeys(name for one in modules for name in one.libraries))


def _brought(modules: list[Module]) -> str:
    return "".join(f'import * as {_library(name)} from "{name}";\n' for name in libraries(modules))


@once
def pack(entry: str) -> Pack:
    """Return all that a page's module needs at once."""
    modules = needed(entry)
    loaders = ",".join(f'"{name}": () => import("{part_at(entry, name)}")' for name in parts(entry))
    blocks = "".join(map(_module_block, modules))
    return Pack.of(f"{_brought(modules)}{HEAD}const $parts = {{{loaders}}};\n{blocks}")


@once
def part(entry: str, name: str) -> Pack:
    """Return what `name` needs at once and the page of `entry` lacks; parts may share modules."""
    at_once = {script.path for script in needed(entry)}
    modules = [script for script in needed(name) if script.path not in at_once]
    blocks = "".join(f'if (!$["{script.path}"]) {_module_block(script)}' for script in modules)
    return Pack.of(f"{_brought(modules)}export default ($, $later) => {{\n{blocks}}};\n")


def pack_at(entry: str) -> str:
    return f"/packs/{pack(entry).digest}/{entry}"


def part_at(entry: str, name: str) -> str:
    return f"/packs/{part(entry, name).digest}/{entry}/{name}"


@once
def entries() -> frozenset[str]:
    """Return the scripts of pages, as templates name them, and that of a static site."""
    pages = (ROOT / "templates").rglob("*.html")
    return frozenset(
        {name for page in pages for name in SCRIPT.findall(page.read_text("utf-8"))}
    ) | {SITE_ENTRY}


@blueprint.get("/packs/<digest>/<room>/<name>")
def get_pack(digest: str, room: str, name: str) -> Response:
    """Return a page's pack.  An old address gets the new one, but not for ever."""
    entry = f"{room}/{name}"
    if entry not in entries():
        raise RequestError("not_found")
    return _sent(pack(entry), digest)


@blueprint.get("/packs/<digest>/<room>/<name>/<path:later>")
def get_part(digest: str, room: str, name: str, later: str) -> Response:
    entry = f"{room}/{name}"
    if entry not in entries() or later not in parts(entry):
        raise RequestError("not_found")
    return _sent(part(entry, later), digest)


def _sent(made: Pack, digest: str) -> Response:
    response = Response(made.text, mimetype="text/javascript")
    response.set_etag(made.digest)
    response.headers["Cache-Control"] = FOR_EVER if digest == made.digest else "no-cache"
    return response
