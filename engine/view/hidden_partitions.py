"""Count of the partitions that a view leaves out."""

from __future__ import annotations

from typing import TypedDict


class PartitionsMore(TypedDict):
    """Partitions that a view leaves out: how many, and how many without leader or full ISR."""

    n: int
    leaderless: int
    under: int
