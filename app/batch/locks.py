"""Lock of the process that computes a batch, held from before it is active until it ends.

The system lets it go however the process ends, so a batch that is active without one was lost.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from app.core.disk_errors import writing
from app.core.refusals import RequestError


class Locks:
    """One lock file for each batch, in a directory that the processes of a server share."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def _file(self, number: str) -> Path:
        return self._directory / f"{number}.lock"

    def knows(self, number: str) -> bool:
        """Check whether this batch was ever computed here.

        The locks of other machines are not visible.
        """
        return self._file(number).exists()

    def take(self, number: str) -> IO[str] | None:
        """Return the lock, to be closed; None while another process holds it.

        Raises RequestError where the disk takes nothing.
        """
        with writing():
            file = self._file(number).open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        return file

    @contextmanager
    def hold_for_new_job(self, number: str) -> Iterator[IO[str]]:
        """Hold the lock for a batch that is queued meanwhile; release it if that fails.

        Raises RequestError.
        """
        lock = self.take(number)
        if lock is None:
            raise RequestError("impossible", "batch.runs.still")
        try:
            yield lock
        except BaseException:
            lock.close()
            raise

    def forget(self, number: str) -> None:
        self._file(number).unlink(missing_ok=True)
