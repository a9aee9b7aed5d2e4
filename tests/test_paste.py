"""What Kafka's tools print becomes a scenario; what cannot be read is named by its line."""

from __future__ import annotations

import random
from typing import Any

import pytest

from engine.replay.replay import Replay
from engine.scenarios import paste, pasted
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

DESCRIBE = """\
$ kafka-topics.sh --bootstrap-server b1:9092 --describe
Topic: orders\tTopicId: Nf2lS0sHQbKQ6wZ1ZzqgZA\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: \
min.insync.replicas=2,segment.bytes=1073741824
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2\tElr: \tLastKnownElr:
\tTopic: orders\tPartition: 1\tLeader: 2\tReplicas: 2,3,1\tIsr: 2,1\tElr: \tLastKnownElr:
Topic: payments\tTopicId: 3pX\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \
min.insync.replicas=2
\tTopic: payments\tPartition: 0\tLeader: none\tReplicas: 3,1,2\tIsr: \tElr: 3\tLastKnownElr: 2
Topic: audit\tTopicId: AAA\tPartitionCount: 1\tReplicationFactor: 2\tConfigs:
\tTopic: audit\tPartition: 0\tLeader: 2\tReplicas: 2,1\tIsr: 2,1\tElr: \tLastKnownElr:
"""
QUORUM = """
ClusterId:              fMCL8kv1SWm87L_Md-I2hg
LeaderId:               1
LeaderEpoch:            12
HighWatermark:          4711
MaxFollowerLag:         40
MaxFollowerLagTimeMs:   1200
CurrentVoters:          [1,2]
CurrentObservers:       []
"""
FILES = """
# broker 1
==> /var/kafka-1/orders-0/leader-epoch-checkpoint <==
0
3
0 0
5 812000
7 1203404

==> /var/kafka-1/replication-offset-checkpoint <==
0
2
orders 0 1203410
audit 0 88

==> /var/kafka-1/recovery-point-offset-checkpoint <==
0
1
orders 0 1200000

# broker 3 orders-0 leader-epoch-checkpoint
0
3
0 0
5 812000
6 1203401
# broker 3 replication-offset-checkpoint
0
1
orders 0 1203405
"""


def played(text: str, profile: str = "") -> tuple[Replay, list[paste.Told]]:
    facts = paste.read(text)
    assert facts.problems == []
    data, notes = pasted.scenario_of(facts, "Pasted")
    assert data is not None
    scenario = Scenario.from_dict(data)
    return Replay(Run(scenario, profile or scenario.profiles[0])), notes


def parts_of(replay: Replay) -> dict[str, Any]:
    (first,) = replay.steps(0, 1)
    return {one["name"]: one for one in first["view"]["partitions"]}


def keys(notes: list[paste.Told]) -> set[str]:
    return {one.key.removeprefix("paste.note.") for one in notes}


def test_three_topics_with_a_degraded_partition_start_in_their_state() -> None:
    replay, notes = played(DESCRIBE + QUORUM + FILES)
    assert replay.run.profile == "K41"
    parts = parts_of(replay)
    # Those in trouble come first.
    assert list(parts) == ["orders-0", "orders-1", "payments-0", "audit-0"]
    orders, payments, audit = parts["orders-0"], parts["payments-0"], parts["audit-0"]
    assert orders["record"]["leader"] == 1 and orders["record"]["le"] == 7
    assert orders["record"]["isr"] == [1, 2] and orders["minIsr"] == 2 and audit["minIsr"] == 1
    assert payments["record"]["leader"] == -1
    assert payments["record"]["elr"] == [3] and payments["record"]["lastKnown"] == [2]
    one, two, three = (orders["replicas"][number] for number in ("1", "2", "3"))
    assert one["role"] == "leader" and three["role"] == "offline"
    # Offsets near the end are the real ones.
    assert (one["leo"], one["hw"], two["leo"]) == (1_203_410, 1_203_410, 1_203_410)
    assert (three["leo"], three["hw"]) == (1_203_405, 1_203_405)
    assert [7, 1_203_404] in one["epochs"] and [6, 1_203_401] in three["epochs"]
    assert one["start"] > 1_203_300 and one["flushed"] < 1_203_404
    # Broker 3 went its own way in epoch 6.
    assert orders["differ"] == [1_203_401, 1_203_405]
    read = {"offline.quorum", "shortened", "epochs", "invented", "ends", "quorum"}
    assert keys(notes) == read | {"min_isr", "unclean", "release"}
    shortened = next(note for note in notes if note.args.get("name") == "orders-0")
    assert "812,000 → " in str(shortened.args["pairs"])
    assert replay.verdict()["holds"]


def test_the_degraded_partition_can_be_healed() -> None:
    replay, _ = played(DESCRIBE + QUORUM + FILES)
    run = Run(replay.run.scenario, "K39", moves=("settle", "restart 3", "settle"))
    final = {one["name"]: one for one in Replay(run).final_view()["partitions"]}
    assert sorted(final["orders-0"]["record"]["isr"]) == [1, 2, 3]
    assert final["orders-0"]["differ"] is None


