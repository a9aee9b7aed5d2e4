"""Bounds of a batch that a page or a description of the API names."""

from __future__ import annotations

from typing import Final

RUNS_MOST: Final = 1_000_000
RUNS_HERE: Final = 20_000
"""Of one release, that Python plays in its own process; more want Spark."""
PROFILES_MOST: Final = 8
CELLS_MOST: Final = 64
STUDIES_MOST: Final = 100
"""Studies on one page of a list."""
CURSOR: Final = "^[0-9]{1,15}-[0-9a-f]{12}$"
"""Place in a list of studies: when one was submitted, in ms, and its number."""
FUTURES_EACH: Final = 10
FUTURES_MOST: Final = 1_000
"""Futures of one step; they are one chunk, so that the next look waits for whole steps."""
