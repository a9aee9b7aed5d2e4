"""What an operator would see: each broker's own report, by what it believes, beside what is so."""

from __future__ import annotations

from typing import Any

import pytest

from engine.dataplane import insync
from engine.model.effects import Cue
from engine.model.messages import CONTROLLER
from engine.replay.chronicle import Chronicle
from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

THREE = Scenario.from_dict({"title": "x", "brokers": 3, "configs": {"min.insync.replicas": 2}})


def after(moves: str, profile: str = "K39", scenario: Scenario = THREE) -> dict[str, Any]:
    """The dashboard after these moves: {"rows": {key: row}, "lines": [...]}."""
    lines = tuple(line.strip() for line in moves.split(";"))
    replay = Replay(Run(scenario, profile, 0, lines))
    shown = replay.dashboard(replay.total)
    return {**shown, "rows": {row["key"]: row for row in shown["rows"]}}


def row(moves: str, key: str, profile: str = "K39") -> tuple[Any, ...]:
    """(what is reported, what is so in the cluster, brokers that are wrong, is the sum off?)"""
    found = after(moves, profile)["rows"][key]
    return found["values"], found["total"], found["wrong"], found["off"]


BEFORE = "produce a; settle; "
CASES = [
    # A dead follower is counted until the controller notices.
    ("UnderReplicatedPartitions", "kill 3", {"1": 0, "2": 0}, 1, ["1"], True),
    ("UnderReplicatedPartitions", "kill 3; detect 3", {"1": 1, "2": 0}, 1, [], False),
    # A dead leader reports nothing at all.
    ("UnderReplicatedPartitions", "kill 1", {"2": 0, "3": 0}, 1, [], True),
    ("OfflinePartitionsCount", "kill 1", {"K": 0}, 1, ["K"], True),
    ("OfflinePartitionsCount", "kill 1; detect 1", {"K": 0}, 0, [], False),
    ("OfflinePartitionsCount", "kill 2; detect 2; kill 3; detect 3; kill 1; detect 1", {"K": 1}, 1,
     [], False),
    ("UnderMinIsrPartitionCount", "kill 2; kill 3", {"1": 0}, 1, ["1"], True),
    ("UnderMinIsrPartitionCount", "kill 2; kill 3; detect 2; detect 3", {"1": 1}, 1, [], False),
    ("AtMinIsrPartitionCount", "kill 2; detect 2", {"1": 1, "3": 0}, 1, [], False),
    ("InSyncReplicasCount", "kill 2", {"1": 3}, 2, ["1"], True),
    # Cut off, the former leader goes on reporting its leadership.
    ("LeaderCount", "cut 1 K; detect 1", {"1": 1, "2": 1, "3": 0}, 1, ["1"], True),
    ("FailedPartitionsCount", "cut 1 K; detect 1", {"1": 0, "2": 0, "3": 0}, 1, ["1"], True),
    # The lag of a follower is measured against the high watermark it was told.
    ("MaxLag", "produce b c acks=1", {"1": 0, "2": 0, "3": 0}, 2, ["2", "3"], True),
    ("MaxLag", "produce b c; settle", {"1": 0, "2": 0, "3": 0}, 0, [], False),
    # The controller's own removal is no shrink of the leader's.
    ("IsrShrinksPerSec", "kill 3; detect 3", {"1": 0, "2": 0}, 1, [], True),
    ("IsrExpandsPerSec", "kill 3; detect 3; restart 3; settle", {"1": 1, "2": 0, "3": 0}, 1, [],
     False),
    ("ExpiresPerSec", "kill 2; kill 3; produce b; advance 31s", {"1": 1}, 1, [], False),
    ("PurgatoryProduce", "produce b c", {"1": 2, "2": 0, "3": 0}, 2, [], False),
    ("PurgatoryFetch", "ask 2; ask 3", {"1": 2, "2": 0, "3": 0}, 2, [], False),
    ("LeaderElectionRateAndTimeMs", "elect 2; elect 3", {"K": 2}, 2, [], False),
    ("LeaderElectionRateAndTimeMs", "elect 2; kill K; restart K", {"K": 0}, 1, ["K"], True),
    ("ActiveControllerCount", "kill K", {}, 0, [], False),
    ("ActiveBrokerCount", "kill 3", {"K": 3}, 2, ["K"], True),
    ("FencedBrokerCount", "cut 3 K; detect 3", {"K": 1}, 0, ["K"], True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "moves", "values", "total", "wrong", "off"),
    CASES,
    ids=[f"{case[0]}: {case[1]}" for case in CASES],
)
def test_reported_and_actual_values(
    key: str, moves: str, values: dict[str, int], total: int, wrong: list[str], off: bool
) -> None:
    assert row(BEFORE + moves, key) == (values, total, wrong, off)


