"""Behaviour that public bug reports and real brokers show, on both sides of the release with it.

Each test plays the run of a report.  Its docstring cites the method of Kafka that decides.
"""

from __future__ import annotations

import pytest

from engine.model.configs import is_read_only
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.sim.simulation import Simulation
from tests.rules.playing import cluster, go_on, played


def state(sim: Simulation) -> tuple[object, ...]:
    """Leader, leader epoch, partition epoch and ISR, as the controller has them."""
    record = sim.cluster.controller.records[0]
    return record.leader, record.leader_epoch, record.partition_epoch, record.isr


def log(sim: Simulation, broker: int, tp: int = 0) -> tuple[int, int, str]:
    """Log start offset, log end offset and the records of a replica."""
    its = sim.brokers[broker].replicas[tp].log
    return its.log_start, its.leo, " ".join(v for batch in its.batches for v in batch.values)


def marks(sim: Simulation) -> list[int]:
    """The high watermarks of all replicas, by broker."""
    return [broker.replicas[0].log.hw for _, broker in sorted(sim.brokers.items())]


THREE = cluster(brokers=3, partitions=[[1, 2, 3]])


@pytest.mark.parametrize(
    ("profile", "mark"),
    [("3.6.0-hw_waits_only_for_eligible", 1), ("3.6.0", 2), ("K39", 2), ("4.4", 2)],
)
def test_the_mark_does_not_wait_for_a_follower_that_never_fetched(profile: str, mark: int) -> None:
    """`Partition.isBrokerEpochIsrEligible` at 3.6.2: without a fetch there is no broker epoch
    (`Replica.resetReplicaState`), so not eligible.  Before 3.6 caught up is enough."""
    sim = played(
        THREE,
        profile,
        "produce m0 to 1 acks=all; settle; elect 2; shutdown 3; restart 3",
        "produce m1 to 2 acks=all; fetch 1 x2",
    )
    assert state(sim)[3] == (1, 2)
    assert marks(sim)[:2] == [mark, mark]


@pytest.mark.parametrize(
    ("profile", "waits"),
    [("3.9.1", False), ("4.0.1", True), ("4.4", True), ("4.4+fenced_has_no_session", False)],
)
def test_a_restart_after_a_controlled_shutdown_waits_for_the_old_session(
    profile: str, waits: bool
) -> None:
    """KAFKA-19047: `BrokerHeartbeatTracker.hasValidSession` at 4.0.0 looks at the contact time,
    `BrokerHeartbeatManager.hasValidSession` at 3.9.0 asks first whether the broker is fenced."""
    sim = played(THREE, profile, "produce m0 to 1 acks=all; settle; shutdown 3; restart 3; settle")
    assert (sim.now >= 9_000) is waits
    assert state(sim) == (1, 0, 2, (1, 2, 3))


def test_after_a_death_that_was_noticed_a_restart_does_not_wait() -> None:
    sim = played(THREE, "4.4", "kill 3; detect 3")
    noticed = sim.now
    go_on(sim, "restart 3")
    assert sim.now - noticed < 9_000


@pytest.mark.parametrize(
    ("profile", "leader_died", "follower_died"),
    [
        ("Z08", (2, 1, 1, (2, 3)), (1, 0, 0, (1, 2, 3))),
        ("1.1.1", (2, 1, 1, (2, 3)), (1, 0, 0, (1, 2, 3))),
        ("2.2.2", (2, 1, 1, (2, 3)), (1, 0, 0, (1, 2, 3))),
        ("2.3.0", (2, 2, 2, (2, 3)), (1, 1, 1, (1, 2))),
        ("Z33", (2, 2, 2, (2, 3)), (1, 1, 1, (1, 2))),
    ],
)
def test_a_new_controller_and_replicas_on_dead_brokers(
    profile: str, leader_died: tuple[object, ...], follower_died: tuple[object, ...]
) -> None:
    """KAFKA-3143: `ReplicaStateMachine.startup` handles offline replicas from 2.3.0 on, before
    `PartitionStateMachine.startup` elects.  Played on real 1.1.1 and 2.3.1."""
    assert state(played(THREE, profile, "kill K; kill 1; restart K")) == leader_died
    assert state(played(THREE, profile, "kill K; kill 3; restart K")) == follower_died


