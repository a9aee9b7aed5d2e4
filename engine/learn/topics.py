"""Topics of what is learnt, in the order in which they build on each other."""

from __future__ import annotations

from typing import Final

TOPICS: Final = (
    "replication",
    "isr",
    "elections",
    "epochs",
    "durability",
    "groups",
    "kraft",
    "tiered",
    "upgrades",
)