def test_a_shrink_of_the_leader_is_counted_once_it_is_confirmed() -> None:
    moves = BEFORE + "produce b; fetch 2; fetch 2; hold alter 1; advance 46s"
    assert row(moves, "IsrShrinksPerSec")[0]["1"] == 0
    for profile in ("K39", "Z33", "Z24"):
        values, total, *_ = row(moves + "; release alter 1", "IsrShrinksPerSec", profile)
        assert (values["1"], total) == (1, 1), profile


def test_a_counter_restarts_with_the_process() -> None:
    moves = BEFORE + "kill 3; detect 3; restart 3; settle"
    assert row(moves, "IsrExpandsPerSec")[0]["1"] == 1
    values, total, wrong, _ = row(moves + "; kill 1; detect 1; restart 1", "IsrExpandsPerSec")
    assert (values["1"], total, wrong) == (0, 1, ["1"])


def test_unclean_elections_are_counted_apart() -> None:
    unclean = THREE.vary("configs.unclean.leader.election.enable", True)
    moves = BEFORE + ("kill 2; detect 2; kill 3; detect 3; kill 1; detect 1; restart 2")
    for profile in ("K39", "Z33"):
        rows = after(moves, profile, unclean)["rows"]
        assert rows["UncleanLeaderElectionsPerSec"]["values"] == {"K": 1}
        assert rows["LeaderElectionRateAndTimeMs"]["values"] == {"K": 1}


def test_a_metric_is_shown_only_where_the_release_has_it() -> None:
    old, new = after("produce a", "Z0102")["rows"], after("produce a", "K39")["rows"]
    assert set(new) - set(old) == {
        "UnderMinIsrPartitionCount",
        "AtMinIsrPartitionCount",
        "FailedIsrUpdatesPerSec",
        "OfflineReplicaCount",
        "FailedPartitionsCount",
        "ActiveBrokerCount",
        "FencedBrokerCount",
    }
    assert set(old) < set(new)


def test_names_are_those_of_jmx() -> None:
    rows = after("produce a")["rows"]
    assert rows["MaxLag"]["mbean"] == (
        "kafka.server:type=ReplicaFetcherManager,name=MaxLag,clientId=Replica"
    )
    assert rows["InSyncReplicasCount"]["mbean"].endswith(",topic=t,partition=0")
    assert len({one["mbean"] for one in rows.values()}) == len(rows)


def test_the_servers_log_tells_what_brokers_say() -> None:
    lines = after(BEFORE + "kill 1; detect 1; settle; restart 1; settle")["lines"]
    texts = [line["text"] for line in reversed(lines)]
    assert "[Partition t-0 broker=2] Leader starts at leader epoch 1; the previous leader epoch " \
        "was 0" in texts  # fmt: skip
    assert "[QuorumController] Fencing broker 1" in texts
    assert not any("Expanding ISR" in text for text in texts), "a proposal is not logged"
    assert [line["n"] for line in lines] == sorted((line["n"] for line in lines), reverse=True)


