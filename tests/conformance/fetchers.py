"""Subject `fetcher`: a follower's fetcher thread against a modelled or a scripted leader."""

from __future__ import annotations

from typing import Any, Final

from engine.dataplane import fetcher, partition_fetch_state
from engine.model import configs
from engine.model.broker import Machine, Process
from engine.model.effects import Effects
from engine.model.errors import CORRUPT_MESSAGE, code_of
from engine.model.log import NO_LIMIT, Batch, Log, empty_log
from engine.model.messages import (
    EARLIEST,
    EARLIEST_LOCAL,
    EPOCH_END,
    FETCH,
    LATEST,
    NO_EPOCH,
    EpochEndRequest,
    EpochEndResponse,
    FetchData,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    Message,
)
from engine.model.profiles import Profile
from engine.model.remote_log import RemoteSegment, RemoteStore
from engine.model.state import FETCHING, FOLLOWER, Disk, FetcherThread, PartitionFetchState, Replica
from tests.conformance.adapter import NONE, Adapter, CaseError, Fields, or_null
from tests.conformance.leaders import ModelledLeader, ScriptedLeader
from tests.conformance.logs import batches_of, fill_log, profile_of, records_of

LEADER_ID: Final = 1
FOLLOWER_ID: Final = 2
LOOKED_UP: Final = {
    LATEST: "latest_offset",
    EARLIEST: "earliest_offset",
    EARLIEST_LOCAL: "earliest_local_offset",
}
"""Names of ListOffsets requests, for failures that a case orders."""


class WatchedLog(Log):
    """A log that notes the offsets it is truncated to, and that can fail on demand."""

    __slots__ = ("broken", "told")

    def __init__(self, profile: Profile) -> None:
        rules = empty_log(profile)
        super().__init__(
            rules.cleans_on_noop,
            rules.clamps_hw,
            rules.evicts_producers,
            rules.old_format_clears,
        )
        self.epochs = rules.epochs
        self.told: list[int] = []
        self.broken = ""

    def truncate_to(self, offset: int) -> list[Batch]:
        if self.broken == "truncate":
            raise OSError("the disk fails")
        self.told.append(offset)
        return super().truncate_to(offset)

    def append_follower(self, batches: Any) -> int:
        if self.broken == "append":
            raise OSError("the disk fails")
        return super().append_follower(batches)