@pytest.mark.parametrize("profile", ["3.9.1", "4.4"])
def test_metadata_that_arrives_together_is_applied_at_once(profile: str) -> None:
    """`MetadataLoader.handleCommit`, `TopicDelta.partitionChanges`: only the last state of a
    partition counts, so broker 2 never leads epoch 1.  Played on real 3.9.1 and 4.4.0."""
    held = "produce m0 to 1 acks=all; settle; hold md 2; elect 2; elect 3; release md 2"
    sim = played(THREE, profile, held)
    assert sim.brokers[2].replicas[0].log.epochs.epochs == [0]
    assert (sim.brokers[2].replicas[0].leader_epoch, sim.brokers[2].replicas[0].leader) == (2, 3)
    one_by_one = played(THREE, profile, "produce m0 to 1 acks=all; settle; elect 2; elect 3")
    assert one_by_one.brokers[2].replicas[0].log.epochs.epochs == [0, 1]


@pytest.mark.parametrize(
    ("configs", "value", "cleared"),
    [
        ({"min.insync.replicas": 2}, 2, False),
        ({"min.insync.replicas": 2}, 1, True),
        ({}, 1, True),
    ],
)
def test_only_a_changed_min_isr_clears_the_elr(
    configs: dict[str, int], value: int, cleared: bool
) -> None:
    """`ConfigurationControlManager` writes a ConfigRecord of a topic only where the value changes,
    and `createClearElrRecordsAsNeeded` starts from these records.  Played on real 4.4.0.  A topic
    without a setting of its own that gets the cluster's value has a new record."""
    three = cluster(brokers=3, partitions=[[1, 2, 3]], configs=configs)
    sim = played(three, "4.4", "produce m0 to 1 acks=all; settle; kill 2; detect 2; kill 3")
    go_on(sim, "detect 3")
    record = sim.cluster.controller.records[0]
    record.elr = (3,)  # as min ISR 2 leaves it; with 1 there is none
    appended = len(sim.cluster.controller.log)
    go_on(sim, f"set min.insync.replicas={value}")
    assert (sim.cluster.controller.records[0].elr == ()) is cleared
    assert (len(sim.cluster.controller.log) > appended) is cleared


@pytest.mark.parametrize(
    ("profile", "leader", "follower"),
    [
        ("Z08", (3, 3, ""), (3, 3, "")),
        ("Z0102", (3, 3, ""), (3, 3, "")),
        ("0.11.0.0", (3, 3, ""), (3, 3, "")),
        ("0.11.0.1", (0, 3, "a b c"), (0, 3, "a b c")),
        ("K39", (0, 3, "a b c"), (0, 3, "a b c")),
    ],
)
def test_retention_and_what_was_never_committed(
    profile: str, leader: tuple[int, int, str], follower: tuple[int, int, str]
) -> None:
    """KAFKA-5634: `Log.deletableSegments` takes every old segment at 0.11.0.0, only those below
    the high watermark at 0.11.0.1."""
    three = cluster(
        brokers=3,
        partitions=[[1, 2, 3]],
        configs={
            "segment.records": 2,
            "retention.ms": 60_000,
            "log.retention.check.interval.ms": 30_000,
            "replica.lag.time.max.ms": 300_000,
        },
    )
    sim = played(three, profile, "produce a b c acks=1; fetch 2; fetch 2; advance 100s")
    assert log(sim, 1) == leader
    go_on(sim, "fetch 3")
    assert log(sim, 3) == follower


@pytest.mark.parametrize(
    ("profile", "mark"),
    [("0.11.0.1", 0), ("1.0.0", 1), ("1.0.1", 1), ("1.0.2", 0), ("1.1.0", 1), ("1.1.1", 0)],
)
def test_an_answer_that_leaves_at_once_and_its_own_high_watermark(profile: str, mark: int) -> None:
    """KAFKA-7104: `ReplicaManager.updateFollowerLogReadResults` refreshes what was read by
    `LogReadResult.updateLeaderReplicaInfo` at 1.0.0 and 1.1.0 only."""
    sim = played(
        THREE,
        profile,
        "produce a to 1 acks=all; fetch 2; fetch 3; fetch 2; produce b to 1 acks=all; fetch 3",
    )
    assert (log(sim, 3)[1], marks(sim)[2]) == (2, mark)


