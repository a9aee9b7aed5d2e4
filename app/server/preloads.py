"""Modules that a page needs before it can show anything, read from the modules themselves."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from app.core.config import ROOT
from app.core.memoize import once

_IMPORT = re.compile(r"""^(?:import|export)\b[^"'();=]*["']([^"']+)["']""", re.MULTILINE)
_PACKED = re.compile(r"""(?:\bfrom|\bimport)["']([^"']+)["']""")


def imports(text: str) -> list[str]:
    """Return what a module imports at once, by the names it uses; `import()` is for later."""
    return [*_IMPORT.findall(text), *_PACKED.findall(text)]


def needed(entry: str, vendored: Mapping[str, str]) -> tuple[str, ...]:
    """Return files below ``static`` that ``entry`` imports, directly or not, the nearest first.

    ``vendored``: bare name -> file below ``static/vendor``, as the import map has it.
    """
    return _needed(entry, tuple(sorted(vendored.items())))


@once
def _needed(entry: str, vendored: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    bare = {name: f"vendor/{file}" for name, file in vendored}
    found = [entry]
    for file in found:
        text = (ROOT / "static" / file).read_text("utf-8")
        folder = posixpath.dirname(file)
        for name in imports(text):
            near = posixpath.normpath(posixpath.join(folder, name)) if name[0] == "." else ""
            path = bare.get(name, near)
            if path and path not in found:
                found.append(path)
    return tuple(found[1:])
