"""Licence notices of what a static site contains beside Highwater."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.site.archives import Package
from app.site.pyodide import VERSION

PYODIDE: Final = f"""Pyodide {VERSION} (pyodide/)

Copyright the Pyodide contributors and Mozilla; Mozilla Public License 2.0,
https://www.mozilla.org/MPL/2.0/. Unchanged but for its list of packages, which is emptied; its
WebAssembly module is compressed. The source is at https://github.com/pyodide/pyodide.

It contains CPython, under the licence of the Python Software Foundation,
https://docs.python.org/3/license.html, and Emscripten's libraries, under the MIT licence.
"""
OWN: Final = """Highwater: Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0.
Libraries of the pages: static/vendor/licences/NOTICES.txt.
"""


def text(packages: Iterable[Package]) -> str:
    """Return the notices of all packages in the archives of a site."""
    parts = [OWN, PYODIDE]
    parts += [f"{one.name} {one.version} (python/)\n\n{one.licence}" for one in packages]
    return ("\n" + "-" * 80 + "\n\n").join(parts)