CACHED = "Cached zkVersion [0] not equal to that in zookeeper, skip updating ISR"
LATE = "Leader: (highWatermark: 1, endOffset: 1). Out of sync replicas: (brokerId: 2, endOffset: 1)"


@pytest.mark.parametrize(
    ("profile", "shrinks", "fails"),
    [
        (
            "0.10.2.2",
            "Partition [t,0] on broker 1: Shrinking ISR for partition [t,0] from 1,2,3 to 1",
            f"Partition [t,0] on broker 1: {CACHED}",
        ),
        (
            "0.11.0.3",
            "Partition [t,0] on broker 1: Shrinking ISR from 1,2,3 to 1",
            f"Partition [t,0] on broker 1: {CACHED}",
        ),
        (
            "1.1.1",
            "[Partition t-0 broker=1] Shrinking ISR from 1,2,3 to 1",
            f"[Partition t-0 broker=1] {CACHED}",
        ),
    ],
)
def test_the_lines_of_a_leader_that_leads_for_itself(
    profile: str, shrinks: str, fails: str
) -> None:
    """KAFKA-2729, in the words of `Partition.maybeShrinkIsr` and `Partition.updateIsr`."""
    moves = (
        "produce a to 1 acks=all; settle; pause 1; detect 1; produce c to 2 acks=all; settle; "
        "hold md 1; resume 1; advance 20s"
    )
    texts = [line["text"] for line in after(moves, profile)["lines"]]
    assert shrinks in texts and fails in texts


@pytest.mark.parametrize("release", ["2.2.0", "2.6.3", "2.8.2", "3.9.1"])
def test_a_shrink_names_the_late_follower(release: str) -> None:
    """`Partition.maybeShrinkIsr` at 2.2.0 and later."""
    moves = "produce a to 1 acks=all; settle; produce b to 1 acks=1; fetch 3; fetch 3; advance 61s"
    texts = [line["text"] for line in after(moves, release)["lines"]]
    found = [text for text in texts if "Shrinking ISR from" in text]
    assert found and LATE.replace("endOffset: 1). Out", "endOffset: 2). Out") in found[-1], found


def test_the_last_lines_are_there_however_long_the_run() -> None:
    """Elections without end: more lines than the chronicle has in memory as they are."""
    run = Run(THREE, "K39", 0, ("settle",))
    sim, chronicle = run.simulation(), Chronicle()
    cue = Cue("CP-ELECT-KR", CONTROLLER, "leader", 1, 2, 0)
    for step in range(1, 10_001):
        chronicle.note(step, None, (cue,) * (100 if step == 5_000 else 1), sim)
    for step, last in ((20, 1), (1_005, 966), (5_000, 5_000), (5_010, 5_000), (10_000, 9_961)):
        steps = [line["n"] for line in chronicle.lines(step)]
        assert (steps[0], steps[-1], len(steps)) == (step, last, min(step, 40))


@pytest.mark.parametrize("code", ["S20", "S38", "S45", "S59", "S72"])
def test_every_step_has_a_dashboard(code: str) -> None:
    scenario = find(code)
    for profile in scenario.profiles[:2]:
        replay = Replay(Run(scenario, profile))
        for step in range(0, replay.total + 1, max(1, replay.total // 9)):
            shown = replay.dashboard(step)
            for one in shown["rows"]:
                assert set(one["values"]) <= set(map(str, shown["nodes"]))
                assert all(value >= 0 for value in (*one["values"].values(), one["total"]))
            assert all(line["n"] <= step for line in shown["lines"])


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("UnderReplicatedPartitions", "under_replicated"),
        ("UnderMinIsrPartitionCount", "under_min_isr"),
        ("AtMinIsrPartitionCount", "at_min_isr"),
    ],
)
def test_gauges_ask_the_rule_that_the_cases_ask(
    key: str, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """data-plane 12: the dashboard counts by the functions that conformance observes."""
    monkeypatch.setattr(insync, rule, lambda replica: True)
    assert row("settle", key)[0] == {"1": 1, "2": 1, "3": 1}