@pytest.mark.parametrize(
    ("profile", "asked", "end"),
    [
        ("0.8.1.1", (0, 0, ""), "a p q r"),
        ("Z08", (0, 0, ""), "a p q r"),
        ("0.9.0.0", (0, 0, ""), "a p q r"),
        ("0.9.0.1", (0, 3, "a b c"), "a b c r"),
        ("Z0102", (0, 3, "a b c"), "a b c r"),
    ],
)
def test_a_follower_that_was_out_of_range_for_a_moment(
    profile: str, asked: tuple[int, int, str], end: str
) -> None:
    """KAFKA-2143: `ReplicaFetcherThread.handleOffsetOutOfRange` at 0.9.0.0 starts again where the
    leader begins; at 0.9.0.1 it keeps what lies after that."""
    two = cluster(configs={"unclean.leader.election.enable": True})
    sim = played(
        two,
        profile,
        "produce a to 1 acks=all; settle; kill 2; detect 2; produce b c to 1 acks=all",
        "checkpoint 1; kill 1; detect 1; restart 2; settle; restart 1; ask 1",
        "produce p q r to 2 acks=1; deliver 2->1",
    )
    for _ in range(2):
        if sim.network.waiting_on(1, 2, 0) is not None:
            go_on(sim, "deliver 1->2; deliver 2->1")
    assert log(sim, 1) == asked
    go_on(sim, "settle")
    assert log(sim, 1)[2] == end
    assert any(name == "I5" for name, *_ in sim.broken) is (end != "a p q r")


@pytest.mark.parametrize("profile", ["0.11.0.0", "Z20", "K39", "4.4"])
@pytest.mark.parametrize(
    ("end", "start"),
    [
        ("kill 1; kill 2; kill 3; detect 1", 0),
        ("power 1; power 2; power 3; detect 1", 0),
        ("advance 61s; kill 1; kill 2; kill 3; detect 1", 2),
        ("shutdown 1; shutdown 2; shutdown 3", 2),
        ("kill 1; kill 2; detect 1", 2),
    ],
)
def test_deleted_records_come_back_after_a_crash_of_all(profile: str, end: str, start: int) -> None:
    """`UnifiedLog.maybeIncrementLogStartOffset`: the file log-start-offset-checkpoint is written
    once a minute and at a clean shutdown (`LogManager.checkpointLogStartOffsets`)."""
    deleted = "produce a b c to 1 acks=all; settle; flush 1; flush 2; flush 3; delete records 2"
    sim = played(THREE, profile, deleted, "settle", end)
    down = [f"restart {b}" for b, broker in sorted(sim.brokers.items()) if broker.process is None]
    go_on(sim, *down, "settle")
    assert [log(sim, broker)[0] for broker in (1, 2, 3)] == [start] * 3


@pytest.mark.parametrize(
    ("profile", "line", "since"),
    [
        ("0.10.2.2", "delete records 1", "0.11"),
        ("0.11.0.0", "delete records 1", ""),
        ("2.3.1", "elect unclean", "2.4"),
        ("2.4.0", "elect unclean", ""),
    ],
)
def test_a_move_that_the_release_does_not_have(profile: str, line: str, since: str) -> None:
    """KIP-107 (`ReplicaManager.deleteRecords` at 0.11.0.0), KIP-460 (`LeaderElectionCommand` at
    2.4.0; `PreferredReplicaLeaderElectionCommand` at 2.3.0 knows the preferred one alone)."""
    lost = "; kill 2; kill 3; detect 2; detect 3; kill 1; detect 1; restart 2"
    before = "produce a b to 1 acks=all; settle" + (lost if "unclean" in line else "")
    sim = played(THREE, f"{profile}-unclean_default", before)
    if not since:
        go_on(sim, line)
        return
    with pytest.raises(InputError, match=f"since Kafka {since}"):
        go_on(sim, line)


@pytest.mark.parametrize(
    ("profile", "at_once", "later"),
    [
        ("0.10.2.2", -1, 2),
        ("2.0.1", -1, 2),
        ("2.1.0", 2, 2),
        ("Z33", 2, 2),
    ],
)
@pytest.mark.parametrize("then", ["kill K; restart K", "kill 3; restart 3"])
def test_unclean_election_switched_on_without_a_leader(
    profile: str, at_once: int, later: int, then: str
) -> None:
    """KAFKA-6835: `TopicConfigHandler.processConfigChanges` tells the controller from 2.1.0 on
    (`KafkaController.enableTopicUncleanLeaderElection`)."""
    sim = played(
        cluster(brokers=4, partitions=[[1, 2], [3, 4]]),
        profile,
        "set unclean.leader.election.enable=false; produce a to 1 acks=all p=0; settle",
        "kill 2; detect 2; kill 1; detect 1; restart 2",
        "set unclean.leader.election.enable=true; advance 20s",
    )
    assert state(sim)[0] == at_once
    go_on(sim, then)
    assert state(sim)[0] == later


