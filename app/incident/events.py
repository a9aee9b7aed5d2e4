"""One event of a file: time, clock, kind, and the line it is written in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

CONTROLLER: Final = "K"
"""The KRaft controller as a node; a ZooKeeper-era controller is one of the brokers."""

_NAME: Final = re.compile(r"([A-Za-z0-9._-]{1,249})-(\d{1,6})")


@dataclass(frozen=True, slots=True)
class TopicIdentity:
    """A partition by its topic and number."""

    topic: str
    index: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.index}"


def partition_named(text: str) -> TopicIdentity | None:
    """Parse `orders-0` as a partition; None for anything else."""
    match = _NAME.fullmatch(text)
    return TopicIdentity(match[1], int(match[2])) if match else None


@dataclass(frozen=True, slots=True)
class Event:
    """`time_ms` is by the clock of `node`: "K", a broker's id, or "" where the file does not say.

    `data` has plain values: ints, texts, lists of ints, an `app.kafka.metadata.Partition`.
    """

    time_ms: int
    node: str
    kind: str
    where: str
    data: dict[str, Any] = field(default_factory=dict)