class FetcherCase(Adapter):
    """`fetcher`: F-2 - F-10, T-0 - T-4.  Every request is carried to the leader and back."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        profile = profile_of(generation, release)
        settings = configs.build(profile)
        settings.record_bytes = 1  # sizes of cases are records
        settings.fetch_backoff_ms = given.get("fetch_backoff_ms", 0)
        settings.fetch_max_records = given.get("max_batches_per_fetch") or NO_LIMIT
        settings.fetch_wait_max_ms = 0  # an answer comes at once, even if it is empty
        self.out = Effects()
        self.out.now = given.get("now_ms", 1_000_000)
        self.broker = Process(Machine(FOLLOWER_ID, "follower", "", profile, settings, False))
        self.logs: dict[str, WatchedLog] = {}
        self.leader: ModelledLeader | ScriptedLeader
        if given["leader_mode"] == "modelled":
            self.leader = ModelledLeader(LEADER_ID, FOLLOWER_ID, profile, settings)
        else:
            self.leader = ScriptedLeader(LEADER_ID, self.broker)
        for p, sides in given.get("partitions", {}).items():
            self._add_replica(p, sides.get("replica", {}))
            if isinstance(self.leader, ModelledLeader):
                self.leader.add(self.tps[p], sides["leader"])
        if "remote" in given and isinstance(self.leader, ModelledLeader):
            store = self._store(given["remote"])
            self.broker.machine.store = self.leader.broker.machine.store = store
        self.failures: list[Fields] = []
        self.corrupt: list[int] = []
        self.hooks: dict[int, list[Fields]] = {}
        self.sent = {EPOCH_END: 0, FETCH: 0}
        self.last_request: Fields = {}

    def _add_replica(self, p: str, given: Fields) -> None:
        tp = self._tp_of(p)
        log = self.logs[p] = WatchedLog(self.broker.profile)
        fill_log(log, given)
        replica = Replica(tp, FOLLOWER_ID, Disk(log), self.broker.profile, self.broker.configs)
        replica.role = FOLLOWER
        replica.leader = LEADER_ID
        replica.leader_epoch = given.get("leader_epoch", 0)
        self.broker.replicas[tp] = replica

    def _store(self, given: Fields) -> RemoteStore:
        """Return remote storage with the segments of a case: base, end, and epochs up to there."""
        store = RemoteStore()
        for p, segments in given.items():
            for one in segments:
                checkpoint = tuple((epoch, start) for epoch, start in one["epochs"])
                batches = tuple(batches_of(one.get("log", ())))
                store.log_of(self.tps[p]).finish(
                    RemoteSegment(1, LEADER_ID, one["base"], one["end"], batches, checkpoint)
                )
        return store

    def _name(self, tp: int) -> str:
        return next(name for name, number in self.tps.items() if number == tp)

    # -- input of the fetcher -------------------------------------------------------------------

    def op_add_partition(self, a: Fields) -> Fields:
        tp = self._tp_of(a["p"])
        thread = fetcher.add_partition(
            self.broker, self.broker.replicas[tp], a["fetch_offset"], a["leader_epoch"], self.out
        )
        if a.get("topic_id") is not None:
            partition_fetch_state.set_topic_ids(self.broker, {tp: a["topic_id"]})
        if thread.lookups:
            fetcher.do_work(self.broker, thread, self.out)
            self._carry()
        return {}

    def op_remove_partition(self, a: Fields) -> Fields:
        state = fetcher.remove_partition(self.broker, self._tp_of(a["p"]))
        return {"fetch_offset": None if state is None else state.offset}

    def op_set_topic_ids(self, a: Fields) -> Fields:
        ids = {self._tp_of(p): topic_id for p, topic_id in a["ids"].items()}
        partition_fetch_state.set_topic_ids(self.broker, ids)
        return {}

    def op_replica_set(self, a: Fields) -> Fields:
        self.broker.replicas[self._tp_of(a["p"])].leader_epoch = a["leader_epoch"]
        return {}

    def op_inject_failure(self, a: Fields) -> Fields:
        self.logs[a["p"]].broken = a["stage"]
        return {}

    def op_store(self, a: Fields) -> Fields:
        store = self.broker.machine.store
        if store is None:
            raise CaseError("the case has no remote storage")
        store.up = a["up"]
        return {}

    def op_advance_time(self, a: Fields) -> Fields:
        self.out.now += a["ms"]
        return {}

    # -- input of the leader --------------------------------------------------------------------

    def _scripted(self) -> ScriptedLeader:
        if not isinstance(self.leader, ScriptedLeader):
            raise CaseError("only a scripted leader can be told its answers")
        return self.leader

    def op_script_epoch_answer(self, a: Fields) -> Fields:
        answer = (code_of(a.get("error", NONE)), a.get("epoch", -1), a.get("end_offset", -1))
        self._scripted().epochs[self._tp_of(a["p"])] = answer
        return {}

    def op_script_unrequested_epoch_answer(self, a: Fields) -> Fields:
        answer = (self._tp_of(a["p"]), 0, a["epoch"], a["end_offset"])
        self._scripted().unrequested.append(answer)
        return {}

    def op_script_fetch_answer(self, a: Fields) -> Fields:
        self._scripted().fetches[self._tp_of(a["p"])] = a
        return {}

    def op_script_list_offset(self, a: Fields) -> Fields:
        answer = (code_of(a.get("error", NONE)), a.get("offset", -1))
        self._scripted().offsets[self._tp_of(a["p"]), a["which"] == "latest"] = answer
        return {}

    def op_leader_set(self, a: Fields) -> Fields:
        if not isinstance(self.leader, ModelledLeader):
            raise CaseError("a scripted leader has no state")
        self.leader.change(self._tp_of(a["p"]), a)
        return {}

    def op_fail_next_request(self, a: Fields) -> Fields:
        self.failures.append(a)
        return {}

    def op_corrupt_next_fetch(self, a: Fields) -> Fields:
        self.corrupt.append(self._tp_of(a["p"]))
        return {}

    def op_during_epoch_request(self, a: Fields) -> Fields:
        self.hooks[EPOCH_END] = a["do"]
        return {}

    def op_during_fetch_request(self, a: Fields) -> Fields:
        self.hooks[FETCH] = a["do"]
        return {}

    # -- going round -----------------------------------------------------------------------------

    def _thread(self) -> FetcherThread | None:
        return next(iter(self.broker.fetchers.values()), None)

    def op_do_work(self, a: Fields) -> Fields:
        """Run one iteration: first the truncation phase, then one fetch request."""
        try:
            for phase in (fetcher.maybe_truncate, fetcher.maybe_fetch):
                thread = self._thread()
                if thread is not None:
                    phase(self.broker, thread, self.out)
                    self._carry()
        except RuntimeError:
            return {"error": "ILLEGAL_STATE"}
        return {}

    def op_do_work_until_synced(self, a: Fields) -> Fields:
        if not isinstance(self.leader, ModelledLeader):
            raise CaseError("a scripted leader has no log")
        mine, theirs = self.logs[a["p"]], self.leader.log(self._tp_of(a["p"]))
        for _ in range(a.get("max", 50)):
            if records_of(mine) == records_of(theirs):
                break
            self.op_do_work({})
            self.out.now += self.broker.configs.fetch_backoff_ms
        return {"synced": records_of(mine) == records_of(theirs)}

    def _carry(self) -> None:
        """Carry the fetcher's requests to the leader and the answers back, until none is left."""
        while self.out.sends:
            self._exchange(self.out.sends.pop(0))

    def _exchange(self, request: Message) -> None:
        broker, out = self.broker, self.out
        if isinstance(request, FetchRequest):
            self._note_fetch(request)
            fetched = self._spoil(request, self.leader.fetch(request, out.now))
            self._interrupt(FETCH)
            if fetched is not None:
                fetcher.on_fetch_response(broker, fetched, out)
        elif isinstance(request, EpochEndRequest):
            self.sent[EPOCH_END] += 1
            ends = self.leader.epoch_ends(request, out.now)
            self._interrupt(EPOCH_END)
            fetcher.on_epoch_end_response(
                broker, EpochEndResponse(LEADER_ID, FOLLOWER_ID, request.corr, ends), out
            )
        elif isinstance(request, ListOffsetsRequest):
            self._look_up(request)

    def _interrupt(self, kind: int) -> None:
        """Apply an event between the leader's answer and its handling by the follower."""
        for operation in self.hooks.pop(kind, ()):
            self.perform(operation)

    def _note_fetch(self, request: FetchRequest) -> None:
        self.sent[FETCH] += 1
        self.last_request = {
            self._name(fp.tp): {
                "fetch_offset": fp.offset,
                "log_start": fp.log_start,
                "leader_epoch": or_null(fp.leader_epoch),
                "last_fetched_epoch": or_null(fp.last_epoch),
            }
            for fp in request.partitions
        }

    def _failure(self, kind: str, tps: list[int]) -> Fields | None:
        """Return the failure that the case has ordered for a request of this kind, once."""
        for failure in self.failures:
            p = failure.get("p")
            if failure["request"] == kind and (p is None or self._tp_of(p) in tps):
                self.failures.remove(failure)
                return failure
        return None

    def _spoil(self, request: FetchRequest, data: list[FetchData]) -> FetchResponse | None:
        """Return the answer with the ordered failures; None if the request as a whole fails."""
        tps = [fp.tp for fp in request.partitions]
        failure = self._failure("fetch", tps)
        if failure is not None and failure.get("p") is None:
            fetcher.on_request_broken(self.broker, LEADER_ID, request.corr, self.out)
            return None
        for at, one in enumerate(data):
            if failure is not None and self._tp_of(failure["p"]) == one.tp:
                data[at] = FetchData(one.tp, code_of(failure["error"]), -1, -1, ())
            elif one.tp in self.corrupt:
                self.corrupt.remove(one.tp)
                data[at] = FetchData(one.tp, CORRUPT_MESSAGE, -1, -1, ())
        return FetchResponse(LEADER_ID, FOLLOWER_ID, request.corr, data)

    def _look_up(self, request: ListOffsetsRequest) -> None:
        failure = self._failure(LOOKED_UP[request.timestamp], [request.tp])
        if failure is not None and failure.get("p") is None:
            fetcher.on_request_broken(self.broker, LEADER_ID, request.corr, self.out)
            return
        if failure is not None:
            found = code_of(failure["error"]), -1, NO_EPOCH
        else:
            found = self.leader.list_offset(request, self.out.now)
        answer = ListOffsetsResponse(
            LEADER_ID, FOLLOWER_ID, request.corr, request.tp, request.timestamp, *found
        )
        fetcher.on_list_offsets_response(self.broker, answer, self.out)

    # -- observing -------------------------------------------------------------------------------

    def _state(self, p: str) -> PartitionFetchState | None:
        thread = fetcher.thread_of(self.broker, self._tp_of(p))
        return None if thread is None else thread.partitions[self._tp_of(p)]

    def op_fetch_state(self, a: Fields) -> Fields:
        state = self._state(a["p"])
        if state is None:
            fields = ("state", "fetch_offset", "leader_epoch", "last_fetched_epoch", "lag")
            absent: Fields = dict.fromkeys((*fields, "topic_id"))
            return {**absent, "present": False, "delayed": False, "ready": False}
        delayed = state.delay_until > self.out.now
        fetching = state.state == FETCHING
        return {
            "present": True,
            "state": "fetching" if fetching else "truncating",
            "delayed": delayed,
            "ready": fetching and not delayed,
            "fetch_offset": state.offset,
            "leader_epoch": state.leader_epoch,
            "last_fetched_epoch": or_null(state.last_epoch),
            "lag": state.lag,
            "topic_id": state.topic_id,
        }

    def op_replica_state(self, a: Fields) -> Fields:
        log = self.logs[a["p"]]
        return {
            "leo": log.leo,
            "hw": log.hw,
            "log_start": log.log_start,
            "local_start": max(log.log_start, log.local_start),
            "epochs": log.epochs.entries(),
            "log": [one for one in records_of(log) if one[0] >= log.local_start],
        }

    def op_counters(self, a: Fields) -> Fields:
        states = {p: self._state(p) for p in self.tps}
        return {
            "epoch_requests": self.sent[EPOCH_END],
            "fetch_requests": self.sent[FETCH],
            "failed": sorted(map(self._name, self.broker.failed)),
            "truncations": {p: log.told.copy() for p, log in self.logs.items()},
            "has_lag": sorted(p for p, s in states.items() if s is not None and s.lag is not None),
        }

    def op_last_fetch_request(self, a: Fields) -> Fields:
        return {"partitions": self.last_request}
