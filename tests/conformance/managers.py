"""Subject `fetcher_manager`: the assignment of partitions to a broker's fetchers."""

from __future__ import annotations

from typing import Final

from engine.dataplane import fetcher, partition_fetch_state
from engine.model import configs
from engine.model.broker import Machine, Process
from engine.model.effects import Effects
from engine.model.log import empty_log
from engine.model.quotas import TOPIC
from engine.model.state import FOLLOWER, Disk, Replica
from tests.conformance.adapter import Adapter, Fields
from tests.conformance.logs import profile_of

FOLLOWER_ID: Final = 1_000
"""A number above the count of source brokers of any case."""


class FetcherManagerCase(Adapter):
    """`fetcher_manager`: F-1 - F-3, F-8."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        profile = profile_of(generation, release)
        settings = configs.build(profile)
        self.broker = Process(Machine(FOLLOWER_ID, "follower", "", profile, settings, False))
        self.broker.num_fetchers = given["fetchers"]
        self.out = Effects()
        self.op_add(given)

    def op_add(self, a: Fields) -> Fields:
        broker = self.broker
        for p, one in a.get("partitions", {}).items():
            tp = self._tp_of(p)
            if tp not in broker.replicas:
                disk = Disk(empty_log(broker.profile))
                broker.replicas[tp] = Replica(tp, broker.id, disk, broker.profile, broker.configs)
            replica = broker.replicas[tp]
            replica.role = FOLLOWER
            replica.leader, replica.leader_epoch = one["leader"], one["leader_epoch"]
            offset = one["fetch_offset"]
            fetcher.add_partition(broker, replica, offset, one["leader_epoch"], self.out)
        return {}

    def op_remove(self, a: Fields) -> Fields:
        for p in a["partitions"]:
            fetcher.remove_partition(self.broker, self._tp_of(p))
        return {}

    def op_mark_failed(self, a: Fields) -> Fields:
        self.broker.failed.update(map(self._tp_of, a["partitions"]))
        return {}

    def op_resize(self, a: Fields) -> Fields:
        fetcher.resize(self.broker, a["fetchers"], self.out)
        return {}

    def op_state(self, a: Fields) -> Fields:
        threads = self.broker.fetchers.values()
        owners = [(tp, thread) for thread in threads for tp in thread.partitions]
        failed = self.broker.failed
        count = self.broker.num_fetchers
        return {
            "followed": sorted(p for p, tp in self.tps.items() if any(tp == o for o, _ in owners)),
            "failed": sorted(p for p, tp in self.tps.items() if tp in failed),
            "failed_count": len(failed),
            "consistent": len({tp for tp, _ in owners}) == len(owners)
            and all(
                thread.fetcher == partition_fetch_state.fetcher_id(TOPIC, tp, count)
                and thread.leader == self.broker.replicas[tp].leader
                for tp, thread in owners
            ),
        }