@pytest.mark.parametrize(
    ("profile", "written"),
    [("1.1.1", (1, 1, 1, (1, 2))), ("2.0.1", (1, 1, 1, (1, 2))), ("2.1.0", (1, 0, 0, (1, 2, 3)))],
)
def test_writes_of_a_replaced_controller(profile: str, written: tuple[object, ...]) -> None:
    """KAFKA-6082: `KafkaZkClient` checks the version of /controller_epoch from 2.1.0 on.  Before,
    the death that waited in the frozen controller is written, though no broker hears of it; the
    leader's own writes then fail on the version (KAFKA-2729)."""
    sim = played(THREE, profile, "produce a to 1 acks=all; settle; kill 3; pause K; advance 8s")
    assert state(sim) == (1, 0, 0, (1, 2, 3))
    go_on(sim, "resume K")
    assert state(sim) == written
    leader = sim.brokers[1].running.replicas[0]
    assert (leader.leader_epoch, leader.isr) == (0, (1, 2, 3))
    go_on(sim, "produce b to 1 acks=1; fetch 2; fetch 2; advance 20s")
    assert (3 not in leader.isr) is (profile == "2.1.0")


def copy_on(sim: Simulation) -> None:
    """At most five rounds of the thread that copies broker 2's log."""
    for _ in range(5):
        if sim.brokers[2].running.machine.futures:
            go_on(sim, "copy 2")


@pytest.mark.parametrize(
    ("profile", "copied", "directory"),
    [("Z20", -1, 2), ("2.1.0", 1, 1), ("2.2.0", 1, 1), ("2.4.1", 1, 1), ("2.5.0", -1, 2)],
)
def test_a_log_that_moves_and_a_new_leader_epoch(profile: str, copied: int, directory: int) -> None:
    """KAFKA-9654: `ReplicaManager.becomeLeaderOrFollower` tells the copying thread of partitions
    that are new to the process until 2.4.1, of all that changed from 2.5.0 on."""
    dirs = cluster(
        brokers=[{"id": 1}, {"id": 2, "dirs": 2}, {"id": 3}],
        partitions=[[1, 2, 3]],
        configs={"fetch_max_records": 1},
    )
    moving = "produce a b c to 1 acks=all; settle; move_dir 2 d2; copy 2; copy 2; kill 1; detect 1"
    sim = played(dirs, profile, moving)
    copy_on(sim)
    machine = sim.brokers[2].running.machine
    assert machine.disks[0].dir == directory
    assert (machine.futures[0].disk.log.leo if machine.futures else -1) == copied
    if copied >= 0:
        go_on(sim, "restart 1; settle; kill 2; detect 2; restart 2; settle")
        copy_on(sim)
        assert sim.brokers[2].running.machine.disks[0].dir == 2


@pytest.mark.parametrize(
    ("profile", "others", "acked"),
    [("0.8.1.1", 0, False), ("Z0102", 0, False), ("0.11.0.3", 0, False), ("1.0.0", 1, True),
     ("3.2.3", 1, True), ("K39", 1, True)],
)  # fmt: skip
def test_a_fetch_that_names_one_partition_too_many(profile: str, others: int, acked: bool) -> None:
    """KAFKA-5758: `Partition.updateReplicaLogReadResult` throws NotAssignedReplicaException until
    0.11; `ReplicaManager.updateFollowerLogReadResults` answers without records from 1.0.0 on."""
    sim = played(
        cluster(brokers=4, partitions=[[1, 2, 3], [1, 2, 3]]),
        profile,
        "hold md 3; reassign 1 2 4 p=0; settle; produce c to 1 p=1 acks=all",
        "fetch 2; fetch 3; fetch 2; fetch 3",
    )
    assert log(sim, 3, 1)[1] == others
    assert ("c" in [one.values[0] for one in sim.ledger.acked[1]]) is acked
    go_on(sim, "release md 3; settle; fetch 3; fetch 3")
    assert log(sim, 3, 1)[1] == 1


