"""Path to an engine whose hot modules are compiled.  Standard library only.

`highwater compile` builds it into the user's cache, once for each version of the sources.  Every
process that imports `app` then uses it; with HIGHWATER_PURE=1 it uses the sources.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from hashlib import sha256
from pathlib import Path
from typing import Final

from app.core.tree_digest import contents

ENGINE: Final = f"{__name__.partition('app.')[0]}engine"
"""Name of the engine's package: `engine` in a checkout, `highwater.engine` in a wheel."""
SOURCES: Final = Path(__file__).resolve().parents[2] / "engine"
COMPILER: Final = Path(__file__).resolve().parents[1] / "compiled"
ON_PATH: Final = SOURCES.parents[ENGINE.count(".")]
"""The folder that Python finds it in."""
VARIABLE: Final = "HIGHWATER_COMPILED"
"""Names the folder that holds the compiled package; `engine/__init__.py` reads it."""


def builds() -> Path:
    """Return the folder that holds all builds of this user."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "highwater" / "compiled"


def fingerprint() -> str:
    """Return 16 hex digits: a hash of the engine, what compiles it, the Python and the platform."""
    digest = sha256(f"{sys.version} {sysconfig.get_platform()}".encode())
    for folder in (SOURCES, COMPILER):
        for part in contents(folder, (".py",)):
            digest.update(part)
    return digest.hexdigest()[:16]


def built() -> Path | None:
    """Return the folder with the build of the current sources, or None."""
    try:
        place = builds() / fingerprint() if builds().is_dir() else None
    except (OSError, RuntimeError):  # no home, or one that cannot be read
        return None
    return place if place is not None and place.is_dir() else None


def use() -> None:
    """Make this process and its children import the compiled engine, if there is one."""
    place = None if os.environ.get("HIGHWATER_PURE") else built()
    if place is not None:
        os.environ[VARIABLE] = str(place)
    else:
        os.environ.pop(VARIABLE, None)