def test_old_output_is_read_as_well() -> None:
    replay, notes = played(
        "Topic:clicks PartitionCount:2 ReplicationFactor:2 Configs:\n"
        "  Topic: clicks    Partition: 0    Leader: 1    Replicas: 1,2    Isr: 1,2\n"
        "  Topic: clicks    Partition: 1    Leader: -1    Replicas: 2,4    Isr: 4  Offline: 4\n"
    )
    assert replay.run.profile == "Z28"
    brokers = replay.steps(0, 1)[0]["view"]["brokers"]
    assert [one["alive"] for one in brokers] == ["up", "up", "down"]
    assert keys(notes) == {"invented", "min_isr", "unclean", "release"}


def test_offline_brokers_are_listed_or_guessed() -> None:
    rows = "Topic: a Partition: 0 Leader: 1 Replicas: 1,2,3 Isr: 1\n"
    said = {"": {2, 3}, "# broker 2 is running\n": {3}, "# broker 2 is offline": {2, 3}}
    for more, down in said.items():
        facts = paste.read(rows + more)
        data, _ = pasted.scenario_of(facts, "x")
        assert data is not None and set(data["initial"]["offline"]) == down, more
    table = "NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus\n"
    table += "1\t40\t0\t17\t17\tLeader  \n3\tx1Bz\t40\t0\t17\t17\tObserver\n"
    facts = paste.read(rows + table)
    data, _ = pasted.scenario_of(facts, "x")
    assert data is not None and data["initial"]["offline"] == [2] and facts.problems == []


GARBLED = """\
Topic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2
Topic: orders\tPartition: 1\tLeader: 9\tReplicas: 1,2,3\tIsr: 1,2
Topic: orders\tPartition: x\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2
Topic: orders\tPartition: 2\tReplicas: 1,2,3\tIsr: 1,2
Topic: orders\tPartition: 3\tLeader: 1\tReplicas: 1;2\tIsr: 1
Topic: orders\tPartition: 4\tLeader: 1\tReplicas: 1,2\tIsr: 1,4
Topic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2
java.lang.NullPointerException
# a remark
0
1
orders 0 55
# broker 2 leader-epoch-checkpoint
0
0
# broker 2 orders-0 leader-epoch-checkpoint
0
3
5 100
4 90
__import__('os').system('true')
# broker 2 replication-offset-checkpoint
0
2
orders 0 99999999999999999999
"""


def test_each_line_that_cannot_be_read_is_named() -> None:
    facts = paste.read(GARBLED)
    found = {one.line: one.key.removeprefix("paste.") for one in facts.problems}
    assert found == {
        2: "leads_no_replica",
        3: "number",
        4: "column",
        5: "ids",
        7: "again",
        8: "unknown",
        10: "headless",
        14: "which",
        20: "falling",
        21: "pair",
        23: "short",
        25: "number",
    }
    assert list(facts.partitions) == ["orders-0", "orders-4"]
    assert [one.key for one in facts.notes] == ["paste.note.no_replica"]
    assert facts.epochs == {(2, "orders-0"): [(5, 100)]}
    data, _ = pasted.scenario_of(facts, "x")
    assert data is not None
    Scenario.from_dict(data)


def test_sizes_are_bounded() -> None:
    assert paste.read("x" * 200_000).problems[0].key == "paste.too_long"
    many = paste.read("# remark\n" * 3_000).problems
    assert [(one.key, one.line) for one in many] == [("paste.too_many_lines", 2_001)]
    [rubbish] = paste.read("rubbish\n" * 1_000).problems
    assert (rubbish.key, rubbish.line, rubbish.args["last"]) == ("paste.unknown_lines", 1, 1_000)
    assert len(paste.read("rubbish\n\n" * 600).problems) == paste.MOST_PROBLEMS
    rows = [
        f"Topic: t{n} Partition: 0 Leader: {n} Replicas: {n},{n + 1},{n + 2} Isr: {n},{n + 1}"
        for n in range(500)
    ]
    data, notes = pasted.scenario_of(paste.read("\n".join(rows)), "x")
    assert data is not None and "left_out" in keys(notes)
    run = Run(Scenario.from_dict(data))
    assert len(run.text()) < 64 * 1024


def test_nothing_to_show_is_said() -> None:
    data, notes = pasted.scenario_of(paste.read(QUORUM), "x")
    assert data is None and keys(notes) == {"nothing"}


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_pasted_is_read_or_named(seed: int) -> None:
    """Lines lost, doubled, shuffled and spoilt: never an error, and what is left can be played."""
    chance = random.Random(seed)
    lines = (DESCRIBE + QUORUM + FILES).splitlines()
    for _ in range(chance.randrange(1, 12)):
        at = chance.randrange(len(lines))
        kind = chance.randrange(4)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(chance.randrange(len(lines)), lines[at])
        elif kind == 2:
            spoilt = list(lines[at])
            if spoilt:
                spoilt[chance.randrange(len(spoilt))] = chance.choice("0 9,:#-\tx￿é")
            lines[at] = "".join(spoilt)
        else:
            lines[at] = lines[at].replace("0", "9")
    facts = paste.read("\n".join(lines))
    data, _ = pasted.scenario_of(facts, "x")
    if data is not None:
        scenario = Scenario.from_dict(data)
        Replay(Run(scenario, scenario.profiles[0], moves=("+5",)))
