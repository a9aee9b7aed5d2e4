"""Broker shared by the subjects `partition` and `broker`, and its messages from others."""

from __future__ import annotations

from typing import Final

from engine.model import configs, errors, profiles
from engine.model.broker import Machine, Process
from engine.model.effects import Effects
from engine.model.errors import name_of
from engine.model.log import empty_log
from engine.model.messages import FetchData, FetchPartition, FetchRequest
from engine.model.profiles import Profile
from engine.model.records import PartitionRecord
from engine.model.state import Disk, Peer
from tests.conformance.adapter import Adapter, Fields, from_null
from tests.conformance.logs import fill_log, profile_of

FIRST_EPOCH: Final = 1000
"""The default broker epoch of broker n is 1000 + n."""

CONSUMER: Final = -31
PROFILE_OF_MODE: Final = {"kraft": "K39", "zk": "Z33"}
OF_THE_PROTOCOL: Final = (
    "fetch_epoch_check",
    "epoch_entry_at_election",
    "monotonic_epoch_cache",
    "cache_cleaned_by_noop_truncate",
)
PROTOCOLS: Final = ("hw", "kip101", "kip279", "kip320", "fetch_truncation")


def profile_for(mode: str, generation: str, release: str = "") -> Profile:
    """Return the profile of a mode, with the fetch protocol of the generation if it names one.

    The name of an exact release decides all of that, except the controller if it has both kinds.
    """
    if release:
        both = f"{release}-{mode}"
        return profiles.get_profile(both if both in profiles.ADDRESSES else release)
    if generation == "kraft_elr":
        return profiles.get_profile("K41")
    profile = profiles.get_profile(PROFILE_OF_MODE[mode])
    if generation not in PROTOCOLS:
        return profile
    flags = profile_of(generation).flags()
    changes = {name: flags[name] for name in ("truncation", *OF_THE_PROTOCOL)}
    return profile.with_flags(changes)


class BrokerAdapter(Adapter):
    """One broker of a case, driven by steps: no message leaves it by itself."""

    def __init__(self, given: Fields, generation: str, release: str, mode: str) -> None:
        super().__init__(given, generation, release)
        profile = profile_for(mode, generation, release)
        settings = configs.build(profile)
        settings.record_bytes = 1  # sizes of cases are records
        settings.lag_time_max_ms = given.get("replica_lag_time_max_ms", 30_000)
        settings.min_insync_replicas = given.get("min_insync_replicas", 1)
        self.local: int = given["local"]
        self.broker = Process(Machine(self.local, str(self.local), "", profile, settings, False))
        self.broker.broker_epoch = self._default_epoch(self.local)
        self.out = Effects()
        self.out.now = given.get("now_ms", 1_000_000)
        for broker, known in given.get("brokers", {}).items():
            self._hear_of(int(broker), known)

    def _default_epoch(self, broker: int) -> int:
        known = self.given.get("brokers", {}).get(str(broker), {})
        return int(known.get("epoch", FIRST_EPOCH + broker))

    def _peer(self, broker: int) -> Peer:
        peer = self.broker.peers.get(broker)
        if peer is None:
            peer = self.broker.peers[broker] = Peer(self._default_epoch(broker))
        return peer

    def _hear_of(self, broker: int, known: Fields) -> None:
        peer = self._peer(broker)
        peer.broker_epoch = known.get("epoch", peer.broker_epoch)
        peer.fenced = known.get("fenced", peer.fenced)
        peer.shutting_down = known.get("shutting_down", peer.shutting_down)
        peer.alive = known.get("alive", peer.alive)

    def _record(self, a: Fields) -> PartitionRecord:
        """Return the controller's record of a leadership decision, and register its brokers."""
        record = PartitionRecord(
            tuple(a["replicas"]),
            tuple(a["isr"]),
            a.get("leader", self.local),
            a["leader_epoch"],
            a.get("partition_epoch", 0),
            tuple(a.get("adding", ())),
            tuple(a.get("removing", ())),
        )
        for broker in (*record.replicas, *record.adding, record.leader):
            if broker >= 0:
                self._peer(broker)
        return record

    def _disk(self, given: Fields) -> Disk:
        """Return a log directory with its contents before the broker loads it."""
        disk = Disk(empty_log(self.broker.profile))
        fill_log(disk.log, given)
        disk.log_start_checkpoint = disk.log.log_start
        return disk

    def _fetch_request(self, tp: int, a: Fields, replica: int, corr: int) -> FetchRequest:
        """Return a fetch request for one partition, from a follower or (-1) a consumer."""
        part = FetchPartition(
            tp,
            a["offset"],
            from_null(a.get("last_fetched_epoch")),
            from_null(a.get("leader_epoch")),
            a.get("log_start", 0),
        )
        epoch = from_null(a.get("broker_epoch", self._fetch_epoch(replica)))
        return FetchRequest(
            replica if replica >= 0 else CONSUMER,
            self.local,
            corr,
            (part,),
            replica,
            epoch,
            a.get("max_wait_ms", 0),
            a.get("min_bytes", 1),
            self.broker.configs.fetch_max_records,
            "" if a.get("client_metadata", False) else None,
        )

    def _fetch_epoch(self, replica: int) -> int:
        """Return the broker epoch in a fetch: a follower's first one, or -1 for a consumer."""
        return FIRST_EPOCH + replica if replica >= 0 else -1

    def op_advance_time(self, a: Fields) -> Fields:
        self.out.now += a["ms"]
        return {}


def fetch_fields(data: FetchData) -> Fields:
    """Return one partition of a fetch response in the format of a case."""
    return {
        "error": name_of(data.error),
        "hw": data.hw,
        "log_start": data.log_start,
        "diverging": None if data.diverging is None else list(data.diverging),
        "count": sum(batch.end - batch.base for batch in data.batches),
    }


def error_field(error: int) -> Fields:
    return {"error": errors.name_of(error)}
