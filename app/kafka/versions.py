"""Releases of Kafka by name, and the row of the model's table that stands for each."""

from __future__ import annotations

import re
from typing import Final

from engine.model.profiles import PROFILES

Numbers = tuple[int, int, int]

FORM: Final = re.compile(r"\d{1,2}(\.\d{1,3}){2,3}")


def numbers_of(version: str) -> Numbers | None:
    """Return (4, 1, 1), or (0, 10, 2) for 0.10.2.2; None for what is no release."""
    if not FORM.fullmatch(version):
        return None
    parts = [int(part) for part in version.split(".")]
    return parts[0], parts[1], parts[2]


def profile_of(numbers: Numbers, kraft: bool) -> str:
    """Return the profile that stands for a release.

    The last row of its line (0.11.0 has four numbers), else the first row that is not older.
    """
    rows = [row for row in PROFILES.values() if row.kraft == kraft]
    of_line = [row for row in rows if row.release[: len(numbers)] == numbers]
    if of_line:
        return of_line[-1].name
    for row in rows:
        if row.release >= numbers:
            return row.name
    return rows[-1].name
