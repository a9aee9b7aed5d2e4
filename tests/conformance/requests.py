"""Subject `broker`: one broker with partitions and its waiting room for requests."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from engine.controlplane import membership, roles
from engine.dataplane import fetcher, produce, serving, watermark
from engine.model.control_messages import LeaderAndIsr, StopReplica
from engine.model.errors import NONE
from engine.model.messages import (
    CONTROLLER,
    NO_EPOCH,
    FetchResponse,
    ProduceRequest,
    ProduceResponse,
)
from engine.model.state import LEADER, PartitionFetchState
from engine.sim.dispatch import BROKER_TIMERS
from tests.conformance.adapter import Fields
from tests.conformance.brokers import BrokerAdapter, error_field, fetch_fields

PRODUCER = -11


class BrokerCase(BrokerAdapter):
    """`broker`: P-, S-5, S-6, CP-LISR, 5.3.  Requests wait until something answers them."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        mode = given.get("mode", "zk")
        super().__init__(given, generation, release, mode)
        self.kraft = mode == "kraft"
        self.corr = 0
        self.handles: dict[str, int] = {}
        self.answers: dict[int, Fields] = {}
        self.timers: list[tuple[int, int, int, Any]] = []
        self.following: dict[int, PartitionFetchState] = {}
        self.starts: dict[int, int] = {}
        checkpoints = given.get("hw_checkpoints", {})
        hosted = given.get("partitions", {})
        for p in {**hosted, **checkpoints}:
            disk = self.broker.machine.disks[self._tp_of(p)] = self._disk(hosted.get(p, {}))
            disk.hw_checkpoint = checkpoints.get(p, 0)
        for p, log in hosted.items():
            replica = roles.ensure_log(self.broker, self._tp_of(p), self.out)
            replica.log.hw = log.get("hw", replica.log.hw)

    def _next(self, handle: str | None) -> int:
        self.corr += 1
        if handle is not None:
            self.handles[handle] = self.corr
        return self.corr

    def _after(self) -> Fields:
        """Take what the last step sent and asked for: answers, timers, restarts of fetchers."""
        sends, self.out.sends = self.out.sends, []
        for message in sends:
            if isinstance(message, ProduceResponse):
                self.answers[message.corr] = {
                    **error_field(message.error),
                    "first_offset": message.base,
                    "log_start": message.log_start,
                }
            elif isinstance(message, FetchResponse):
                self.answers[message.corr] = fetch_fields(message.partitions[0])
        timers, self.out.timers = self.out.timers, []
        for _, delay, kind, data in timers:
            self.corr += 1  # a number of its own ends all ties
            heappush(self.timers, (self.out.now + delay, self.corr, kind, data))
        now_following = {
            tp: state
            for thread in self.broker.fetchers.values()
            for tp, state in thread.partitions.items()
        }
        for tp, state in now_following.items():
            if self.following.get(tp) is not state:
                self.starts[tp] = self.starts.get(tp, 0) + 1
        self.following = now_following
        return {}

    # -- the controller's decisions --------------------------------------------------------------

    def op_become(self, a: Fields) -> Fields:
        tp, record = self._tp_of(a["p"]), self._record(a)
        if self.kraft:
            membership.apply_changes(self.broker, {tp: record}, self.out)
            return self._after()
        epoch = self.broker.broker_epoch
        live = {b: peer.broker_epoch for b, peer in self.broker.peers.items() if peer.alive}
        request = LeaderAndIsr(
            CONTROLLER,
            self.local,
            0,
            a.get("controller_epoch", 0),
            epoch,
            [(tp, record, False)],
            live,
        )
        error = membership.request_error(self.broker, request.controller_epoch, epoch)
        if error == NONE:
            error = membership.state_error(self.broker, tp, record)
        membership.on_leader_and_isr(self.broker, request, self.out)
        self._after()
        return error_field(error)

    def op_stop_replica(self, a: Fields) -> Fields:
        tp, epoch = self._tp_of(a["p"]), self.broker.broker_epoch
        states = [(tp, a["leader_epoch"], a["delete"])]
        request = StopReplica(
            CONTROLLER, self.local, 0, a.get("controller_epoch", 0), epoch, states
        )
        error = membership.request_error(self.broker, request.controller_epoch, epoch)
        refused = error or membership.stop_error(self.broker, tp, a["leader_epoch"])
        membership.on_stop_replica(self.broker, request, self.out)
        self._after()
        return {**error_field(error), "partition_error": error_field(refused)["error"]}

    def op_mark_offline(self, a: Fields) -> Fields:
        roles.mark_offline(self.broker, self._tp_of(a["p"]), self.out)
        return self._after()

    # -- requests --------------------------------------------------------------------------------

    def op_produce(self, a: Fields) -> Fields:
        acks = a.get("acks", -1)
        request = ProduceRequest(
            PRODUCER,
            self.local,
            self._next(a.get("handle")),
            self._tp_of(a["p"]),
            ("r",) * (a.get("count", 1) * a.get("batches", 1)),
            acks,
            a.get("timeout_ms", 10_000),
            a.get("producer_id", -1),
            a.get("producer_epoch", -1),
            a.get("sequence", -1),
        )
        if acks == 0:  # there is no answer; the case may still read the error
            self.answers[request.corr] = error_field(produce.refusal(self.broker, request))
        produce.on_produce_request(self.broker, request, self.out)
        return self._after()

    def op_fetch(self, a: Fields) -> Fields:
        corr = self._next(a.get("handle"))
        replica = a.get("replica")
        request = self._fetch_request(
            self._tp_of(a["p"]), a, -1 if replica is None else replica, corr
        )
        serving.on_fetch_request(self.broker, request, self.out)
        return self._after()

    def op_poll(self, a: Fields) -> Fields:
        answer = self.answers.get(self.handles[a["handle"]])
        return {"done": False} if answer is None else {**answer, "done": True}

    def op_offset_for_leader_epoch(self, a: Fields) -> Fields:
        current = a.get("leader_epoch")
        error, epoch, end = serving.epoch_end(
            self.broker,
            self._tp_of(a["p"]),
            a["epoch"],
            NO_EPOCH if current is None else current,
        )
        return {**error_field(error), "epoch": epoch, "end_offset": end}

    # -- time and storage ------------------------------------------------------------------------

    def op_advance_time(self, a: Fields) -> Fields:
        until = self.out.now + a["ms"]
        while self.timers and self.timers[0][0] <= until:
            self.out.now, _, kind, data = heappop(self.timers)
            BROKER_TIMERS[kind](self.broker, data, self.out)
            self._after()
        self.out.now = until
        return {}

    def op_update_hw(self, a: Fields) -> Fields:
        watermark.follow(self.broker.replicas[self._tp_of(a["p"])], a["offset"], self.out)
        return self._after()

    def op_checkpoint_hw(self, a: Fields) -> Fields:
        watermark.checkpoint(self.broker, self.out)
        self._after()
        disks = {p: self.broker.machine.disks.get(tp) for p, tp in self.tps.items()}
        return {"hw": {p: disk.hw_checkpoint for p, disk in disks.items() if disk is not None}}

    # -- observing -------------------------------------------------------------------------------

    def op_partition_state(self, a: Fields) -> Fields:
        tp = self._tp_of(a["p"])
        replica = self.broker.replicas.get(tp)
        if replica is None:
            return {"hosted": False}
        thread = fetcher.thread_of(self.broker, tp)
        return {
            "hosted": True,
            "is_leader": replica.role == LEADER,
            "leader": replica.leader,
            "leader_epoch": replica.leader_epoch,
            "partition_epoch": replica.partition_epoch,
            "isr": sorted(replica.isr),
            "hw": replica.log.hw,
            "leo": replica.log.leo,
            "log_start": replica.log.log_start,
            "fetching_from": None if thread is None else thread.leader,
            "fetcher_starts": self.starts.get(tp, 0),
        }

    def op_replica(self, a: Fields) -> Fields:
        replica = self.broker.replicas.get(self._tp_of(a["p"]))
        remote = None if replica is None else replica.remote.get(a["replica"])
        if remote is None:
            return {"leo": -1, "log_start": -1}
        return {"leo": remote.leo, "log_start": remote.log_start}
