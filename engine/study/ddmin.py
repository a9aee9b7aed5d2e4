"""Zeller's delta debugging: the smallest list that still shows what the whole one did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def ddmin(
    parts_of: Callable[[], list[Any]],
    keeps: Callable[[list[Any]], bool],
    spent: Callable[[], bool],
) -> None:
    """Leave out ever smaller parts.

    `parts_of` tells the list as it is now; `keeps` tries a shorter one, and where that still shows
    it, takes it and says so; `spent` ends the search early.
    """
    count = 2
    while not spent():
        whole = parts_of()
        if not whole or count > max(2, len(whole)):
            return
        size = -(-len(whole) // count)
        for start in range(0, len(whole), size):
            if keeps(whole[:start] + whole[start + size :]):
                count = max(2, count - 1)
                break
        else:
            if size == 1:
                return
            count = min(len(whole), count * 2)
