"""High watermarks of leaders and followers: INV-1, INV-18, INV-20."""

from __future__ import annotations

from typing import ClassVar

from engine.checks.invariant import ALWAYS, About, Invariant, Observation
from engine.checks.replica_memory import ReplicaMemory
from engine.model.state import LEADER


class OffsetOrder(Invariant):
    about: ClassVar = About(
        "INV-1",
        "OffsetOrder",
        "Log start offset <= high watermark <= log end offset.",
        "A high watermark is outside the log.",
        ALWAYS,
        broken_by=("full_truncation_keeps_hw", "mark_outside_is_unknown"),  # KAFKA-9491, KAFKA-3978
    )

    def on_replica(self, run: Observation, seen: ReplicaMemory) -> None:
        log = seen.replica.log
        if log.clamps_hw and not log.log_start <= log.hw <= log.leo:
            self.report(
                run, "{0} has HW {1} outside its log", run.name(seen.replica.broker), log.hw
            )


class LeaderHwMonotone(Invariant):
    about: ClassVar = About(
        "INV-18",
        "LeaderHwMonotone",
        "A leader's high watermark never decreases.",
        "A leader's high watermark decreased.",
        ALWAYS,
    )

    def on_replica(self, run: Observation, seen: ReplicaMemory) -> None:
        hw = seen.replica.log.hw
        if hw < seen.hw and seen.keeps_leading():
            name = run.name(seen.replica.broker)
            self.report(run, "{0}, a leader, moved HW from {1} to {2}", name, seen.hw, hw)


class FollowerHwBounded(Invariant):
    about: ClassVar = About(
        "INV-20",
        "FollowerHwBounded",
        "A follower's high watermark is at most the highest that a leader had.",
        "A follower's high watermark exceeds the highest that a leader had.",
        ALWAYS,
    )

    def on_replica(self, run: Observation, seen: ReplicaMemory) -> None:
        replica = seen.replica
        hw, highest = replica.log.hw, run.reached[replica.tp]
        if hw > highest and hw > replica.log.log_start and replica.role != LEADER:
            name = run.name(replica.broker)
            why = "{0}, a follower, has HW {1}; no leader got past {2}"
            self.report(run, why, name, hw, highest)
