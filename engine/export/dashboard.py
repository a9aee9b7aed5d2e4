"""The operator's dashboard: what each broker would report of itself, beside what is so.

A broker reports what it believes: it counts the partitions it thinks it leads, with the ISR it has
heard of.  A process that is down or frozen reports nothing.  What is so, an observer outside says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from engine.checks.prefix import holds
from engine.dataplane import insync
from engine.dataplane.fetcher import thread_of
from engine.model.broker import Process
from engine.model.declared import declared
from engine.model.json_types import Json
from engine.model.messages import CONTROLLER
from engine.model.profiles import KRAFT, Release
from engine.model.state import LEADER, UP, Replica
from engine.replay.chronicle import (
    ELECTIONS,
    EXPANDS,
    EXPIRES,
    FAILED_UPDATES,
    SHRINKS,
    UNCLEAN,
    Chronicle,
)
from engine.sim.simulation import Simulation

MOST_PARTITIONS: Final = 12
"""Most partitions that get rows of their own."""


class Truth:
    """Truth seen from outside: complete logs, leaders, and how much is needed."""

    __slots__ = ("complete", "sim")

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.complete = {tp: self._complete(tp) for tp in sim.cluster.controller.records}

    def _complete(self, tp: int) -> list[int]:
        """Return the replicas that run and have everything that was committed."""
        sim = self.sim
        committed = sim.ledger.committed[tp].values()
        nodes = []
        for node in sim.cluster.controller.records[tp].replicas:
            broker = sim.brokers[node]
            process, disk = broker.process, broker.machine.disks.get(tp)
            if process is None or process.status != UP or disk is None or tp in process.offline:
                continue
            if all(holds(disk.log, batch) for batch in committed):
                nodes.append(node)
        return nodes

    def led(self, node: int) -> list[int]:
        """Return the partitions that the controller's record gives to a broker."""
        records = self.sim.cluster.controller.records
        return [tp for tp, record in records.items() if record.leader == node]

    def followed(self, node: int) -> list[int]:
        """Return the partitions that a broker should follow."""
        records = self.sim.cluster.controller.records
        return [
            tp
            for tp, record in records.items()
            if node in record.replicas and record.leader not in (node, CONTROLLER)
        ]

    def factor(self, tp: int) -> int:
        """Return the replication factor; replicas that are being added do not count yet."""
        record = self.sim.cluster.controller.records[tp]
        return len([one for one in record.replicas if one not in record.adding])

    def min_isr(self, tp: int) -> int:
        """Return min.insync.replicas as the leaders of this release apply it."""
        sim = self.sim
        least = sim.configs.min_insync_replicas
        for broker in sim.brokers.values():
            replica = broker.replicas.get(tp)
            if replica is not None:
                return replica.min_isr()
        return least

    def offline(self) -> list[int]:
        """Return the partitions without a leader."""
        sim = self.sim
        offline = []
        for tp in sim.cluster.controller.records:
            leader = sim.cluster.current_leader(tp)
            if leader is None or sim.brokers[leader.broker].status != UP:
                offline.append(tp)
        return offline


Report = Callable[[Process], int]
Actual = Callable[[Truth, int], int]
Total = Callable[[Truth], int]


def _leads(broker: Process) -> list[Replica]:
    """Return the replicas that the broker believes to lead."""
    return [replica for replica in broker.replicas.values() if replica.role == LEADER]


def _under_replicated(broker: Process) -> int:
    return sum(map(insync.under_replicated, broker.replicas.values()))


def _under_min_isr(broker: Process) -> int:
    return sum(map(insync.under_min_isr, broker.replicas.values()))


def _at_min_isr(broker: Process) -> int:
    return sum(map(insync.at_min_isr, broker.replicas.values()))


def _max_lag(broker: Process) -> int:
    """F-7.  Return the lag to the leader's high watermark in its last answer with records."""
    states = [s for thread in broker.fetchers.values() for s in thread.partitions.values()]
    return max((state.lag or 0 for state in states), default=0)


def _truly(truth: Truth, tps: Iterable[int], is_so: Callable[[int, int], bool]) -> int:
    """Count the partitions for which this is so (complete running replicas, wanted)."""
    return sum(is_so(len(truth.complete[tp]), truth.min_isr(tp)) for tp in tps)


def _is_under_replicated(truth: Truth, tps: Iterable[int]) -> int:
    return sum(len(truth.complete[tp]) < truth.factor(tp) for tp in tps)


def _missing(truth: Truth, node: int) -> int:
    """Return how many records of its leader's log a broker lacks, at most."""
    sim = truth.sim
    lag = 0
    for tp in truth.followed(node):
        record = sim.cluster.controller.records[tp]
        mine = sim.brokers[node].machine.disks.get(tp)
        theirs = sim.brokers[record.leader].machine.disks.get(tp)
        if theirs is not None:
            lag = max(lag, theirs.log.leo - (mine.log.leo if mine is not None else 0))
    return lag


