"""What Kafka's tools print becomes a scenario; what cannot be read is named by its line."""

from __future__ import annotations

import random
from typing import Any

import pytest

from app.cluster.scenario import scenario_of
from app.reading import paste
from app.reading.facts import MOST_PROBLEMS, Notice
from app.reading.names import topic_of
from engine.replay.replay import Replay
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.study.what_if import RISK, what_if

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


def played(text: str, profile: str = "") -> tuple[Replay, list[Notice]]:
    facts = paste.read(text)
    assert facts.problems == []
    data, notes = scenario_of(facts, "Pasted")
    assert data is not None
    scenario = Scenario.from_dict(data)
    return Replay(Run(scenario, profile or scenario.profiles[0])), notes


def parts_of(replay: Replay) -> dict[str, Any]:
    (first,) = replay.steps(0, 1)
    return {one["name"]: one for one in first["view"]["partitions"]}


def keys(notes: list[Notice]) -> set[str]:
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
    assert keys(notes) == read | {"min_isr", "unclean", "release.k41"}
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
    assert keys(notes) == {"invented", "min_isr", "unclean", "release.z28"}


def test_offline_brokers_are_listed_or_guessed() -> None:
    rows = "Topic: a Partition: 0 Leader: 1 Replicas: 1,2,3 Isr: 1\n"
    said = {"": {2, 3}, "# broker 2 is running\n": {3}, "# broker 2 is offline": {2, 3}}
    for more, down in said.items():
        facts = paste.read(rows + more)
        data, _ = scenario_of(facts, "x")
        assert data is not None and set(data["initial"]["offline"]) == down, more
    table = "NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus\n"
    table += "1\t40\t0\t17\t17\tLeader  \n3\tx1Bz\t40\t0\t17\t17\tObserver\n"
    facts = paste.read(rows + table)
    data, _ = scenario_of(facts, "x")
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
    data, _ = scenario_of(facts, "x")
    assert data is not None
    Scenario.from_dict(data)


def test_sizes_are_bounded() -> None:
    assert paste.read("x" * 200_000).problems[0].key == "paste.too_long"
    many = paste.read("# remark\n" * 3_000).problems
    assert [(one.key, one.line) for one in many] == [("paste.too_many_lines", 2_001)]
    [rubbish] = paste.read("rubbish\n" * 1_000).problems
    assert (rubbish.key, rubbish.line, rubbish.args["last"]) == ("paste.unknown_lines", 1, 1_000)
    assert len(paste.read("rubbish\n\n" * 600).problems) == MOST_PROBLEMS
    rows = [
        f"Topic: t{n} Partition: 0 Leader: {n} Replicas: {n},{n + 1},{n + 2} Isr: {n},{n + 1}"
        for n in range(500)
    ]
    data, notes = scenario_of(paste.read("\n".join(rows)), "x")
    assert data is not None and "left_out" in keys(notes)
    run = Run(Scenario.from_dict(data))
    assert len(run.text()) < 64 * 1024


def test_nothing_to_show_is_said() -> None:
    data, notes = scenario_of(paste.read(QUORUM), "x")
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
    data, _ = scenario_of(facts, "x")
    if data is not None:
        scenario = Scenario.from_dict(data)
        Replay(Run(scenario, scenario.profiles[0], moves=("+5",)))


# -- settings of topics ----------------------------------------------------------------------------

ORDERS = """\
Topic: orders\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=2
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\tElr: \tLastKnownElr:
"""
AUDIT = """\
Topic: audit\tPartitionCount: 1\tReplicationFactor: 1\tConfigs:
\tTopic: audit\tPartition: 0\tLeader: 2\tReplicas: 2\tIsr: 2\tElr: \tLastKnownElr:
"""
PAY = """\
Topic: pay\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas=2,\
unclean.leader.election.enable=true
\tTopic: pay\tPartition: 0\tLeader: 4\tReplicas: 4,2,3\tIsr: 4,2,3\tElr: \tLastKnownElr:
\tTopic: pay\tPartition: 1\tLeader: 3\tReplicas: 3,1,4\tIsr: 3\tElr: 1\tLastKnownElr: 4
"""
LOGS = """\
Topic: logs\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: min.insync.replicas=3,\
retention.ms=60000
\tTopic: logs\tPartition: 0\tLeader: none\tReplicas: 5,4\tIsr: \tElr: 5\tLastKnownElr: 4
"""
GUESTS = (ORDERS, AUDIT, LOGS, PAY.replace("pay", "toll").replace(",\\\nunclean", ",unclean"))


def told_of(text: str, topic: str) -> dict[str, Any]:
    """Everything that a paste makes of a topic: states, cells by broker, notes without others."""
    facts = paste.read(text)
    data, notes = scenario_of(facts, "x")
    assert data is not None and facts.problems == []
    scenario = Scenario.from_dict(data)
    tps, columns = what_if(Run(scenario, scenario.profiles[0], moves=()))
    names = [state["name"] for state in data["initial"]["partitions"]]
    mine = [tp for tp in tps if topic_of(names[tp]) == topic]
    brokers = {broker for tp in mine for broker in data["partitions"][tp]}
    return {
        "states": {
            state["name"]: state
            for state in data["initial"]["partitions"]
            if topic_of(state["name"]) == topic
        },
        "cells": {
            (names[tp], column.brokers): column.cells[tps.index(tp)]
            for column in columns
            for tp in mine
            if len(column.brokers) == 1 and brokers >= set(column.brokers)
        },
        "notes": {
            (
                one.key,
                *(str(one.args[name]) for name in ("n", "value", "pairs") if name in one.args),
            )
            for one in notes
            if topic in one.topics
        },
    }


