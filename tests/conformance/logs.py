"""Logs and batches as cases write them; subjects `epoch_cache` and `log`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from engine.dataplane import recovery, retention, truncation, watermark
from engine.dataplane.produce import append_once
from engine.model import configs, errors, profiles
from engine.model.broker import Machine, Process
from engine.model.effects import Effects
from engine.model.epochs import EpochCache
from engine.model.log import (
    NO_LIMIT,
    OFFSETS_OUT_OF_ORDER,
    OK,
    UNEXPECTED_OFFSET,
    Batch,
    Log,
    empty_log,
)
from engine.model.messages import ProduceRequest
from engine.model.profiles import Profile
from engine.model.state import LEADER, Disk, RemoteReplica, Replica
from tests.conformance.adapter import Adapter, Fields, or_null

PROFILE_OF: Final = {
    "any": "K39",
    "hw": "Z0102",
    "kip101": "Z011",
    "kip279": "Z20",
    "kip320": "Z25",
    "fetch_truncation": "K39",
    "zk": "Z33",
    "kraft": "K39",
    "kraft_elr": "K41",
}
"""The profile that speaks for a generation of the cases: the last of its releases."""

APPEND_ERRORS: Final = {
    OK: "NONE",
    UNEXPECTED_OFFSET: "UNEXPECTED_APPEND_OFFSET",
    OFFSETS_OUT_OF_ORDER: "OFFSETS_OUT_OF_ORDER",
}


def profile_of(generation: str, release: str = "") -> Profile:
    """Return the profile of a case without a controller: its exact release or its generation."""
    return profiles.get_profile(release or PROFILE_OF[generation])


def batch_of(written: Any, time: int = 0) -> list[Batch]:
    """Return the batches that one element of a list of batches stands for."""
    if isinstance(written, dict) and "run" in written:
        first, end, epoch = written["run"]
        return [_batch(offset, epoch, 1, time) for offset in range(first, end)]
    if isinstance(written, dict):
        return [
            _batch(
                written["base"],
                written["epoch"],
                written.get("count", 1),
                time,
                written.get("producer_id", -1),
                written.get("producer_epoch", -1),
                written.get("sequence", -1),
            )
        ]
    return [_batch(written[0], written[1], written[2] if len(written) > 2 else 1, time)]


def _batch(
    base: int,
    epoch: int,
    count: int,
    time: int,
    producer: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
) -> Batch:
    values = tuple(str(offset) for offset in range(base, base + count))
    return Batch(base, epoch, values, time, producer, producer_epoch, sequence)


def batches_of(written: Sequence[Any], time: int = 0) -> list[Batch]:
    """Return a list of batches as cases write it."""
    return [batch for one in written for batch in batch_of(one, time)]


def fill_log(log: Log, given: Fields, time: int = 0) -> None:
    """Put the state that a case gives into an empty log: log, log_start, hw, epochs."""
    batches = batches_of(given.get("log", ()), time)
    start = given.get("log_start")
    first = batches[0].base if batches else start or 0
    log.truncate_fully(first)
    clears, log.old_format_clears = log.old_format_clears, False  # loaded, not appended
    for batch in batches:
        log.append(batch)
    log.old_format_clears = clears
    log.raise_log_start(first if start is None else start)
    if "epochs" in given:
        log.epochs.clear()
        for epoch, offset in given["epochs"]:
            log.epochs.epochs.append(epoch)
            log.epochs.starts.append(offset)
    log.hw = given.get("hw", log.log_start)


def records_of(log: Log) -> list[list[int]]:
    """Return the records of a log, one [offset, epoch] each."""
    return [
        [offset, batch.epoch]
        for batch in log.batches
        for offset in range(max(batch.base, log.log_start), min(batch.end, log.leo))
    ]


class EpochCacheCase(Adapter):
    """`epoch_cache`: E-1 - E-7."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        self.cache = EpochCache(profile_of(generation, release).monotonic_epoch_cache)
        for epoch, offset in given.get("epochs", ()):
            self.cache.assign(epoch, offset)

    def op_assign(self, a: Fields) -> Fields:
        self.cache.assign(a["epoch"], a["offset"])
        return {}

    def op_truncate_from_end(self, a: Fields) -> Fields:
        self.cache.truncate_from_end(a["offset"])
        return {}

    def op_truncate_from_start(self, a: Fields) -> Fields:
        self.cache.truncate_from_start(a["offset"])
        return {}

    def op_clear(self, a: Fields) -> Fields:
        self.cache.clear()
        return {}

    def op_reload(self, a: Fields) -> Fields:
        self.cache = self.cache.copy()
        return {}

    def op_end_offset_for(self, a: Fields) -> Fields:
        epoch, end = self.cache.end_offset_for(a["epoch"], a["leo"])
        return {"epoch": epoch, "end_offset": end}

    def op_latest_epoch(self, a: Fields) -> Fields:
        return {"epoch": or_null(self.cache.latest())}

    def op_previous_epoch(self, a: Fields) -> Fields:
        below = a.get("epoch")
        return {
            "epoch": or_null(self.cache.previous(self.cache.latest() if below is None else below))
        }

    def op_next_epoch(self, a: Fields) -> Fields:
        return {"epoch": or_null(self.cache.next(a["epoch"]))}

    def op_entry(self, a: Fields) -> Fields:
        return {"entry": self._entry(a["epoch"])}

    def op_previous_entry(self, a: Fields) -> Fields:
        return {"entry": self._entry(self.cache.previous(a["epoch"]))}

    def _entry(self, epoch: int) -> list[int] | None:
        start = self.cache.start_of(epoch)
        return None if start < 0 else [epoch, start]

    def op_epoch_for_offset(self, a: Fields) -> Fields:
        return {"epoch": or_null(self.cache.epoch_for_offset(a["offset"]))}

    def op_entries(self, a: Fields) -> Fields:
        return {"epochs": self.cache.entries()}

    def op_checkpoint(self, a: Fields) -> Fields:
        return {"epochs": self.cache.entries()}


