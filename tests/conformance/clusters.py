"""Subject `cluster`: several brokers and a controller, played by the simulation as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from engine.checks.checker import Checker
from engine.clients.clients import Producer, SentRecord
from engine.controlplane import admin, election, kraft, zk_reassign, zookeeper
from engine.dataplane import reading, retention, serving, watermark
from engine.dataplane.recovery import lose_unflushed
from engine.faults import faults
from engine.model import errors
from engine.model.broker import Broker, Process
from engine.model.control_messages import ShutdownRequest, ShutdownResponse
from engine.model.controller import Topic
from engine.model.effects import Effects
from engine.model.errors import LEADER_NOT_AVAILABLE
from engine.model.messages import (
    CONTROLLER,
    EARLIEST,
    LATEST,
    NO_EPOCH,
    Broken,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    ProduceRequest,
    ProduceResponse,
)
from engine.model.records import PartitionRecord
from engine.model.state import DOWN, Replica
from engine.scenarios.scenario import Scenario
from engine.sim.kernel import TIMER, Chance
from engine.sim.simulation import Simulation
from engine.sim.topics import create_listed
from tests.conformance import admin_requests
from tests.conformance.adapter import Adapter, Fields, from_null, ids
from tests.conformance.brokers import PROTOCOLS, error_field, profile_for
from tests.conformance.logs import records_of

WRITER: Final = -29
READER: Final = -99
QUIET_MS: Final = 60_000
"""Long enough for sessions to expire, replicas to catch up, and every retry."""

REQUEST_MS: Final = 30_000


class Unwatched(Checker):
    """A checker without checks: a case compares what it names, invariants have their own tests."""

    def after(self, node: int, step: int, touched: Sequence[int] | None = None) -> None:
        pass


class Writer(Producer):
    """A client that sends each record once and keeps the answers."""

    __slots__ = ("answers",)

    def __init__(self, brokers: tuple[int, ...], chance: Chance) -> None:
        super().__init__(WRITER, brokers, {}, chance, 1)
        self.answers: dict[int, tuple[int, int]] = {}

    def on_response(self, m: ProduceResponse, out: Effects) -> SentRecord | None:
        self.answers[m.corr] = (m.error, m.base)
        return None

    def on_broken(self, m: Broken, out: Effects) -> SentRecord | None:
        self.answers[m.corr] = (errors.NETWORK_EXCEPTION, -1)
        return None


class ClusterCase(Adapter):
    """`cluster`: the whole engine, clock included."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        protocol = given.get(
            "replication_protocol", generation if generation in PROTOCOLS else "fetch_truncation"
        )
        self.zk = given["controller"] == "zk"
        profile = profile_for(given["controller"], protocol, release).name
        topics = given.get("topics", {})
        lists = [one for topic in topics.values() for one in topic["assignments"]]
        scenario = Scenario.from_dict(
            {
                "title": "A case",
                "profiles": [profile],
                "brokers": [{"id": broker} for broker in given["brokers"]],
                "partitions": lists or [given["brokers"]],
                "fetching": "auto",
                "configs": {
                    "min.insync.replicas": given.get("min_insync_replicas", 1),
                    "unclean.leader.election.enable": int(given.get("unclean", False)),
                    "auto.leader.rebalance.enable": int(given.get("auto_rebalance", False)),
                    "leader.imbalance.check.interval.seconds": 5,
                    "replica.lag.time.max.ms": given.get("replica_lag_time_max_ms", 30_000),
                },
            }
        )
        if not lists:
            scenario = replace(scenario, partitions=())
        self.sim = Simulation(scenario, profile)
        self.sim.budget = 1 << 60
        self.sim.checker = Unwatched(self.sim.cluster, self.sim.ledger)
        self.sim.checker.reached = [0] * len(self.sim.cluster.names)
        self.k = self.sim.cluster.controller
        self.writer = Writer(tuple(given["brokers"]), self.sim.producer().chance)
        self.sim.clients[WRITER] = self.writer
        number = 0
        self.k.topics.clear()
        for name, topic in topics.items():
            made = self.k.topics[name] = Topic()
            made.tps = list(range(number, number + len(topic["assignments"])))
            number += len(topic["assignments"])
            self._configure(name, topic.get("config", {}))
        self.values = 0
        self._settle({})

    # -- common ------------------------------------------------------------------------------------

    def _tp(self, a: Fields) -> int:
        return admin_requests.number(self.k, a.get("topic", "t"), a.get("partition", 0))

    def _record(self, a: Fields) -> PartitionRecord:
        return self.k.records[self._tp(a)]

    def _broker(self, a: Fields) -> Broker:
        return self.sim.brokers[a["broker"]]

    def _process(self, a: Fields) -> Process:
        return self._broker(a).running

    def _act(self, action: Callable[[Effects], object]) -> None:
        """Play an event from outside now."""
        self.sim.act(TIMER, CONTROLLER, "case", action)

    def _settle(self, a: Fields) -> Fields:
        """Run until nothing more happens, unless the operation says otherwise."""
        if a.get("settle", True):
            self.sim.run_until(self.sim.now + QUIET_MS)
        return {}

    def _leader(self, a: Fields) -> Replica | None:
        """Return the replica that leads the partition and knows it."""
        return self.sim.cluster.current_leader(self._tp(a))

    # -- clients -----------------------------------------------------------------------------------

    def op_produce(self, a: Fields) -> Fields:
        values = a.get("values")
        if values is None:
            values = [f"value {self.values + n}" for n in range(a.get("count", 1))]
            self.values += len(values)
        first = last = -1
        error = errors.NONE
        for value in values:
            error, base = self._send(a, value)
            if error:
                break
            first, last = (base if first < 0 else first), base
        self._settle(a)
        return {**error_field(error), "first_offset": first, "last_offset": last}

    def _send(self, a: Fields, value: str) -> tuple[int, int]:
        """Send one record to the leader and return the answer."""
        tp = self._tp(a)
        record = self.k.records.get(tp)
        if record is None:
            return errors.UNKNOWN_TOPIC_OR_PARTITION, -1
        leader = record.leader
        if leader < 0:
            return LEADER_NOT_AVAILABLE, -1
        corr = self.writer.next_corr()
        acks = a.get("acks", -1)
        request = ProduceRequest(WRITER, leader, corr, tp, (value,), acks, REQUEST_MS)
        self._act(lambda out: out.send(request))
        deadline = self.sim.now + 2 * REQUEST_MS
        answers = self.writer.answers
        while corr not in answers and acks != 0 and self.sim.now <= deadline:
            self.sim.fire_next()
        return answers.pop(corr, (errors.NONE if acks == 0 else errors.REQUEST_TIMED_OUT, -1))

    def _fetch(self, broker: Broker, tp: int, a: Fields) -> FetchResponse:
        part = FetchPartition(
            tp,
            a["offset"],
            from_null(a.get("last_fetched_epoch")),
            from_null(a.get("leader_epoch")),
            0,
        )
        rack = "" if a.get("client_metadata", True) else None
        request = FetchRequest(READER, broker.id, 0, [part], -1, NO_EPOCH, 0, 1, 500, rack)
        out = Effects()
        out.now = self.sim.now
        serving.on_fetch_request(broker.running, request, out)
        answer = out.sends[0]
        assert isinstance(answer, FetchResponse)
        return answer

    def op_fetch(self, a: Fields) -> Fields:
        data = self._fetch(self._broker(a), self._tp(a), a).partitions[0]
        return {
            **error_field(data.error),
            "count": sum(batch.end - batch.base for batch in data.batches),
            "diverging": None if data.diverging is None else list(data.diverging),
        }

    def op_consume(self, a: Fields) -> Fields:
        leader = self._leader(a)
        if leader is None:
            return error_field(LEADER_NOT_AVAILABLE)
        broker, position = self.sim.brokers[leader.broker], leader.log.log_start
        values: list[str] = []
        read: list[int] = []
        while True:
            data = self._fetch(broker, leader.tp, {"offset": position}).partitions[0]
            if data.error or not data.batches:
                return {**error_field(data.error), "values": values, "offsets": read}
            for batch in data.batches:
                for at, value in enumerate(batch.values):
                    if batch.base + at >= position:
                        values.append(value)
                        read.append(batch.base + at)
            position = data.batches[-1].end

    def op_offsets_for_epoch(self, a: Fields) -> Fields:
        error, epoch, end = serving.epoch_end(self._process(a), self._tp(a), a["epoch"], NO_EPOCH)
        return {**error_field(error), "epoch": epoch, "end_offset": end}

    def op_list_offset(self, a: Fields) -> Fields:
        broker, tp = self._process(a), self._tp(a)
        replica = broker.replicas.get(tp)
        if replica is None:
            return error_field(reading.not_hosted(broker, tp))
        timestamp = LATEST if a["timestamp"] == "latest" else EARLIEST
        error, offset, epoch, _ = serving.look_up_offset(
            replica, timestamp, True, from_null(a.get("leader_epoch"))
        )
        return {**error_field(error), "offset": offset, "epoch": epoch}

    def op_delete_records(self, a: Fields) -> Fields:
        leader = self._leader(a)
        if leader is None:
            return error_field(LEADER_NOT_AVAILABLE)
        found: list[int] = []
        self._act(lambda out: found.append(retention.delete_records(leader, a["offset"])))
        self._settle(a)
        low = retention.low_watermark(self.sim.brokers[leader.broker].running, leader)
        return {**error_field(found[0]), "low_watermark": low}

    # -- processes ---------------------------------------------------------------------------------

    def op_stop(self, a: Fields) -> Fields:
        faults.shut_down(self.sim, a["broker"])
        end = self.sim.now + QUIET_MS
        while self._broker(a).status != DOWN and self.sim.now < end:
            self.sim.fire_next()
        return self._settle(a)

    def op_kill(self, a: Fields) -> Fields:
        faults.kill(self.sim, a["broker"])
        return self._settle(a)

    def op_start(self, a: Fields) -> Fields:
        faults.start(self.sim, a["broker"])
        return self._settle(a)

    def op_bounce(self, a: Fields) -> Fields:
        self.op_stop(a)
        return self.op_start(a)

    def op_lose_tail(self, a: Fields) -> Fields:
        broker = self._broker(a)
        disk = broker.machine.disks[self._tp(a)]
        disk.log.flushed = disk.log.leo - a["records"]
        lose_unflushed(disk)
        broker.machine.clean_epoch = -1
        return {}

    # -- operators ---------------------------------------------------------------------------------

    def _configure(self, name: str, config: Fields) -> None:
        min_isr, unclean = config.get("min_insync_replicas"), config.get("unclean")
        if min_isr is not None:
            settings = self.sim.configs.changed(self.sim.profile, "min.insync.replicas", min_isr)
            for tp in self.k.topics[name].tps:
                for broker in self.sim.brokers.values():
                    broker.machine.topic_configs[tp] = settings
                    if tp in broker.replicas:
                        broker.replicas[tp].configs = settings
        self._act(
            lambda out: admin_requests.configure(
                self.k, name, out, min_isr=min_isr, unclean=unclean
            )
        )

    def op_set_config(self, a: Fields) -> Fields:
        self._configure(a.get("topic", "t"), a)
        if a.get("unclean"):
            if self.zk:
                self._act(lambda out: zookeeper.elect_offline(self.k, out))
            else:
                self._act(lambda out: kraft.on_unclean_check(self.k, out))
        return self._settle(a)

    def op_reassign(self, a: Fields) -> Fields:
        tp = self._tp(a)
        target = None if a.get("replicas") is None else ids(a["replicas"])
        change = zk_reassign.reassign if self.zk else admin.reassign
        found: list[int] = []
        self._act(lambda out: found.append(change(self.k, tp, target, out)))
        self._settle(a)
        return error_field(found[0])

    def op_elect_preferred(self, a: Fields) -> Fields:
        tp = self._tp(a)
        if self.zk:
            kind = election.PREFERRED_REPLICA
            self._act(lambda out: zookeeper.admin_elect(self.k, tp, kind, out))
        else:
            self._act(lambda out: admin.elect_leader(self.k, tp, False, out))
        return self._settle(a)

    def op_create_topic(self, a: Fields) -> Fields:
        name, assignments = a["topic"], [ids(replicas) for replicas in a["assignments"]]
        found: list[int] = []

        def create(out: Effects) -> None:
            found.append(create_listed(self.sim, name, assignments, out))

        self._act(create)
        self._settle(a)
        return error_field(found[0])

    def op_controlled_shutdown(self, a: Fields) -> Fields:
        """Run the controller's part; its answer is not carried to the broker."""
        broker = self._process(a)
        epoch = broker.broker_epoch - (1 if a.get("broker_epoch_stale") else 0)
        request = ShutdownRequest(broker.id, CONTROLLER, 0, epoch)
        answers: list[ShutdownResponse] = []

        def ask(out: Effects) -> None:
            mine = Effects()
            mine.now = out.now
            zookeeper.on_shutdown_request(self.k, request, mine)
            for message in mine.sends:
                if isinstance(message, ShutdownResponse):
                    answers.append(message)
                else:
                    out.send(message)

        self._act(ask)
        self._settle(a)
        return {**error_field(answers[0].error), "remaining": answers[0].remaining}

    # -- observing ---------------------------------------------------------------------------------

    def op_checkpoint_hw(self, a: Fields) -> Fields:
        for broker in self.sim.brokers.values():
            if broker.process is not None:
                watermark.checkpoint(broker.process, self.sim.out)
        return {}

    def op_hw_checkpoint(self, a: Fields) -> Fields:
        disk = self._broker(a).machine.disks.get(self._tp(a))
        return {"hw": 0 if disk is None else disk.hw_checkpoint}

    def op_replica(self, a: Fields) -> Fields:
        log = self._broker(a).replicas[self._tp(a)].log
        return {
            "leo": log.leo,
            "hw": log.hw,
            "log_start": log.log_start,
            "epochs": log.epochs.entries(),
            "record_epochs": [epoch for _, epoch in records_of(log)],
        }

    def op_logs_equal(self, a: Fields) -> Fields:
        tp = self._tp(a)
        logs = [self._contents(self.sim.brokers[broker].replicas[tp]) for broker in a["brokers"]]
        return {"equal": all(log == logs[0] for log in logs)}

    def _contents(self, replica: Replica) -> list[Any]:
        return [(batch.base, batch.epoch, batch.values) for batch in replica.log.batches]

    def op_partition(self, a: Fields) -> Fields:
        record = self.k.records.get(self._tp(a))
        if record is None:
            return error_field(errors.UNKNOWN_TOPIC_OR_PARTITION)
        return {
            "leader": record.leader,
            "isr": sorted(record.isr),
            "leader_epoch": record.leader_epoch,
            "replicas": list(record.replicas),
            "reassigning": record.reassigning,
            "unclean_elections": self.k.unclean_elections,
        }