def _not_followed(truth: Truth, node: int) -> int:
    """Return the partitions whose leader a running broker does not fetch from, though it should."""
    sim = truth.sim
    count = 0
    process = sim.brokers[node].process
    if process is None or process.status != UP:
        return 0
    for tp in truth.followed(node):
        thread = thread_of(process, tp)
        count += thread is None or thread.leader != sim.cluster.controller.records[tp].leader
    return count


@declared
class Gauge:
    """One number that every broker reports.

    `so` and `total` say what it should be, for the broker and for the cluster.  `key` names its
    words in the catalogue.
    """

    key: str
    mbean: str
    reported: Report
    so: Actual
    total: Total | None = None
    since: Release = (0, 8, 0)


def _all(truth: Truth) -> Iterable[int]:
    return truth.sim.cluster.controller.records


MANAGER: Final = "kafka.server:type=ReplicaManager,name="
FETCHERS: Final = "kafka.server:type=ReplicaFetcherManager,name="
PURGATORY: Final = (
    "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation="
)


def _waiting(broker: Process) -> int:
    return sum(len(replica.waiting) for replica in broker.replicas.values())


def _parked(broker: Process) -> int:
    return len(broker.parked)


def _offline(broker: Process) -> int:
    return len(broker.offline)


def _as_reported(report: Report) -> Actual:
    """Return a truth that only the process knows; 0 for a broker that is down."""

    def actual(truth: Truth, node: int) -> int:
        process = truth.sim.brokers[node].process
        return 0 if process is None else report(process)

    return actual


GAUGES: Final = (
    Gauge("UnderReplicatedPartitions", MANAGER + "UnderReplicatedPartitions", _under_replicated,
          lambda t, b: _is_under_replicated(t, t.led(b)),
          lambda t: _is_under_replicated(t, _all(t))),
    Gauge("UnderMinIsrPartitionCount", MANAGER + "UnderMinIsrPartitionCount", _under_min_isr,
          lambda t, b: _truly(t, t.led(b), int.__lt__), lambda t: _truly(t, _all(t), int.__lt__),
          since=(1, 0, 0)),
    Gauge("AtMinIsrPartitionCount", MANAGER + "AtMinIsrPartitionCount", _at_min_isr,
          lambda t, b: _truly(t, t.led(b), int.__eq__), lambda t: _truly(t, _all(t), int.__eq__),
          since=(2, 4, 0)),
    Gauge("LeaderCount", MANAGER + "LeaderCount", lambda b: len(_leads(b)),
          lambda t, b: len(t.led(b))),
    Gauge("OfflineReplicaCount", MANAGER + "OfflineReplicaCount", _offline,
          _as_reported(_offline), since=(1, 0, 0)),
    Gauge("MaxLag", FETCHERS + "MaxLag,clientId=Replica", _max_lag, _missing),
    Gauge("FailedPartitionsCount", FETCHERS + "FailedPartitionsCount,clientId=Replica",
          lambda b: len(b.failed), _not_followed, since=(2, 3, 0)),
    Gauge("PurgatoryProduce", PURGATORY + "Produce", _waiting,
          _as_reported(_waiting)),
    Gauge("PurgatoryFetch", PURGATORY + "Fetch", _parked, _as_reported(_parked)),
)  # fmt: skip
"""Gauges of brokers (data-plane 12)."""

COUNTERS: Final = (
    (SHRINKS, MANAGER + SHRINKS),
    (EXPANDS, MANAGER + EXPANDS),
    (FAILED_UPDATES, MANAGER + FAILED_UPDATES),
    (EXPIRES, "kafka.server:type=DelayedProduceMetrics,name=ExpiresPerSec"),
)
"""Meters of brokers: the Count is shown, which restarts with the process."""

CONTROLLER_COUNTERS: Final = (
    (ELECTIONS, "kafka.controller:type=ControllerStats,name=LeaderElectionRateAndTimeMs"),
    (UNCLEAN, "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec"),
)


def dashboard(sim: Simulation, chronicle: Chronicle, step: int) -> Json:
    """Return {"nodes": [...], "rows": [...], "lines": [...]} at a step of a run.

    A row: {"key", "mbean", "values": {node: what it reports}, "so": {node: what it should},
    "wrong": the nodes whose report is not so, "total": what is so in the cluster, "sum": what the
    reports say of it, which is "off" if that is not the same}.
    """
    truth = Truth(sim)
    rows = [_gauge(truth, gauge) for gauge in GAUGES if sim.profile.release >= gauge.since]
    rows += [_in_sync(truth, tp) for tp in _partitions(sim)]
    rows += _counters(truth, chronicle, step)
    rows += _controller(truth, chronicle, step)
    return {
        "nodes": [*sim.brokers, "K"],
        "rows": [row for row in rows if row is not None],
        "lines": chronicle.lines(step),
    }


