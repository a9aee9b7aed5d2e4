"""Subject `partition`: one partition on one broker, and its exchange with the controller."""

from __future__ import annotations

from typing import Final

from engine.controlplane import roles
from engine.dataplane import insync, produce, reading, retention, serving, watermark
from engine.model.control_messages import (
    AlterAnswer,
    AlterItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
)
from engine.model.errors import NONE, code_of
from engine.model.log import Log
from engine.model.messages import EARLIEST, LATEST, NO_EPOCH, FetchResponse, ProduceRequest
from engine.model.state import COMMITTED, LEADER, Replica
from tests.conformance.adapter import Fields, or_null
from tests.conformance.brokers import BrokerAdapter, error_field, fetch_fields
from tests.conformance.logs import APPEND_ERRORS, batches_of
from tests.conformance.progress import time_of

TP: Final = 0
PRODUCER: Final = -11
TIMESTAMPS: Final = {"latest": LATEST, "earliest": EARLIEST}


class PartitionCase(BrokerAdapter):
    """`partition`: CP-MAKE-LEADER, CP-MAKE-FOLLOWER, H-, S-, C-5, CP-ALTER (sender)."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release, given.get("mode", "kraft"))
        self.requests_sent = self.expands = self.shrinks = self.failures = 0
        self.broker.metadata[TP] = (-1, -1)
        if given.get("has_log", True):
            disk = self.broker.machine.disks[TP] = self._disk(given)
            disk.hw_checkpoint = given.get("hw_checkpoint", 0)
            roles.ensure_log(self.broker, TP, self.out)

    @property
    def replica(self) -> Replica:
        return self.broker.replicas[TP]

    @property
    def log(self) -> Log:
        return self.replica.log

    def _collect(self) -> list[FetchResponse]:
        """Count the AlterPartition requests that left; the fetch answers among the messages."""
        sends, self.out.sends = self.out.sends, []
        self.requests_sent += sum(1 for m in sends if isinstance(m, AlterPartitionRequest))
        return [m for m in sends if isinstance(m, FetchResponse)]

    # -- roles -----------------------------------------------------------------------------------

    def op_make_leader(self, a: Fields) -> Fields:
        became = roles.make_leader(self.broker, TP, self._record(a), self.out)
        self._collect()
        return {"became_leader": became}

    def op_make_follower(self, a: Fields) -> Fields:
        changed = roles.make_follower(self.broker, TP, self._record(a), self.out)
        self._collect()
        return {"changed": changed}

    # -- writing ---------------------------------------------------------------------------------

    def op_append(self, a: Fields) -> Fields:
        count = a.get("count", 1)
        stamps = list(a.get("timestamps") or ())
        first = last = -1
        for at in range(a.get("batches", 1)):
            times = tuple(stamps[at * count : (at + 1) * count]) or None
            request = ProduceRequest(
                PRODUCER, self.local, 0, TP, ("r",) * count, a.get("acks", 1), 0, times=times
            )
            replica = self.broker.replicas.get(TP)
            error = produce.refusal(self.broker, request)
            if error == NONE and replica is not None:
                error, base, end, _ = produce.append_once(self.broker, replica, request, self.out)
                first, last = (base if first < 0 else first), end - 1
            if error:
                return error_field(error)
        self._collect()
        return {"first_offset": first, "last_offset": last}

    def op_follower_append(self, a: Fields) -> Fields:
        if TP not in self.broker.replicas:
            return error_field(reading.not_hosted(self.broker, TP))
        return {"error": APPEND_ERRORS[self.log.append_follower(batches_of(a["batches"]))]}

    def op_truncate_fully(self, a: Fields) -> Fields:
        self.log.truncate_fully(a["offset"])
        return {}

    def op_increment_log_start(self, a: Fields) -> Fields:
        return error_field(retention.delete_records(self.replica, a["offset"]))

    def op_update_hw(self, a: Fields) -> Fields:
        watermark.follow(self.replica, a["offset"], self.out)
        return {}

    # -- reading ---------------------------------------------------------------------------------

    def op_follower_fetch(self, a: Fields) -> Fields:
        return self._fetch(a, a["replica"])

    def op_consumer_fetch(self, a: Fields) -> Fields:
        return self._fetch(a, -1)

    def _fetch(self, a: Fields, replica: int) -> Fields:
        serving.on_fetch_request(self.broker, self._fetch_request(TP, a, replica, 0), self.out)
        answer = self._collect()[0]
        leo = self.log.leo if TP in self.broker.replicas else -1
        return {**fetch_fields(answer.partitions[0]), "leo": leo}

    def op_offset_for_leader_epoch(self, a: Fields) -> Fields:
        error, epoch, end = serving.epoch_end(self.broker, TP, a["epoch"], _epoch(a))
        return {**error_field(error), "epoch": epoch, "end_offset": end}

    def op_list_offset(self, a: Fields) -> Fields:
        wanted = a["timestamp"]
        error, offset, epoch, timestamp = serving.look_up_offset(
            self.replica,
            TIMESTAMPS[wanted] if isinstance(wanted, str) else wanted,
            a.get("isolation") is not None,
            _epoch(a),
        )
        return {
            **error_field(error),
            "offset": or_null(offset),
            "epoch": or_null(epoch),
            "timestamp": timestamp,
        }

    def op_offset_snapshot(self, a: Fields) -> Fields:
        error = reading.access_error(self.replica, _epoch(a), a.get("leader_only", True))
        return error_field(error)

    # -- in-sync replicas ------------------------------------------------------------------------

    def op_maybe_shrink_isr(self, a: Fields) -> Fields:
        insync.maybe_shrink_isr(self.broker, self.replica, self.out)
        self._collect()
        return {}

    def op_out_of_sync(self, a: Fields) -> Fields:
        return {"replicas": sorted(insync.out_of_sync(self.replica, self.out.now))}

    def _outstanding(self) -> AlterItem | None:
        item = self.broker.alter_queue.get(TP)
        return item if self.broker.alter_corr and isinstance(item, AlterItem) else None

    def op_alter_complete(self, a: Fields) -> Fields:
        item = self._outstanding()
        if item is None:
            return {"error": "ILLEGAL_STATE"}
        before = len(self.replica.isr)
        isr = tuple(member for member, _ in item.isr)
        self._answer(NONE, isr, item.leader_epoch, a["partition_epoch"])
        self.expands += len(self.replica.isr) > before
        self.shrinks += len(self.replica.isr) < before
        return {}

    def op_alter_fail(self, a: Fields) -> Fields:
        item = self._outstanding()
        if item is None:
            return {"error": "ILLEGAL_STATE"}
        self.failures += self.replica.pending != COMMITTED
        self._answer(code_of(a["error"]), (), item.leader_epoch, item.partition_epoch)
        return {}

    def _answer(
        self, error: int, isr: tuple[int, ...], leader_epoch: int, partition_epoch: int
    ) -> None:
        """Deliver the controller's answer to the request in flight to the broker."""
        answer = AlterAnswer(TP, error, self.local, leader_epoch, partition_epoch, isr)
        insync.on_alter_partition_response(
            self.broker,
            AlterPartitionResponse(-1, self.local, self.broker.alter_corr, NONE, (answer,)),
            self.out,
        )
        self._collect()

    def op_set_broker(self, a: Fields) -> Fields:
        self._hear_of(a["broker"], a)
        return {}

    # -- observing -------------------------------------------------------------------------------

    def op_replica(self, a: Fields) -> Fields:
        remote = self.replica.remote.get(a["replica"])
        if remote is None:
            return {"known": False}
        return {
            "known": True,
            "leo": remote.leo,
            "log_start": remote.log_start,
            "last_caught_up_ms": time_of(remote.last_caught_up_ms),
            "broker_epoch": or_null(remote.broker_epoch),
        }

    def op_state(self, a: Fields) -> Fields:
        if TP not in self.broker.replicas:
            return {"is_leader": False, "leader": None, "isr": [], "in_flight": False}
        replica, log = self.replica, self.log
        leads = replica.role == LEADER
        item = self._outstanding()
        return {
            "is_leader": leads,
            "leader": or_null(replica.leader),
            "leader_epoch": replica.leader_epoch,
            "partition_epoch": replica.partition_epoch,
            "leader_epoch_start": replica.epoch_start if leads else None,
            "isr": sorted(replica.isr),
            "maximal_isr": sorted(replica.maximal_isr),
            "in_flight": replica.pending != COMMITTED,
            "alter_requests": [] if item is None else [sorted(member for member, _ in item.isr)],
            "alter_broker_epochs": {} if item is None else {str(b): e for b, e in item.isr},
            "requests_sent": self.requests_sent,
            "expands": self.expands,
            "shrinks": self.shrinks,
            "failures": self.failures,
            "hw": log.hw,
            "leo": log.leo,
            "log_start": log.log_start,
            "epochs": log.epochs.entries(),
            "remote_replicas": sorted(replica.remote),
            "replicas": list(replica.assignment),
            "under_min_isr": insync.under_min_isr(replica),
            "at_min_isr": insync.at_min_isr(replica),
            "under_replicated": insync.under_replicated(replica),
            "reassigning": bool(replica.adding or replica.removing),
            "adding_local": self.local in replica.adding,
        }


def _epoch(a: Fields) -> int:
    """Return CurrentLeaderEpoch of a request, -1 if it has none."""
    epoch = a.get("leader_epoch")
    return NO_EPOCH if epoch is None else int(epoch)
