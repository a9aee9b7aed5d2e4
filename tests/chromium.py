"""Chromium for the tests: `chromium-headless-shell` where it is installed, else `chromium`.

Both have the same engine and version; the headless shell needs about 60 % of the CPU time.
CHROMIUM in the environment names another browser.
"""

from __future__ import annotations

import ctypes.util
import os
import shutil
import sys
from typing import Any, Final

SHELL: Final = "chromium-headless-shell"
FLAGS: Final = ("--no-sandbox", "--disable-dev-shm-usage")
"""Plain Chromium refuses to start as root in a sandbox; containers have little shared memory."""


def path() -> str:
    """Return the path of the browser, or "" if there is none."""
    wanted = os.environ.get("CHROMIUM")
    found = (shutil.which(name) for name in ((wanted,) if wanted else (SHELL, "chromium")))
    return next((one for one in found if one), "")


def has_libatomic() -> bool:
    """Return True if playwright's own node can start: on Linux it links libatomic."""
    return sys.platform != "linux" or ctypes.util.find_library("atomic") is not None


def missing() -> str:
    """Return the reason why no test can drive a browser here, or ""."""
    if not path():
        return "no Chromium: apt-get install chromium"
    return "" if has_libatomic() else "no libatomic: apt-get install libatomic1"


def launch(playwright: Any, *flags: str) -> Any:
    """Start the browser, with these flags besides FLAGS."""
    return playwright.chromium.launch(executable_path=path(), args=[*FLAGS, *flags])
