"""Subject `replica_progress`: what a leader remembers of one follower."""

from __future__ import annotations

from typing import Final

from engine.dataplane import insync, watermark
from engine.model import configs, errors
from engine.model.broker import Machine, Process
from engine.model.effects import Effects
from engine.model.log import empty_log
from engine.model.state import NEVER, Disk, Peer, RemoteReplica, Replica
from tests.conformance.adapter import Adapter, Fields, or_null
from tests.conformance.brokers import profile_for

LEADER_ID: Final = 1
FOLLOWER_ID: Final = 2


def time_of(ms: int) -> int:
    """Return a time in ms, with the engine's 'never' as Kafka's time 0."""
    return 0 if ms == NEVER else ms


class ReplicaProgressCase(Adapter):
    """`replica_progress`: S-4, H-8.3, CP-ISR-CLOCK.

    The follower is not in the assignment here, so that nothing but its memory changes.
    """

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        profile = profile_for(given.get("mode", "kraft"), "any", release)
        settings = configs.build(profile)
        settings.lag_time_max_ms = given.get("replica_lag_time_max_ms", 30_000)
        self.broker = Process(Machine(LEADER_ID, "leader", "", profile, settings, False))
        self.epoch: int = given.get("broker_epoch", 1)
        self.broker.peers[FOLLOWER_ID] = Peer(self.epoch)
        self.replica = Replica(0, LEADER_ID, Disk(empty_log(profile)), profile, settings)
        self.replica.remote[FOLLOWER_ID] = RemoteReplica()
        self.out = Effects()
        self.out.now = given.get("now_ms", 1_000_000)

    @property
    def remote(self) -> RemoteReplica:
        return self.replica.remote[FOLLOWER_ID]

    def op_fetch_update(self, a: Fields) -> Fields:
        error = insync.update_follower_fetch_state(
            self.broker,
            self.replica,
            FOLLOWER_ID,
            a["offset"],
            a["log_start"],
            a["leader_leo"],
            a.get("broker_epoch", self.epoch),
            self.out,
        )
        return {"error": errors.name_of(error)}

    def op_reset(self, a: Fields) -> Fields:
        self.replica.log.truncate_fully(a["leader_leo"])
        self.replica.isr = (FOLLOWER_ID,) if a["in_sync"] else ()
        insync.reset_follower_clocks(self.replica, not a["new_leader"], self.out.now)
        return {}

    def op_caught_up(self, a: Fields) -> Fields:
        limit = self.broker.configs.lag_time_max_ms
        return {"caught_up": watermark.caught_up(self.remote, a["leader_leo"], self.out.now, limit)}

    def op_advance_time(self, a: Fields) -> Fields:
        self.out.now += a["ms"]
        return {}

    def op_state(self, a: Fields) -> Fields:
        remote = self.remote
        return {
            "log_start": remote.log_start,
            "leo": remote.leo,
            "last_caught_up_ms": time_of(remote.last_caught_up_ms),
            "last_fetch_leader_leo": remote.last_fetch_leader_leo,
            "last_fetch_ms": time_of(remote.last_fetch_ms),
            "broker_epoch": or_null(remote.broker_epoch),
        }