def _row(
    key: str, mbean: str, values: dict[Any, int], so: dict[Any, int], total: int, reported: int
) -> Json:
    return {
        "key": key,
        "mbean": mbean,
        "values": {str(node): value for node, value in values.items()},
        "so": {str(node): value for node, value in so.items()},
        "wrong": [str(node) for node, value in values.items() if so.get(node, value) != value],
        "total": total,
        "sum": reported,
        "off": total != reported,
    }


def _reporting(sim: Simulation) -> list[Process]:
    """Return the processes that answer."""
    processes = (broker.process for broker in sim.brokers.values())
    return [process for process in processes if process is not None and process.status == UP]


def _gauge(truth: Truth, gauge: Gauge) -> Json:
    values = {broker.id: gauge.reported(broker) for broker in _reporting(truth.sim)}
    so = {node: gauge.so(truth, node) for node in truth.sim.brokers}
    if gauge.key == "MaxLag":
        total, reported = max(so.values()), max(values.values(), default=0)
    else:
        total = gauge.total(truth) if gauge.total is not None else sum(so.values())
        reported = sum(values.values())
    return _row(gauge.key, gauge.mbean, values, so, total, reported)


def _partitions(sim: Simulation) -> list[int]:
    records = sim.cluster.controller.records
    return list(records) if len(records) <= MOST_PARTITIONS else []


def _in_sync(truth: Truth, tp: int) -> Json:
    """Return InSyncReplicasCount of one partition, from the broker that believes to lead it."""
    sim = truth.sim
    topic, _, number = sim.cluster.names[tp].rpartition("-")
    where = f"topic={topic},partition={number}"
    mbean = f"kafka.cluster:type=Partition,name=InSyncReplicasCount,{where}"
    values, so = {}, {}
    for broker in _reporting(sim):
        replica = broker.replicas.get(tp)
        if replica is not None and replica.role == LEADER:
            values[broker.id] = len(replica.isr)
            so[broker.id] = len(truth.complete[tp])
    total = len(truth.complete[tp])
    return _row("InSyncReplicasCount", mbean, values, so, total, max(values.values(), default=0))


def _counters(truth: Truth, chronicle: Chronicle, step: int) -> list[Json]:
    """Return counters since the process started, beside those since the run began."""
    sim = truth.sim
    counts, ever = chronicle.counts(step), chronicle.counts(step, everything=True)
    rows = []
    for name, mbean in COUNTERS:
        if name == FAILED_UPDATES and sim.profile.release < (0, 11):
            continue
        values = {broker.id: counts.get((broker.id, name), 0) for broker in _reporting(sim)}
        so = {node: ever.get((node, name), 0) for node in sim.brokers}
        # The controller takes members out of an ISR as well, which no leader counts.
        total = {SHRINKS: sim.ledger.isr_shrinks, EXPANDS: sim.ledger.isr_expands}.get(
            name, sum(so.values())
        )
        rows.append(_row(name, mbean, values, so, total, sum(values.values())))
    return rows


def _controller(truth: Truth, chronicle: Chronicle, step: int) -> list[Json]:
    sim = truth.sim
    k = sim.cluster.controller
    prefix = "kafka.controller:type=KafkaController,name="
    running = len(_reporting(sim))
    gauges = [
        ("ActiveControllerCount", 1, int(k.alive)),
        ("OfflinePartitionsCount", _known_offline(sim), len(truth.offline())),
    ]
    if sim.profile.mode == KRAFT:
        fenced = sum(registration.fenced for registration in k.brokers.values())
        gauges += [
            ("ActiveBrokerCount", len(k.brokers) - fenced, running),
            ("FencedBrokerCount", fenced, len(sim.brokers) - running),
        ]
    rows = []
    for name, reported, so in gauges:
        values = {"K": reported} if k.alive else {}
        rows.append(_row(name, prefix + name, values, {"K": so}, so, values.get("K", 0)))
    counts, ever = chronicle.counts(step), chronicle.counts(step, everything=True)
    for name, mbean in CONTROLLER_COUNTERS:
        values = {"K": counts.get((CONTROLLER, name), 0)} if k.alive else {}
        so = ever.get((CONTROLLER, name), 0)
        rows.append(_row(name, mbean, values, {"K": so}, so, values.get("K", 0)))
    return rows


def _known_offline(sim: Simulation) -> int:
    """Return the partitions without a leader, or (ZooKeeper) whose leader has no session."""
    k = sim.cluster.controller
    zk = sim.profile.mode != KRAFT
    return sum(
        record.leader < 0 or (zk and record.leader not in k.brokers)
        for record in k.records.values()
    )