class LogCase(Adapter):
    """`log`: L-3 - L-15, E-, P-7 on the log of one replica.

    Appends go through the leader's produce path.  Its one follower never fetches, so that the high
    watermark moves only when the case says so.
    """

    FOLLOWER = 2

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        profile = profile_of(generation, release)
        self.out = Effects()
        self.out.now = given.get("now_ms", 1_000_000)
        self.age = given.get("record_age_ms", 0)  # of records written at the start of the case
        self.expiration_ms = given.get("producer_id_expiration_ms", 86_400_000)
        log = empty_log(profile)
        log.segment_records = given.get("segment_records") or NO_LIMIT
        fill_log(log, given, self._record_time())
        self.disk = Disk(log)
        self.broker = Process(Machine(1, "1", "", profile, configs.build(profile), False))
        self.replica = self._open()

    def _record_time(self) -> int:
        return int(self.out.now - self.age)

    def _open(self) -> Replica:
        replica = Replica(0, 1, self.disk, self.broker.profile, self.broker.configs)
        replica.role = LEADER
        replica.isr = replica.maximal_isr = replica.assignment = (1, self.FOLLOWER)
        replica.remote = {self.FOLLOWER: RemoteReplica()}
        self.broker.replicas = {0: replica}
        return replica

    @property
    def log(self) -> Log:
        return self.replica.log

    def op_append_leader(self, a: Fields) -> Fields:
        count = a.get("count", 1)
        values = tuple(str(self.log.leo + i) for i in range(count))
        self.replica.leader_epoch = a["epoch"]
        request = ProduceRequest(
            -11,
            1,
            0,
            0,
            values,
            1,
            0,
            a.get("producer_id", -1),
            a.get("producer_epoch", -1),
            a.get("sequence", -1),
        )
        now, self.out.now = self.out.now, self._record_time()
        error, base, end, duplicate = append_once(self.broker, self.replica, request, self.out)
        self.out.now = now
        if error:
            return {"error": errors.name_of(error), "duplicate": False}
        return {"first_offset": base, "last_offset": end - 1, "duplicate": duplicate}

    def op_append_follower(self, a: Fields) -> Fields:
        error = self.log.append_follower(batches_of(a["batches"], self._record_time()))
        return {"error": APPEND_ERRORS[error]}

    def op_truncate_to(self, a: Fields) -> Fields:
        truncation.cut(self.replica, a["offset"], "L-14", self.out)
        return {}

    def op_truncate_fully(self, a: Fields) -> Fields:
        start = a.get("log_start")
        self.log.truncate_fully(a["offset"], -1 if start is None else start)
        return {}

    def op_update_hw(self, a: Fields) -> Fields:
        watermark.follow(self.replica, a["offset"], self.out)
        return {"hw": self.log.hw}

    def op_follower_update_hw(self, a: Fields) -> Fields:
        changed = watermark.follow(self.replica, a["offset"], self.out)
        return {"changed": changed, "hw": self.log.hw}

    def op_increment_hw(self, a: Fields) -> Fields:
        """Update the leader: its follower has fetched up to the wanted offset."""
        self.replica.remote[self.FOLLOWER].leo = a["offset"]
        changed = watermark.maybe_increment_hw(self.broker, self.replica, self.out)
        self.replica.remote[self.FOLLOWER].leo = -1
        return {"changed": changed, "hw": self.log.hw}

    def op_increment_log_start(self, a: Fields) -> Fields:
        error, changed = retention.raise_log_start(self.log, a["offset"])
        return {"error": errors.name_of(error), "changed": changed}

    def op_assign_epoch(self, a: Fields) -> Fields:
        self.log.epochs.assign(a["epoch"], a["offset"])
        return {}

    def op_end_offset_for_epoch(self, a: Fields) -> Fields:
        epoch, end = self.log.end_offset_for_epoch(a["epoch"])
        return {"epoch": epoch, "end_offset": end}

    def op_read(self, a: Fields) -> Fields:
        bound = self.log.hw if a.get("isolation") == "high_watermark" else self.log.leo
        batches = self.log.read(a["offset"], bound, a.get("max_batches") or NO_LIMIT)
        if batches is None:
            return {"error": "OFFSET_OUT_OF_RANGE"}
        return {
            "count": sum(batch.end - batch.base for batch in batches),
            "first_offset": batches[0].base if batches else None,
            "last_offset": batches[-1].end - 1 if batches else None,
        }

    def op_roll(self, a: Fields) -> Fields:
        self.log.roll()
        return {}

    def op_delete_old_segments(self, a: Fields) -> Fields:
        size = self.given.get("retention_records")
        age = self.given.get("retention_ms")
        deleted = retention.delete_old_segments(
            self.log,
            self.out.now,
            retention.UNLIMITED if size is None else size,
            retention.UNLIMITED if age is None else age,
        )
        return {"deleted": deleted}

    def op_advance_time(self, a: Fields) -> Fields:
        self.out.now += a["ms"]
        if self.age:
            self.age += a["ms"]
        return {}

    def op_expire_producers(self, a: Fields) -> Fields:
        self.log.producers.expire(self.out.now, self.expiration_ms)
        return {}

    def op_reopen(self, a: Fields) -> Fields:
        start = a.get("log_start")
        self.disk.log_start_checkpoint = self.log.log_start if start is None else start
        damaged = a.get("damaged_from")
        recovery.reopen(
            self.disk,
            a["clean"],
            self.out.now,
            self.expiration_ms,
            -1 if damaged is None else damaged,
        )
        self.replica = self._open()
        return {}

    def op_state(self, a: Fields) -> Fields:
        log = self.log
        return {
            "log_start": log.log_start,
            "leo": log.leo,
            "hw": log.hw,
            "epochs": log.epochs.entries(),
            "latest_epoch": or_null(log.epochs.latest()),
            "segments": len(log.segments),
            "log": records_of(log),
            "producers": {
                str(producer): {
                    "producer_epoch": entry.epoch,
                    "first_sequence": entry.batches[0][0],
                    "last_sequence": entry.batches[-1][1],
                    "first_offset": entry.batches[0][2],
                    "last_offset": entry.batches[-1][3],
                }
                for producer, entry in log.producers.entries.items()
            },
        }