@pytest.mark.parametrize("seed", range(30))
def test_another_topic_never_changes_what_a_topic_is_told(seed: int) -> None:
    """Each topic is played under its own settings, whatever stands beside it, in any order."""
    chance = random.Random(seed)
    # Brokers 1 to 5 are in sync somewhere: which of them run is a fact of the cluster.
    base = [PAY, ORDERS.replace("orders", "all").replace("1,2,3", "1,2,3,4,5")]
    alone = told_of("".join(base), "pay")
    texts = [*base, *chance.sample(GUESTS, chance.randrange(1, len(GUESTS) + 1))]
    chance.shuffle(texts)
    assert told_of("".join(texts), "pay") == alone


def test_a_topic_is_played_under_its_own_settings() -> None:
    """An unrelated topic does not turn data at risk into waiting for the ELR."""
    beside = told_of(ORDERS + AUDIT + PAY, "pay")
    assert beside == told_of(ORDERS + PAY, "pay")
    assert told_of(ORDERS + AUDIT + PAY, "orders") == told_of(ORDERS + PAY, "orders")
    facts = paste.read(ORDERS + AUDIT + PAY)
    data, notes = scenario_of(facts, "x")
    assert data is not None
    _, columns = what_if(Run(Scenario.from_dict(data), "K41", moves=("kill 1", "detect 1")))
    names = [state["name"] for state in data["initial"]["partitions"]]
    (dies,) = [one for one in columns if one.brokers == (3,)]
    assert dies.cells[names.index("pay-1")].kind == RISK, "broker 4 lives and may lead uncleanly"
    about = {one.key.rpartition(".")[2]: one.topics for one in notes if one.topics}
    assert about["min_isr"] == ("audit",) and about["unclean"] == ("audit", "orders")


def test_settings_of_topics_reach_controllers_and_brokers() -> None:
    data, _ = scenario_of(paste.read(ORDERS + AUDIT + PAY + LOGS), "x")
    assert data is not None
    moves = ("set replica.lag.time.max.ms=20000", "settle")
    replay = Replay(Run(Scenario.from_dict(data), "K41", moves=moves))
    parts = {one["name"]: one for one in replay.final_view()["partitions"]}
    least = {name: part["minIsr"] for name, part in parts.items()}
    assert least == {"logs-0": 3, "pay-0": 2, "pay-1": 2, "orders-0": 2, "audit-0": 1}
    sim = replay.end
    names = sim.cluster.names
    assert [name for tp, name in enumerate(names) if sim.cluster.controller.unclean_for(tp)] == [
        "pay-1",
        "pay-0",
    ]
    for broker in sim.brokers.values():
        for replica in broker.replicas.values() if broker.process is not None else ():
            own = replica.configs
            assert own.min_insync_replicas == least[names[replica.tp]]
            assert own.lag_time_max_ms == 20_000, "a change of the cluster's reaches each topic"
            assert (own.retention_ms == 60_000) == (names[replica.tp] == "logs-0")


def test_the_last_of_two_descriptions_counts_and_the_first_is_offered() -> None:
    after = ORDERS.replace("Leader: 1", "Leader: 2").replace("Isr: 1,2,3", "Isr: 2,3")
    facts = paste.read(ORDERS + "\n" + after)
    assert facts.problems == [] and facts.partitions["orders-0"].leader == 2
    _, notes = scenario_of(facts, "x")
    (note,) = [one for one in notes if one.key == "paste.note.twice.last"]
    assert note.args == {"names": "orders-0", "line": 2}
    facts = paste.read("\n".join([note.choices[0].put, ORDERS, after]))
    assert facts.partitions["orders-0"].leader == 1
    assert (
        scenario_of(paste.read(ORDERS + ORDERS), "x")[1] == scenario_of(paste.read(ORDERS), "x")[1]
    )


def test_min_isr_above_the_replication_factor_is_offered() -> None:
    _, notes = scenario_of(paste.read(AUDIT), "x")
    (note,) = [one for one in notes if one.key == "paste.note.min_isr"]
    assert [one.put for one in note.choices] == ["# min.insync.replicas=2"]
    data, _ = scenario_of(paste.read(note.choices[0].put + "\n" + AUDIT), "x")
    assert data is not None
    _, columns = what_if(Run(Scenario.from_dict(data), "K39", moves=()))
    assert columns[1].cells[0].waits == (2,)


def test_a_voter_that_has_just_started_is_read() -> None:
    text = "NodeId\tLogEndOffset\tLag\tStatus\n1\t5635\t0\tLeader\n3\t-1\t5636\tFollower\n"
    facts = paste.read(text)
    assert facts.problems == [] and facts.members == {1, 3}
