"""Folders for files of visitors: each is deleted after use, or once its process was killed."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

_FOLDER: Final = "upload-"
_LOCK: Final = "lock"


@contextmanager
def upload_folder(instance: Path) -> Iterator[Path]:
    """Yield an empty folder, locked as long as this process lives, and delete it at the end."""
    place, lock = _made(instance)
    try:
        yield place / "files"
    finally:
        shutil.rmtree(place)
        lock.close()


def temporary_files_in(instance: Path) -> IO[str]:
    """Let this process create its temporary files in such a folder; return its lock."""
    place, lock = _made(instance)
    tempfile.tempdir = str(place / "files")
    return lock


def _made(instance: Path) -> tuple[Path, IO[str]]:
    root = instance / "uploads"
    root.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=_FOLDER, dir=root))
    lock = (place / _LOCK).open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    (place / "files").mkdir()
    return place, lock


def sweep(instance: Path) -> None:
    """Delete the folders of processes that have ended; those of others are locked."""
    for place in (instance / "uploads").glob(f"{_FOLDER}*"):
        with suppress(OSError), (place / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(place)