@pytest.mark.parametrize(
    ("profile", "name", "read_only"),
    [
        ("K39", "replica.lag.time.max.ms", True),
        ("K39", "broker.session.timeout.ms", True),
        ("K39", "num.replica.fetchers", False),
        ("1.0.2", "num.replica.fetchers", True),
        ("0.10.0.1", "leader.replication.throttled.rate", True),
        ("K39", "min.insync.replicas", False),
        ("K39", "retry.backoff.ms", False),
    ],
)
def test_settings_that_a_broker_reads_when_it_starts(
    profile: str, name: str, read_only: bool
) -> None:
    """`DynamicBrokerConfig.AllDynamicConfigs` at 3.8.0 (KIP-226, 1.1)."""
    assert is_read_only(name, get_profile(profile)) is read_only


def test_a_set_is_held_to_what_a_start_is_held_to() -> None:
    """`KafkaConfig.validateValues`: a fetch may not wait longer than the lag time."""
    with pytest.raises(InputError, match="must not exceed replica"):
        played(THREE, "K39", "set replica.lag.time.max.ms=400")


@pytest.mark.parametrize(("back", "members"), [("", (1, 3)), ("jump 1 -60s; ", (1, 2, 3))])
def test_a_clock_that_steps_back_hides_a_late_follower(back: str, members: tuple[int, ...]) -> None:
    """`Replica.updateFetchState` keeps the later time: for 60 s longer no follower is late."""
    sim = played(
        THREE,
        "K39",
        f"produce a to 1 acks=all; settle; {back}produce b to 1 acks=1; fetch 3; fetch 3",
        "advance 50s; fetch 3",
    )
    assert sim.brokers[1].replicas[0].isr == members
    go_on(sim, "advance 60s")
    assert 2 not in sim.brokers[1].replicas[0].isr


def test_levels_of_a_setting() -> None:
    """With ELR a broker's own min.insync.replicas is refused; the cluster's clears every ELR, and
    a topic's own value goes before it (`ConfigurationControlManager` at 4.1)."""
    three = cluster(brokers=3, partitions=[[1, 2, 3]], configs={"min.insync.replicas": 2})
    sim = played(three, "4.4", "produce m0 to 1 acks=all; settle; kill 2; detect 2; kill 3")
    go_on(sim, "detect 3")
    assert sim.cluster.controller.records[0].elr == (3,)
    with pytest.raises(InputError, match="INVALID_CONFIG"):
        go_on(sim, "set min.insync.replicas=1 level=broker")
    go_on(sim, "set min.insync.replicas=1 level=cluster")
    assert sim.cluster.controller.records[0].elr == ()
    assert sim.configs.min_insync_replicas == 2


def test_a_broker_that_loses_zookeeper_alone() -> None:
    """KAFKA-2729, KAFKA-3083: the session ends while requests of the controller still arrive."""
    sim = played(THREE, "Z21", "produce a to 1 acks=all; settle; cut 1 zk; elect 2")
    assert sim.brokers[1].replicas[0].leader == 2, "the controller reaches it"
    go_on(sim, "detect 1")
    assert state(sim)[3] == (2, 3)
    go_on(sim, "heal 1 zk; settle; settle; settle")
    assert state(sim)[3] == (1, 2, 3)
    with pytest.raises(InputError, match="has no ZooKeeper"):
        played(THREE, "K39", "cut 1 zk")


@pytest.mark.parametrize("profile", ["Z21", "K39"])
def test_a_leader_whose_disk_reads_slowly_loses_its_followers(profile: str) -> None:
    """KAFKA-8733 (KIP-501): a fetch that is being served does not count as caught up, so the ISR
    shrinks to the leader, and when that dies no broker may lead."""
    sim = played(
        cluster(
            brokers=3,
            partitions=[[1, 2, 3]],
            configs={"unclean.leader.election.enable": False, "replica.lag.time.max.ms": 10_000},
        ),
        profile,
        "produce a to 1 acks=all; settle; produce b to 1 acks=1; slow_disk 1 0.02 reads",
        "fetching auto; advance 20s",
    )
    assert state(sim)[3] == (1,)
    go_on(sim, "kill 1; detect 1")
    assert state(sim)[0] == -1
    other = played(THREE, profile, "produce a to 1 acks=1; slow_disk 1 1 reads; fetch 2; fetch 3")
    assert [log(other, broker)[1] for broker in (2, 3)] == [0, 0], "the disk is busy"
    go_on(other, "advance 3s; settle")
    assert [log(other, broker)[1] for broker in (2, 3)] == [1, 1]
