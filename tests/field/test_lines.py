"""Each kind of line, as real brokers of several releases wrote it."""

from __future__ import annotations

import pytest

from app.reading import lines
from app.reading.events import EventData, RecordChange
from app.reading.forms import FORMS
from app.reading.layouts import unwrapped
from app.reading.names import TopicIdentity

STAMP = "[2026-11-22 16:50:31,594] INFO "
T = TopicIdentity("t", 0)

FOUND = [
    (
        "Broker 1 received LeaderAndIsr request PartitionState(controllerEpoch=1, leader=2, "
        "leaderEpoch=0, isr=[2, 3, 1], zkVersion=7, replicas=[1, 2, 3]) correlation id 3 from "
        "controller 4 epoch 1 for partition [t,0] (state.change.logger)",
        "record",
        {"leader": 2, "le": 0, "isr": [2, 3, 1], "pe": 7, "set": [1, 2, 3], "zk": True},
    ),
    (
        "[Broker id=1] Received LeaderAndIsr request PartitionState(controllerEpoch=1, leader=3, "
        "leaderEpoch=1, isr=3,1, zkVersion=1, replicas=2,3,1, isNew=false) correlation id 4 from "
        "controller 4 epoch 1 for partition t-0 (state.change.logger)",
        "record",
        {"leader": 3, "le": 1, "isr": [3, 1], "pe": 1, "set": [2, 3, 1], "zk": True},
    ),
    (
        "[Broker id=1] Skipped the become-leader state change for t-0 with topic id Some(x) and "
        "partition state LeaderAndIsrPartitionState(topicName='t', partitionIndex=0, "
        "controllerEpoch=-1, leader=1, leaderEpoch=0, isr=[1, 3], partitionEpoch=1, "
        "replicas=[1, 2, 3], addingReplicas=[], isNew=false) since it is already the leader",
        "record",
        {"leader": 1, "le": 0, "isr": [1, 3], "pe": 1, "set": [1, 2, 3], "adding": []},
    ),
    (
        "[Controller id=4 epoch=1] Changed partition t-0 state from NonExistentPartition to "
        "NewPartition with assigned replicas 2,3,1 (state.change.logger)",
        "assigned",
        {"replicas": [2, 3, 1]},
    ),
    (
        "Controller 4 epoch 1 sending become-leader LeaderAndIsr request (Leader:2,ISR:2,3,1,"
        "LeaderEpoch:0,ControllerEpoch:1) to broker 2 for partition [t,0] (state.change.logger)",
        "sent",
        {"leader": 2, "isr": [2, 3, 1], "le": 0, "broker": 2},
    ),
    (
        "[Broker id=1] Leader t-0 with topic id Some(x) starts at leader epoch 2 from offset 1 "
        "with partition epoch 4, high watermark 1, ISR [1], adding replicas [] and removing "
        "replicas [] . Previous leader Some(-1) and previous leader epoch was 1.",
        "leads",
        {"le": 2, "leo": 1, "pe": 4, "hw": 1, "isr": [1]},
    ),
    (
        "[Broker id=1] Follower t-0 starts at leader epoch 1 from offset 3 with partition epoch 3 "
        "and high watermark 2. Current leader is -1. Previous leader Some(-1) and",
        "follows",
        {"le": 1, "leo": 3, "pe": 3, "hw": 2, "leader": -1},
    ),
    (
        "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition t-0 with "
        "TruncationState(offset=2, completed=true) due to leader epoch and offset "
        "EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=2)",
        "cuts",
        {"to": 2, "epoch": 0, "end": 2},
    ),
    (
        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Truncating partition t-0 with "
        "TruncationState(offset=5, completed=true) due to local high watermark 5",
        "cuts",
        {"to": 5},
    ),
    ("Truncating log t-0 to offset 4. (kafka.log.Log)", "cuts", {"to": 4}),
    (
        "[ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Truncating partition t-0 to local "
        "high watermark 3 (x)",
        "cuts",
        {"to": 3},
    ),
    ("[UnifiedLog partition=t-0, dir=/d] Truncating to offset 2 (x)", "cuts", {"to": 2}),
    (
        "Partition [t,0] on broker 2: Expanding ISR for partition t-0 from 2 to 2,1 (x)",
        "grows",
        {"before": [2], "isr": [2, 1]},
    ),
    (
        "[Partition t-0 broker=1] Shrinking ISR from 1,2,3 to 1. Leader: (highWatermark: 9, "
        "endOffset: 12). Out of sync replicas: (brokerId: 2, endOffset: 9)",
        "shrinks",
        {"before": [1, 2, 3], "isr": [1], "hw": 9, "leo": 12, "lagging": {2: 9}},
    ),
    (
        "[Partition t-0 broker=1] ISR updated to 1,2  and version updated to 5 (x)",
        "granted",
        {"isr": [1, 2], "pe": 5},
    ),
    (
        "Partition [t,0] on broker 2: Cached zkVersion [7] not equal to that in zookeeper, skip "
        "updating ISR (kafka.cluster.Partition)",
        "refused",
        {"pe": 7},
    ),
    (
        "Completed load of Log(dir=/d/t-0, topicId=x, topic=t, partition=0, highWatermark=0, "
        "lastStableOffset=0, logStartOffset=0, logEndOffset=1) with 1 segments",
        "loaded",
        {"leo": 1},
    ),
    (
        "Completed load of log t-0 with 1 log segments and log end offset 5 in 10 ms (x)",
        "loaded",
        {"leo": 5},
    ),
    (
        "[ReplicaFetcherThread-0-2], Replica 1 for partition t-0 reset its fetch offset from 4 to "
        "current leader 2's latest offset 3 (x)",
        "out of range",
        {"own": 4, "leader": 2, "end": 3},
    ),
    (
        "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for [t,0]. Elect leader 2 "
        "from live brokers 2. There's potential data loss. (x)",
        "unclean",
        {"leader": 2},
    ),
]
ABOUT_BROKERS = [
    ("[Controller 4]: Broker failure callback for 3,2 (x)", "failed", {"brokers": [3, 2]}),
    ("[Controller id=4] New broker startup callback for 3 (x)", "came", {"brokers": [3]}),
    (
        "[QuorumController id=9] The request from broker 4 to unfence has been granted because it "
        "has caught up with the offset of its register broker record 5. (x)",
        "unfencing",
        {"broker": 4},
    ),
    (
        "[QuorumController id=9] Registering a new incarnation of broker 2. Previous incarnation "
        "ID was p90428nsSluNyvefldNLkg; new incarnation ID is z07N1ONnRAyMMXsS0s_Euw. (x)",
        "registering",
        {"broker": 2},
    ),
    ("starting (kafka.server.KafkaServer)", "starts", {}),
    ("[KafkaServer id=2] starting (kafka.server.KafkaServer)", "starts", {}),
    ("[BrokerServer id=1] Transition from SHUTDOWN to STARTING (x)", "starts", {}),
    ("[Kafka Server 1], Starting controlled shutdown (x)", "stops", {}),
    ("Recovering 2 logs from /b since no clean shutdown file was found (x)", "unclean stop", {}),
    ("Kafka version : 0.10.2.2 (x)", "version", {"version": "0.10.2.2"}),
]


