"""Error messages for a full or read-only disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from app.core.refusals import RequestError

NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def writing() -> Iterator[None]:
    """Refuse with one sentence where the block fails to write into the instance directory.

    Raises RequestError "full" where there is no room, "busy" for whatever else the disk says.
    """
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise RequestError("full", "instance.full") from error
        raise RequestError("busy", "instance.locked") from error


def look_at(place: Path, least_free: int) -> None:
    """Raise RequestError as `writing` does if a directory is not writable, or has less room."""
    if not os.access(place, os.W_OK):
        raise RequestError("busy", "instance.locked")
    stats = os.statvfs(place)
    if stats.f_bavail * stats.f_frsize < least_free:
        raise RequestError("full", "instance.full")
