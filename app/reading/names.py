"""Names of topics, partitions and brokers, as text has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

TOPIC_FORM: Final = r"[A-Za-z0-9._-]{1,249}"
PARTITION_FORM: Final = rf"{TOPIC_FORM}-\d{{1,6}}"
TOPIC: Final = re.compile(TOPIC_FORM)
_PARTITION: Final = re.compile(rf"({TOPIC_FORM})-(\d{{1,6}})")
BROKER: Final = re.compile(
    r"(?:kafka|broker|node|server|\bb)[a-z]{0,40}[-_.]?(\d{1,6})", re.IGNORECASE
)
"""The number of a broker in the name of its container, pod, host or folder, such as kafka-2."""


@dataclass(frozen=True, slots=True)
class TopicIdentity:
    """A partition by its topic and number."""

    topic: str
    index: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.index}"


def partition_named(text: str) -> TopicIdentity | None:
    """Parse `orders-0` as a partition; None for anything else."""
    match = _PARTITION.fullmatch(text)
    return TopicIdentity(match[1], int(match[2])) if match else None


def topic_of(name: str) -> str:
    """Return the topic of a partition such as orders-0."""
    return name.rpartition("-")[0]