def test_every_value_of_a_line_is_declared() -> None:
    named = {name for form in FORMS for name in form.expression.groupindex}
    assert named <= EventData.__annotations__.keys()
    assert set(lines._CHANGED.values()) <= RecordChange.__annotations__.keys()


@pytest.mark.parametrize(("text", "kind", "data"), FOUND)
def test_a_line_about_a_partition(text: str, kind: str, data: dict[str, object]) -> None:
    event = lines.read((STAMP + text).encode(), T, "1", "server.log:7")
    assert event is not None
    own = lines.speaker_in(text) or "1"
    assert (event.kind, event.node, event.where) == (kind, own, "server.log:7")
    assert event.data == {**data, "partition": T}
    assert lines.read((STAMP + text).encode(), TopicIdentity("t", 1), "1", "") is None
    assert lines.read((STAMP + text).encode(), None, "1", "") is not None


@pytest.mark.parametrize(("text", "kind", "data"), ABOUT_BROKERS)
def test_a_line_about_a_broker(text: str, kind: str, data: dict[str, object]) -> None:
    event = lines.read((STAMP + text).encode(), T, "4", "")
    assert event is not None
    assert (event.kind, event.data) == (kind, data)


@pytest.mark.parametrize(
    "text",
    [
        "[Log partition=t-0, dir=/d] Truncating to 0 has no effect as the largest offset is -1",
        "[Broker id=1] Creating new partition t-0 with topic id x.",
        "	log.dirs = /data/t-0",
    ],
)
def test_other_lines_tell_nothing(text: str) -> None:
    assert lines.read((STAMP + text).encode(), T, "1", "") is None


def test_a_line_without_a_time_tells_nothing() -> None:
    assert lines.read(b"Truncating log t-0 to offset 4. (kafka.log.Log)", T, "1", "") is None
    assert lines.time_of(b"[2026-13-45 16:50:31,594] INFO x") is None


def test_times_are_milliseconds_as_written() -> None:
    one, other = (
        lines.time_of(f"[2026-11-22 16:50:{tail}] INFO x".encode()) for tail in ("31,594", "32,001")
    )
    assert one is not None
    assert other == one + 407


@pytest.mark.parametrize(
    ("line", "node"),
    [
        (b"[2026-11-22 16:50:31,594] INFO [Broker id=3] Leader t-0", "3"),
        (b"[2026-11-22 16:50:31,594] TRACE Broker 1 received LeaderAndIsr", "1"),
        (b"[2026-11-22 16:50:31,594] INFO [Controller id=4 epoch=1] Changed", "4"),
        (b"[2026-11-22 16:50:31,594] INFO [QuorumController id=103] Fencing", "K"),
        (b"[2026-11-22 16:50:31,594] INFO starting", ""),
    ],
)
def test_the_broker_of_a_line(line: bytes, node: str) -> None:
    assert lines.speaker_in(unwrapped(line).text) == node
