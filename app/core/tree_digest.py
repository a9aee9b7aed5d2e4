"""Digest of the files in a folder, by name and content.  Standard library only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def contents(folder: Path, endings: tuple[str, ...]) -> Iterator[bytes]:
    """Yield name, size and content of each file with one of these endings, in order of names.

    Path.rglob and sorting its objects would take as long as reading the files.
    """
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(name for name in names if name.endswith(endings)):
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                data = file.read()
            yield f"{os.path.relpath(path, folder)} {len(data)} ".encode()
            yield data
