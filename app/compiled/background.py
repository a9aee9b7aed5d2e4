"""The compiled engine, built by itself for the next process.

A server, a study and a search ask for it.  One process builds, at the lowest priority, and outlives
the one that asked: a short command builds for the next.  What failed is not tried again with the
same sources.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from app.bootstrap import is_locked
from app.compiled import build
from app.core import compiled_engine, config

KEPT: Final = 3
"""Builds that stay; a checkout whose sources change makes many."""
LONGEST_BUILD_S: Final = 3600
"""A build that began longer ago was killed."""


def begin() -> str:
    """Start a build where one is of use and can be made; return what to tell, or ""."""
    if not _is_wanted():
        return ""
    subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],
        env={**os.environ, "PYTHONPATH": str(compiled_engine.ON_PATH)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return (
        "The engine is being compiled in the background, for the next start "
        "(HIGHWATER_BACKGROUND_BUILD=0 turns this off)."
    )


def _is_wanted() -> bool:
    from engine.study.digest import is_compiled

    return (
        not os.environ.get("HIGHWATER_PURE")
        and config.read().background_build == 1
        and not is_compiled()
        and compiled_engine.built() is None
        and build.why_not() is None
        and not _failure().exists()
        and not is_locked(compiled_engine.builds() / "lock")
    )


def _failure() -> Path:
    return compiled_engine.builds() / f"{compiled_engine.fingerprint()}.failed"


def main() -> None:
    """Build, unless another process does; keep the reason of a failure for `highwater compile`."""
    import fcntl

    os.nice(19)
    folder = compiled_engine.builds()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / "lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        try:
            build.build(lambda phase, share: None)
        except build.CompileError as error:
            _failure().write_text(str(error), "utf-8")
        _tidy(folder)


def _tidy(folder: Path) -> None:
    """Remove old builds, and what a build that was killed has left; `compile` may build now."""
    places = [place for place in folder.iterdir() if place.is_dir()]
    making = [place for place in places if place.name.startswith("making-")]
    left = [place for place in making if place.stat().st_mtime < time.time() - LONGEST_BUILD_S]
    whole = sorted(set(places) - set(making), key=lambda place: place.stat().st_mtime)
    for place in [*left, *whole[:-KEPT]]:
        shutil.rmtree(place, ignore_errors=True)
    for mark in set(folder.glob("*.failed")) - {_failure()}:
        mark.unlink()


if __name__ == "__main__":
    main()
