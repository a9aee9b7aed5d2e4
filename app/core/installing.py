"""Installation of what only studies need, by a process beside a server that answers already.

It installs one package after the other, at the lowest priority, and outlives the server: the next
start continues where it was ended.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from app.bootstrap import (
    LATER,
    OF_STUDIES,
    ROOT,
    inside_venv,
    install_packages,
    is_checkout,
    is_locked,
    lacking,
    lock_file,
    turn,
)
from app.core.refusals import RequestError

POLL_S: Final = 1.0
MODULES: Final = {*LATER, "numpy", "py4j"}
"""Modules of LATER and of what it brings along."""


def begin() -> str:
    """Start the installation where something is missing; return what to tell, or ""."""
    if not is_checkout() or not inside_venv():
        return ""
    if not lacking() and not missing(["highwater"]):
        return ""
    subprocess.Popen(
        [sys.executable, "-m", __name__],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return "Spark is being installed in the background; Run at scale shows how far it is."


def missing(names: Sequence[str] = LATER) -> list[str]:
    """Return those of these packages that are not installed."""
    return [name for name in names if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        return bool(version(name))
    except PackageNotFoundError:
        return False


def is_running() -> bool:
    """Check whether a process installs now."""
    return is_locked(lock_file())


def refusal(names: Sequence[str] = LATER) -> RequestError | None:
    """Return what to say where one of these packages is missing: wait, or how to install it."""
    if not (absent := missing(names)):
        importlib.invalidate_caches()
        return None
    if is_running():
        there = len(LATER) - len(missing())
        return RequestError("busy", "installing", name=absent[0], n=there, all=len(LATER), ms=5000)
    command = ".venv/bin/python -m app.core.installing"
    return RequestError("impossible", "uninstalled", name=absent[0], command=command)


def require(names: Sequence[str] = OF_STUDIES) -> None:
    """Raise RequestError where one of these packages is missing."""
    if error := refusal(names):
        raise error


def wait(stop: threading.Event) -> None:
    """Wait until all is installed or `stop` is set.  Raises RequestError if nothing installs."""
    while (error := refusal()) and not stop.wait(POLL_S):
        if error.code != "busy":
            raise error


def main() -> bool:
    """Install pip, what is missing (small studies first), and the command `highwater`.

    Return False if that fails; pip prints why.
    """
    os.nice(19)
    python = Path(sys.executable)
    with turn():
        if find_spec("pip") is None:
            # Debian may have none to unpack: then the one outside installs.
            subprocess.run([sys.executable, "-m", "ensurepip"], capture_output=True)
        lines = [line for line in lacking() if line.startswith(LATER)]
        for line in sorted(lines, key=_place):
            if install_packages(python, [line]):
                return False
        return not install_packages(python, [], "--editable", ".")


def _place(line: str) -> int:
    return next(place for place, name in enumerate(LATER) if line.startswith(name))


if __name__ == "__main__":
    raise SystemExit(not main())
