"""Replication quotas: throttled replicas, and what counts (data-plane, Q-; KIP-73, 0.10.1).

Amounts are bytes: the engine's records all have one size, `record_bytes`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from engine.model.compiling import mypyc_attr
from engine.model.copying import shallow
from engine.model.declared import begins, declared, fresh, unset
from engine.model.errors import InputError

UNLIMITED: Final = (1 << 63) - 1
ALL: Final = "*"
TOPIC: Final = "t"
"""The one topic of a played cluster; its partitions are numbers."""

_ENTRY: Final = re.compile(r"([0-9]+:[0-9]+)?")


@declared
class Sample:
    """One window of the sliding rate."""

    start_ms: int
    last_event_ms: int = unset()
    value: int = begins(0)

    def __post_init__(self) -> None:
        self.last_event_ms = self.start_ms


@declared
class SlidingRate:
    """Q-6.  A ring of windows; the rate is their sum over the time since the oldest one began."""

    samples: int = 11
    window_ms: int = 1000
    ring: list[Sample] = fresh(list)
    current: int = begins(0)

    def copy(self) -> SlidingRate:
        twin = shallow(self)
        twin.ring = [shallow(sample) for sample in self.ring]
        return twin

    def record(self, amount: int, now: int) -> None:
        """Q-6.  Record bytes; a window that is as old as it is long is closed first."""
        if not self.ring:
            self.ring.append(Sample(now))
        if now - self.ring[self.current].start_ms >= self.window_ms:
            self.current = (self.current + 1) % self.samples
            if self.current == len(self.ring):
                self.ring.append(Sample(now))
            else:
                self.ring[self.current] = Sample(now)
        sample = self.ring[self.current]
        sample.value += amount
        sample.last_event_ms = now

    def measure(self, now: int) -> tuple[int, int]:
        """Q-6.  Return (sum of the windows, their time in ms) and clear windows long past."""
        if not self.ring:
            self.ring.append(Sample(now))
        for at, sample in enumerate(self.ring):
            if now - sample.last_event_ms >= self.samples * self.window_ms:
                self.ring[at] = Sample(now)
        oldest = min(sample.start_ms for sample in self.ring)
        total = sum(sample.value for sample in self.ring)
        return total, max(now - oldest, self.window_ms)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class ReplicationQuota:
    """Q-1.  The quota of one role, leader or follower, on one broker, and its throttled list.

    `limit` in bytes per second.  A topic's entry is a list of partitions, or ALL.
    """

    __slots__ = ("limit", "rate", "throttled")

    def __init__(self, limit: int = UNLIMITED, samples: int = 11, window_ms: int = 1_000) -> None:
        self.limit = limit
        self.rate = SlidingRate(samples, window_ms)
        self.throttled: dict[str, tuple[int, ...] | str] = {}

    def copy(self) -> ReplicationQuota:
        twin = shallow(self)
        twin.rate = self.rate.copy()
        twin.throttled = self.throttled.copy()
        return twin

    def mark(self, topic: str, partitions: Sequence[int] | str) -> None:
        """Q-1.  Set the throttled partitions of a topic, replacing earlier ones."""
        self.throttled[topic] = ALL if isinstance(partitions, str) else tuple(partitions)

    def is_throttled(self, topic: str, partition: int) -> bool:
        """Q-1.  Check whether the partition is on the list."""
        listed = self.throttled.get(topic, ())
        return listed == ALL or partition in listed

    def record(self, amount: int, now: int) -> None:
        """Q-5.  Record bytes of listed partitions, in sync or not."""
        self.rate.record(amount, now)

    def exceeded(self, now: int) -> bool:
        """Q-6.  Check for strictly more than the limit: exactly the limit is allowed."""
        total, elapsed_ms = self.rate.measure(now)
        return total * 1_000 > self.limit * elapsed_ms

    def per_second(self, now: int) -> float:
        """Return the rate that is shown: bytes per second over the sampled time."""
        total, elapsed_ms = self.rate.measure(now)
        return total * 1_000 / elapsed_ms


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Quotas:
    """The two replication quotas of one broker.

    `held` are the replicas whose last fetch was held back, (partition, follower) -> the number of
    that decision, of which there were `decisions` so far.
    """

    __slots__ = ("decisions", "follower", "held", "leader", "record_bytes")

    def __init__(self, record_bytes: int = 1, samples: int = 11, window_ms: int = 1_000) -> None:
        self.leader = ReplicationQuota(UNLIMITED, samples, window_ms)
        self.follower = ReplicationQuota(UNLIMITED, samples, window_ms)
        self.record_bytes = record_bytes
        self.held: dict[tuple[int, int], int] = {}
        self.decisions = 0

    def copy(self) -> Quotas:
        twin = shallow(self)
        twin.leader = self.leader.copy()
        twin.follower = self.follower.copy()
        twin.held = self.held.copy()
        return twin

    def leader_holds_back(self, partition: int, follower: int, in_isr: bool, now: int) -> bool:
        """Q-2, Q-4, CP-THROTTLE.  Check whether the leader's quota withholds a partition's records.

        A follower outside the committed ISR gets no records of a listed partition while the
        leader's quota is exceeded; members of the ISR are never held back.
        """
        return self._decided(partition, follower, self.leader_would(partition, in_isr, now))

    def leader_would(self, partition: int, in_isr: bool, now: int) -> bool:
        """Q-2, Q-4.  Answer `leader_holds_back` without a fetch."""
        quota = self.leader
        return not in_isr and quota.is_throttled(TOPIC, partition) and quota.exceeded(now)

    def follower_holds_back(self, partition: int, follower: int, lag: int | None, now: int) -> bool:
        """Q-3, CP-THROTTLE.  Check whether a follower leaves a listed partition out of its fetch.

        It does while it believes itself behind and its quota is exceeded.  It does not know the
        ISR; no lag yet counts as behind.
        """
        return self._decided(partition, follower, self.follower_would(partition, lag, now))

    def follower_would(self, partition: int, lag: int | None, now: int) -> bool:
        """Q-3.  Answer `follower_holds_back` without a fetch."""
        behind, quota = lag is None or lag > 0, self.follower
        return behind and quota.is_throttled(TOPIC, partition) and quota.exceeded(now)

    def _decided(self, partition: int, follower: int, held: bool) -> bool:
        """Note a decision, for observers."""
        if held:
            self.decisions += 1
            self.held[partition, follower] = self.decisions
        else:
            self.held.pop((partition, follower), None)
        return held

    def count_sent(self, partition: int, records: int, now: int) -> None:
        """Q-5, leader.  Count the bytes sent to a follower of listed partitions."""
        if records and self.leader.is_throttled(TOPIC, partition):
            self.leader.record(records * self.record_bytes, now)

    def count_appended(self, partition: int, records: int, now: int) -> None:
        """Q-5, follower.  Count the bytes appended to listed partitions."""
        if records and self.follower.is_throttled(TOPIC, partition):
            self.follower.record(records * self.record_bytes, now)


def settled(before: Quotas | None, values: Mapping[str, int | str], broker: int) -> Quotas | None:
    """Q-1.  Return the quotas of a broker by the configurations; None if it throttles nothing.

    A limit or a list may change while the broker runs; what it has measured stays.
    """
    listed = [
        parse_list(str(values[f"{role}.replication.throttled.replicas"]), broker)
        for role in ("leader", "follower")
    ]
    if not any(listed):
        return None
    quotas = before
    if quotas is None:
        samples = int(values["replication.quota.window.num"])
        window_ms = int(values["replication.quota.window.size.seconds"]) * 1_000
        quotas = Quotas(int(values["record_bytes"]), samples, window_ms)
    quotas.leader.mark(TOPIC, listed[0])
    quotas.follower.mark(TOPIC, listed[1])
    quotas.leader.limit = int(values["leader.replication.throttled.rate"])
    quotas.follower.limit = int(values["follower.replication.throttled.rate"])
    return quotas


def is_valid_list(value: str) -> bool:
    """Q-1.  Check for `*`, or a list of partition:broker pairs, possibly empty."""
    entries = [entry.strip() for entry in value.split(",")]
    return all(_ENTRY.fullmatch(entry) for entry in entries) or "".join(entries) == ALL


def parse_list(value: str, broker: int) -> tuple[int, ...] | str:
    """Q-1.  Return the partitions on `broker` of *.replication.throttled.replicas, or ALL.

    Raises InputError "invalid" for a text that is no such list.
    """
    if not is_valid_list(value):
        raise InputError(
            "invalid", "{0} is neither * nor a list like 0:101,1:102.", repr(value[:60])
        )
    if value.strip() == ALL:
        return ALL
    pairs = [entry.strip().split(":") for entry in value.split(",") if entry.strip()]
    return tuple(int(partition) for partition, on in pairs if int(on) == broker)
