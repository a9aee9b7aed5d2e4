"""The house rules of the front end's scripts, by reading them: imports, and lengths.

A folder of the core imports those before it; it fetches a feature only on request (``import()``).
A feature imports the core, and another feature only where a table says so.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

import pytest

JS = Path(__file__).resolve().parent.parent / "static/js"
CORE = ("core", "i18n", "net", "scene", "animator", "panels")
"""Folders of the core: each imports itself and those before it."""
ARROWS = {
    "batch": {"site"},
    "cluster": {"incident"},
    "learn": {"find"},
    "share": {"classroom", "export"},
}
"""Feature -> the other features it imports.  A feature is a folder that is not the core's."""
PAGES = "pages"
"""The entries of the core's pages: they import all that stands on them."""
MOST_ARROWS = 10
AT_ONCE = re.compile(r"""^(?:import|export)\b(?:[^"'();=]*?\bfrom)?\s*["']([^"']+)["']""", re.M)
LATER = re.compile(r"""\bimport\(\s*["'`]([^"'`]+)["'`]\s*\)|new URL\(\s*["']([^"']+)["']""")
ANY_IMPORT = re.compile(r"\bimport\s*\(")
WIDEST = 100


@cache
def sources() -> dict[str, str]:
    """Path below static/js -> text."""
    return {
        path.relative_to(JS).as_posix(): path.read_text("utf-8")
        for path in sorted(JS.rglob("*.js"))
    }


def targets(name: str, text: str, *, later: bool = True) -> set[str]:
    """The own modules a module names, by their paths below static/js."""
    found = AT_ONCE.findall(text)
    if later:
        found += [one or other for one, other in LATER.findall(text)]
    folder = posixpath.dirname(name)
    near = {posixpath.normpath(posixpath.join(folder, one)) for one in found if one[0] == "."}
    return {one for one in near if not one.startswith("../")}


def room(name: str) -> str:
    return name.split("/")[0]


def allowed(folder: str) -> set[str]:
    """The folders that one may import at once."""
    if folder == PAGES:
        return {room(name) for name in sources()}
    if folder in CORE:
        return set(CORE[: CORE.index(folder) + 1])
    return {*CORE, folder} | ARROWS.get(folder, set())


def arrows_back(modules: dict[str, str]) -> list[str]:
    """Imports at once that the two tables do not allow."""
    return [
        f"{name} imports {target}"
        for name, text in modules.items()
        for target in sorted(targets(name, text, later=False))
        if room(target) not in allowed(room(name))
    ]


def circles(modules: dict[str, str]) -> list[list[str]]:
    """Modules that wait for each other: what is left when whatever imports nothing left goes."""
    left = {
        name: targets(name, text, later=False) & modules.keys() for name, text in modules.items()
    }
    while free := {name for name, needs in left.items() if not needs - {name}}:
        left = {name: needs - free for name, needs in left.items() if name not in free}
    return [sorted(left)] if left else []


def test_every_script_has_a_room() -> None:
    assert all("/" in name for name in sources())
    assert {room(name) for name in sources()} >= {*CORE, PAGES}


def test_the_core_imports_no_feature_and_features_only_what_the_table_says() -> None:
    assert arrows_back(sources()) == []


def test_every_arrow_of_the_table_is_one() -> None:
    arrows = {
        (room(name), room(target))
        for name, text in sources().items()
        for target in targets(name, text, later=False)
        if not {room(name), room(target)} & {*CORE, PAGES} and room(name) != room(target)
    }
    assert arrows == {(one, other) for one, others in ARROWS.items() for other in others}
    assert len(arrows) <= MOST_ARROWS


def test_no_module_waits_for_itself() -> None:
    assert circles(sources()) == []


@pytest.mark.parametrize(
    "line",
    [
        'import { b } from "../panels/b.js";',
        'import * as b from "../panels/b.js";',
        'import "../panels/b.js";',
        'export { b } from "../panels/b.js";',
        'import {\n  b,\n  c,\n} from "../panels/b.js";',
    ],
)
def test_an_arrow_back_and_a_circle_are_seen_however_they_are_written(line: str) -> None:
    wrong = {"animator/a.js": line, "panels/b.js": 'import { a } from "../animator/a.js";'}
    assert arrows_back(wrong) == ["animator/a.js imports panels/b.js"]
    assert circles(wrong) == [["animator/a.js", "panels/b.js"]]


NAMED_BY_THE_SITE = {"site/shell.js", "site/worker.js", "site/page.js"}
"""What these import at run time stands in a static site's places.js; tests/test_site.py looks."""


def test_imports_exist_and_are_named() -> None:
    """An `import()` of a computed name would hide from everything above."""
    for name, text in sources().items():
        missing = targets(name, text) - sources().keys()
        assert not missing, f"{name} imports {missing}"
        if name in NAMED_BY_THE_SITE:
            continue
        named = [one for one in LATER.finditer(text) if one[1]]
        assert len(ANY_IMPORT.findall(text)) == len(named), f"{name} imports a computed name"


def test_no_line_is_wide() -> None:
    """Prettier leaves a template literal or a comment as wide as it was written."""
    wide = [
        f"{name}:{number}"
        for name, text in sources().items()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > WIDEST
    ]
    assert wide == []
