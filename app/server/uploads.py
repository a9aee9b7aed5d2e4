"""Folders of uploaded files: each is deleted with its request, or when a server next starts."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_FOLDER: Final = "upload-"
_LOCK: Final = "lock"


@contextmanager
def upload_folder(instance: Path) -> Iterator[Path]:
    """Yield an empty folder, locked as long as this process lives, and delete it at the end."""
    root = instance / "uploads"
    root.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix=_FOLDER, dir=root) as place,
        (Path(place) / _LOCK).open("w") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = Path(place) / "files"
        folder.mkdir()
        yield folder


def sweep(instance: Path) -> None:
    """Delete the folders of processes that were killed; those of other servers are locked."""
    for place in (instance / "uploads").glob(f"{_FOLDER}*"):
        with suppress(OSError), (place / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(place)
