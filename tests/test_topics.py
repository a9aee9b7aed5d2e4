"""Topics that a run makes and deletes: places of replicas, leaders, and what is left behind."""

from __future__ import annotations

import pytest

from engine.model.records import Ids
from engine.moves import moves
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from tests.rules.playing import played

FIVE = Scenario.from_dict(
    {"title": "Where?", "brokers": [{"id": n} for n in range(5)], "partitions": [[4]]}
)
RACKS = Scenario.from_dict(
    {
        "title": "In which rack?",
        "brokers": [{"id": n, "rack": rack} for n, rack in enumerate("133221")],
        "partitions": [[5]],
    }
)
KAFKA_TABLE = {
    # control-plane 2.2: brokers, partitions, factor, start, shift -> replicas
    (5, 10, 3, 0, 0): "012 123 234 340 401 023 134 240 301 412",
    (4, 6, 3, 1, 2): "102 213 320 031 123 230",
}


def lists(sim: Simulation, topic: str) -> list[Ids]:
    k = sim.cluster.controller
    return [k.records[tp].replicas for tp in k.topics[topic].tps]


def digits(found: list[Ids]) -> str:
    return " ".join("".join(map(str, one)) for one in found)


@pytest.mark.parametrize("profile", ["K39", "Z33"])
@pytest.mark.parametrize(("case", "table"), KAFKA_TABLE.items())
def test_the_table_of_the_zookeeper_era(case: tuple[int, ...], table: str, profile: str) -> None:
    brokers, partitions, factor, start, shift = case
    scenario = (
        FIVE
        if brokers == 5
        else Scenario.from_dict({"title": "Four?", "brokers": [{"id": n} for n in range(4)]})
    )
    line = f"create_topic o partitions={partitions} factor={factor} placer=zk"
    sim = played(scenario, profile, f"{line} start={start} shift={shift}")
    assert digits(lists(sim, "o")) == table


@pytest.mark.parametrize("profile", ["K39", "Z33"])
def test_added_partitions_go_on_from_the_first_replica(profile: str) -> None:
    line = "create_topic o partitions=6 factor=3 placer=zk start=0; add_partitions o count=2 "
    assert digits(lists(played(FIVE, profile, line + "placer=zk"), "o")[6:]) == "123 234"
    assert digits(lists(played(FIVE, profile, line + "placer=textbook"), "o")[6:]) == "123 234"


def test_racks_come_in_turn() -> None:
    """control-plane 2.3, first row."""
    sim = played(RACKS, "Z33", "create_topic o partitions=7 factor=3 start=0")
    assert digits(lists(sim, "o")) == "031 315 154 542 420 203 042"


def test_a_restarted_broker_still_has_its_rack() -> None:
    for profile in ("Z33", "K39"):
        sim = played(RACKS, profile, "kill 1; detect 1; restart 1; create_topic o factor=3")
        racks = {sim.brokers[b].machine.rack for b in lists(sim, "o")[0]}
        assert len(racks) == 3, profile


@pytest.mark.parametrize("profile", ["K39", "Z33"])
def test_chance_belongs_to_the_run(profile: str) -> None:
    line = "create_topic o partitions=5 factor=2"
    runs = [play_all(Run(FIVE, profile, seed, (line,))) for seed in (1, 1, 2, 3, 4)]
    found = [digits(lists(sim, "o")) for sim in runs]
    assert found[0] == found[1]
    assert len(set(found)) > 1


def test_the_striped_placer_uses_fenced_brokers_as_followers_only() -> None:
    sim = played(FIVE, "K39", "kill 0; detect 0; create_topic o partitions=5 factor=5")
    made = lists(sim, "o")
    assert all(set(one) == {0, 1, 2, 3, 4} and one[0] != 0 for one in made)
    records = [sim.cluster.controller.records[tp] for tp in sim.cluster.controller.topics["o"].tps]
    assert all(record.isr == tuple(b for b in record.replicas if b) for record in records)


@pytest.mark.parametrize("profile", ["K39", "Z33"])
def test_records_of_a_new_topic_are_kept_like_others(profile: str) -> None:
    sim = played(
        FIVE,
        profile,
        "create_topic o 0,1,2; produce a b p=o-0; settle; kill 0; detect 0; "
        "produce c p=o-0; settle; restart 0; settle",
    )
    logs = [sim.brokers[b].machine.disks[1].log for b in (0, 1, 2)]
    assert [log.leo for log in logs] == [3, 3, 3] and not sim.broken
    assert len(sim.ledger.acked[1]) == 3


def test_zookeeper_elects_once_a_replica_is_there() -> None:
    """CP-ELECT-NEW without a live replica: a broker on its way out is registered, not counted."""
    sim = played(FIVE, "Z33", "cut 1 K; advance 1")
    sim.cluster.controller.brokers[1].shutting_down = True
    # No moves alone bring about a broker that is leaving and is asked for.
    list(moves.play(sim, moves.parse("create_topic o 1", FIVE.brokers)))
    record = sim.cluster.controller.records[1]
    assert (record.leader, record.leader_epoch, record.partition_epoch) == (-1, -1, -1)
    for line in ("kill 1", "detect 1", "heal", "restart 1"):
        list(moves.play(sim, moves.parse(line, FIVE.brokers)))
    record = sim.cluster.controller.records[1]
    assert (record.leader, record.leader_epoch, record.partition_epoch, record.isr) == (
        1, 0, 0, (1,),
    )  # fmt: skip


# -- deletion --------------------------------------------------------------------------------------


def left(sim: Simulation) -> dict[int, list[int]]:
    return {
        b: list(broker.machine.disks) for b, broker in sim.brokers.items() if broker.machine.disks
    }


def test_zookeeper_waits_for_a_reassignment() -> None:
    start = "create_topic o 0,1; produce a p=o-0; settle; reassign 2 3 p=o-0; delete_topic o"
    sim = played(FIVE, "Z33", start)
    assert 1 in sim.cluster.controller.records and "o" in sim.cluster.controller.deletions
    sim = played(FIVE, "Z33", f"{start}; settle")
    assert left(sim) == {4: [0]} and "o" not in sim.cluster.controller.topics


def test_zookeeper_asks_again_once_a_broker_is_reached() -> None:
    sim = played(FIVE, "Z33", "create_topic o 0,1; cut 1 K; delete_topic o")
    assert left(sim) == {1: [1], 4: [0]}
    sim = played(FIVE, "Z33", "create_topic o 0,1; cut 1 K; delete_topic o; heal")
    assert left(sim) == {4: [0]} and not sim.cluster.controller.deletions
    lines = "create_topic o 0,1; kill 1; delete_topic o; kill K; restart K; restart 1"
    sim = played(FIVE, "Z33", lines)
    assert left(sim) == {4: [0]} and not sim.cluster.controller.deletions


@pytest.mark.parametrize("profile", ["K39", "Z33"])
def test_the_last_topic_may_go(profile: str) -> None:
    sim = played(FIVE, profile, "produce a; delete_topic t; settle; advance 40s; create_topic t")
    assert left(sim).keys() == set(lists(sim, "t")[0])
    assert sim.cluster.names == ("t-0", "t-0") and not sim.broken


def test_a_moved_partition_leaves_no_stray_log() -> None:
    sim = played(FIVE, "K39", "create_topic o 0,1; kill 1; reassign 0 2 p=o-0; settle; restart 1")
    assert left(sim) == {0: [1], 2: [1], 4: [0]}
