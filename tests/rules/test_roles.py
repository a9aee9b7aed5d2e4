"""What a broker makes of a record of the past: CP-MAKE-LEADER, CP-MAKE-FOLLOWER."""

from __future__ import annotations

import pytest

from engine.controlplane import roles
from engine.dataplane import fetcher
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.records import PartitionRecord
from engine.model.state import FOLLOWER, LEADER, Peer, Replica
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all

THREE = Scenario.from_dict({"title": "x", "brokers": 3})


def hosting(broker: int, profile: str = "K39") -> tuple[Process, Replica]:
    """Broker 1 leads; partition epoch 5, leader epoch 3."""
    process = play_all(Run(THREE, profile, 0, ("settle",))).brokers[broker].running
    replica = process.replicas[0]
    replica.leader_epoch, replica.partition_epoch = 3, 5
    return process, replica


def told(leader: int, leader_epoch: int, partition_epoch: int) -> PartitionRecord:
    return PartitionRecord((1, 2, 3), (1, 2, 3), leader, leader_epoch, partition_epoch)


@pytest.mark.parametrize(
    ("broker", "epochs", "becomes"),
    [(2, (4, 4), False), (2, (4, 5), True), (2, (4, 6), True), (1, (4, 6), False)],
)
def test_an_older_record_makes_no_leader(
    broker: int, epochs: tuple[int, int], becomes: bool
) -> None:
    """CP-MAKE-LEADER: and a replica that leads already does not become it by a newer one."""
    process, replica = hosting(broker)
    assert roles.make_leader(process, 0, told(broker, *epochs), Effects()) is becomes
    assert replica.role == (LEADER if becomes or broker == 1 else FOLLOWER)


@pytest.mark.parametrize(
    ("epochs", "anew", "role"),
    [
        ((4, 4), False, LEADER),
        ((3, 5), False, FOLLOWER),
        ((4, 5), True, FOLLOWER),
        ((4, 6), True, FOLLOWER),
    ],
)
def test_only_a_newer_epoch_of_no_older_record_restarts_the_fetching(
    epochs: tuple[int, int], anew: bool, role: int
) -> None:
    """CP-MAKE-FOLLOWER."""
    process, replica = hosting(1)
    assert roles.make_follower(process, 0, told(2, *epochs), Effects()) is anew
    assert replica.role == role


def test_in_zookeepers_era_no_broker_follows_a_dead_one() -> None:
    """CP-MAKE-FOLLOWER 1: the transition is given up."""
    for profile, follows in (("Z33", False), ("K39", True)):
        process, replica = hosting(3, profile)
        process.peers[2].alive = False
        assert roles.make_follower(process, 0, told(2, 4, 6), Effects()) is follows
        assert replica.leader == (2 if follows else 1)


@pytest.mark.parametrize(("leader", "fetches"), [(0, True), (2, True), (-1, False)])
def test_a_leaving_broker_fetches_on_from_an_existing_leader(leader: int, fetches: bool) -> None:
    """CP-MAKE-FOLLOWER: whatever its number, as long as this broker is in sync."""
    process, replica = hosting(3)
    process.shutting_down = True
    record = PartitionRecord((0, 1, 2, 3), (0, 1, 2, 3), leader, 4, 6)
    assert roles.make_follower(process, 0, record, Effects()) and replica.leader == leader
    assert (fetcher.thread_of(process, 0) is not None) is fetches


@pytest.mark.parametrize("leader", [0, 2])
def test_before_epochs_a_new_leader_makes_its_followers_cut_to_the_high_watermark(
    leader: int,
) -> None:
    """T-0: whatever its number."""
    moves = ("produce a to 1 acks=1", "fetch 3")
    process = play_all(Run(THREE, "Z0102", 0, moves)).brokers[3].running
    log = process.replicas[0].log
    assert (log.hw, log.leo) == (0, 1)
    process.peers[leader] = Peer(1)
    assert roles.make_follower(process, 0, told(leader, 4, 6), Effects())
    assert (log.hw, log.leo) == (0, 0)


@pytest.mark.parametrize("profile", ["Z0102", "Z011"])
def test_another_term_of_the_same_leader_leaves_a_fetch_alone_and_begins_one(profile: str) -> None:
    """F-2: before 2.1 a follower that fetches from it goes on where it is; another one begins."""
    process, _ = hosting(3, profile)
    thread = fetcher.thread_of(process, 0)
    assert thread is not None
    before = thread.partitions[0]
    roles.make_follower(process, 0, told(1, 4, 6), Effects())
    assert thread.partitions[0] is before and before.leader_epoch == 4
    fetcher.remove_partition(process, 0)
    roles.make_follower(process, 0, told(1, 5, 7), Effects())
    assert fetcher.thread_of(process, 0) is not None


def test_the_start_of_its_epoch_is_known_to_a_leader_only() -> None:
    """CP-MAKE-LEADER, CP-MAKE-FOLLOWER."""
    process, replica = hosting(1)
    roles.make_leader(process, 0, told(1, 4, 6), Effects())
    assert replica.epoch_start == replica.log.leo
    roles.make_follower(process, 0, told(2, 5, 7), Effects())
    assert replica.epoch_start == -1


@pytest.mark.parametrize(
    ("leader", "isr", "fetches"),
    [(0, (0, 1), True), (2, (1, 2), True), (2, (2,), False), (-1, (1,), False)],
)
def test_a_leaving_broker_fetches_on_while_it_is_in_sync_with_a_leader(
    leader: int, isr: tuple[int, ...], fetches: bool
) -> None:
    """CP-KR-SHUTDOWN: broker 0 is one, too."""
    scenario = Scenario.from_dict(
        {"title": "x", "brokers": [{"id": 0}, {"id": 1}, {"id": 2}], "partitions": [[2, 1, 0]]}
    )
    process = play_all(Run(scenario, "K39", 0, ("settle",))).brokers[1].running
    process.shutting_down = True
    record = PartitionRecord((2, 1, 0), isr, leader, 4, 6)
    roles.make_follower(process, 0, record, Effects())
    assert any(0 in thread.partitions for thread in process.fetchers.values()) is fetches
