"""Subjects `quota`, `throttle_list` and `throttled_read`."""

from __future__ import annotations

from typing import Final

from engine.dataplane.purgatory import fetch_is_ready
from engine.dataplane.reading import read_partition
from engine.model import configs, quotas
from engine.model.broker import Machine, Process
from engine.model.effects import Effects
from engine.model.log import empty_log
from engine.model.messages import NO_EPOCH, FetchPartition, FetchRequest
from engine.model.quotas import ReplicationQuota
from engine.model.state import LEADER, Disk, Replica
from tests.conformance.adapter import Adapter, Fields
from tests.conformance.logs import batches_of, profile_of

LEADER_ID: Final = 0
FOLLOWER_ID: Final = 1
CONSUMER: Final = -31


class QuotaCase(Adapter):
    """`quota`: Q-1, Q-5, Q-6."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        self.quota = ReplicationQuota(
            samples=given.get("samples", 11), window_ms=given.get("window_ms", 1_000)
        )
        self.now = given.get("now_ms", 0)

    def op_set_quota(self, a: Fields) -> Fields:
        self.quota.limit = a["bytes_per_second"]
        return {}

    def op_mark_throttled(self, a: Fields) -> Fields:
        self.quota.mark(a["topic"], a["partitions"])
        return {}

    def op_is_throttled(self, a: Fields) -> Fields:
        return {"throttled": self.quota.is_throttled(a["topic"], a["partition"])}

    def op_record(self, a: Fields) -> Fields:
        self.quota.record(a["bytes"], self.now)
        return {}

    def op_exceeded(self, a: Fields) -> Fields:
        return {
            "exceeded": self.quota.exceeded(self.now),
            "rate": self.quota.per_second(self.now),
        }

    def op_advance_time(self, a: Fields) -> Fields:
        self.now += a["ms"]
        return {}


class ThrottleListCase(Adapter):
    """`throttle_list`: Q-1."""

    def op_parse(self, a: Fields) -> Fields:
        listed = quotas.parse_list(a["value"], a["broker"])
        return {"partitions": listed if isinstance(listed, str) else list(listed)}

    def op_validate(self, a: Fields) -> Fields:
        return {"valid": quotas.is_valid_list(a["value"])}


class ScriptedQuota(ReplicationQuota):
    """A quota that answers what the case says, the last answer again and again."""

    __slots__ = ("checks",)

    def __init__(self, checks: list[bool]) -> None:
        super().__init__()
        self.checks = checks

    def exceeded(self, now: int) -> bool:
        if not self.checks:
            return False
        return self.checks.pop(0) if len(self.checks) > 1 else self.checks[0]


class ThrottledReadCase(Adapter):
    """`throttled_read`: Q-2 - Q-4.  Partitions 0 and 1 stand for p1 and p2."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        profile = profile_of(generation, release)
        settings = configs.build(profile)
        self.broker = Process(Machine(LEADER_ID, "leader", "", profile, settings, False))
        self.broker.quotas = quotas.Quotas()
        self.broker.quotas.leader = ScriptedQuota(list(given.get("quota_checks", ())))
        if given.get("throttled", True):
            self.broker.quotas.leader.mark(quotas.TOPIC, quotas.ALL)
        for tp in (0, 1):
            self._add_partition(tp)
        self.replica = -1 if given.get("consumer") else FOLLOWER_ID
        self.out = Effects()

    def _add_partition(self, tp: int) -> None:
        log = empty_log(self.broker.profile)
        for batch in batches_of([[0, 0]]):
            log.append(batch)
        log.leo, log.hw = 20, 5
        replica = Replica(tp, LEADER_ID, Disk(log), self.broker.profile, self.broker.configs)
        replica.role = LEADER
        replica.leader_epoch = 0
        replica.assignment = (LEADER_ID, FOLLOWER_ID)
        replica.isr = replica.assignment if self.given.get("in_sync") else (LEADER_ID,)
        self.broker.replicas[tp] = replica

    def _request(self, tps: tuple[int, ...]) -> FetchRequest:
        parts = [FetchPartition(tp, 0, NO_EPOCH, NO_EPOCH, 0) for tp in tps]
        src = self.replica if self.replica >= 0 else CONSUMER
        limit = self.broker.configs.fetch_max_records
        return FetchRequest(src, LEADER_ID, 0, parts, self.replica, NO_EPOCH, 500, 1, limit)

    def op_read(self, a: Fields) -> Fields:
        request = self._request((0, 1))
        answers = [read_partition(self.broker, request, fp, self.out) for fp in request.partitions]
        return {"counts": [sum(b.end - b.base for b in data.batches) for data in answers]}

    def op_delayed_fetch_completes(self, a: Fields) -> Fields:
        return {"completes": fetch_is_ready(self.broker, self._request((0,)), self.out.now)}
