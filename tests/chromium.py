"""Chromium for the tests: the build without windows where it is installed, as it costs less.

Both have the same engine and version; `chromium-headless-shell` needs about 60 % of the processor
time.  CHROMIUM in the environment names another.
"""

from __future__ import annotations

import os
import shutil
from typing import Any, Final

SHELL: Final = "chromium-headless-shell"
FLAGS: Final = ("--no-sandbox", "--disable-dev-shm-usage")
"""Plain Chromium refuses to start as root in a sandbox; containers have little shared memory."""


def path() -> str:
    """Return the path of the browser, or "" if there is none."""
    wanted = os.environ.get("CHROMIUM")
    found = (shutil.which(name) for name in ((wanted,) if wanted else (SHELL, "chromium")))
    return next((one for one in found if one), "")


def launch(playwright: Any, *flags: str) -> Any:
    """Start the browser, with these flags besides FLAGS."""
    return playwright.chromium.launch(executable_path=path(), args=[*FLAGS, *flags])
