"""Disk space of the rows of all batches, and its limit."""

from __future__ import annotations

import os
from pathlib import Path

from app.core.refusals import RequestError

MIB = 1024 * 1024


class KeptRows:
    """The directories of all batches below one root; not safe for threads.

    Of rows that lie elsewhere (``hdfs://``, ``s3://``) the bound is that place's own quota.
    """

    def __init__(self, root: str, most: int) -> None:
        self._root = None if "://" in root else Path(root)
        self._most = most
        self._known: dict[str, tuple[int, int]] = {}

    def bytes(self) -> int:
        """Return the size of all files.

        A directory in which no file came or went is not looked through again.
        """
        sizes = {}
        if self._root is not None and self._root.is_dir():
            with os.scandir(self._root) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        sizes[entry.name] = self._of(entry)
        self._known = sizes
        return sum(size for _, size in sizes.values())

    def _of(self, directory: os.DirEntry[str]) -> tuple[int, int]:
        """Return (when a file last came or went, bytes of all files)."""
        try:
            changed = directory.stat().st_mtime_ns
            measured = self._known.get(directory.name)
            if measured is not None and measured[0] == changed:
                return measured
            with os.scandir(directory) as files:
                return changed, sum(map(_size, files))
        except FileNotFoundError:  # deleted meanwhile
            return 0, 0

    def require_room(self) -> None:
        """Raise RequestError where no more rows may be kept."""
        used = self.bytes()
        if used >= self._most:
            raise RequestError(
                "too_large",
                "batch.rows",
                kept=used // MIB,
                most=self._most // MIB,
                setting="HIGHWATER_ROWS_MIB",
            )


def _size(file: os.DirEntry[str]) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # a draft that got its name meanwhile
        return 0
