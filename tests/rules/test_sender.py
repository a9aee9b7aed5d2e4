"""5.1: ZooKeeper's controller sends a request until the broker has answered or has left."""

from __future__ import annotations

import pytest

from engine.model.state import LEADER
from engine.sim.simulation import Simulation
from tests.rules.playing import cluster, go_on, played

THREE = cluster(brokers=3, partitions=[[1, 2, 3]])
BEGIN = "produce a to 1 acks=all; settle"
LOSE = {
    "at the sending": "cut 2 K; elect 2; heal 2 K; settle",
    "by a drop": "hold K->2; elect 2; drop K->2 LeaderAndIsr; release K->2; settle; advance 1s",
    "by a link": "lose K 2 100; elect 2; lose K 2 0; settle; advance 1s",
    "by a cut": "hold K->2; elect 2; cut 2 K; release K->2; heal 2 K; settle",
    "by a pause": "pause K; resume K; elect 2; settle",
}


def epochs(sim: Simulation) -> list[int]:
    """The leader epoch that each broker knows."""
    return [broker.replicas[0].leader_epoch for _, broker in sorted(sim.brokers.items())]


@pytest.mark.parametrize("lose", LOSE.values(), ids=LOSE)
@pytest.mark.parametrize("profile", ["Z08", "Z09", "Z24", "3.2.3", "Z33"])
def test_however_a_request_is_lost_it_is_sent_again(profile: str, lose: str) -> None:
    sim = played(THREE, profile, BEGIN, lose)
    assert epochs(sim) == [1, 1, 1]
    assert sim.brokers[2].replicas[0].role == LEADER
    known = {broker.running.metadata[0] for broker in sim.brokers.values()}
    assert known == {(2, 1)}, "clients are told, too"


@pytest.mark.parametrize(
    ("profile", "sent_again"),
    [("0.8.0", []), ("0.8.1", ["at the sending"]), ("0.8.2.2", ["at the sending", "by a drop"])],
)
def test_older_releases_give_up(profile: str, sent_again: list[str]) -> None:
    """KAFKA-1187, KAFKA-1738: `RequestSendThread.doWork` at 0.8.0, 0.8.1.1 and 0.8.2.0."""
    for how in ("at the sending", "by a drop"):
        sim = played(THREE, profile, BEGIN, LOSE[how])
        assert (epochs(sim)[1] == 1) is (how in sent_again), how


@pytest.mark.parametrize(("profile", "wait"), [("Z08", 300), ("0.10.0.1", 300), ("Z33", 100)])
def test_the_next_attempt_waits(profile: str, wait: int) -> None:
    sim = played(THREE, profile, BEGIN, "hold K->2; elect 2; drop K->2 LeaderAndIsr; release K->2")
    sent = sim.now
    go_on(sim, f"advance {wait - 1}ms")
    assert sim.now == sent + wait - 1 and epochs(sim)[1] == 0
    go_on(sim, "advance 1ms; settle")
    assert epochs(sim)[1] == 1


def test_later_requests_wait_behind_the_lost_one() -> None:
    """One request at a time: metadata for clients does not overtake the role."""
    sim = played(THREE, "Z33", BEGIN, "hold K->2 LeaderAndIsr; elect 2; drop K->2 LeaderAndIsr")
    go_on(sim, "release K->2 LeaderAndIsr; elect 3")
    registration = sim.cluster.controller.brokers[2]
    kinds = [type(request).__name__ for request in registration.unsent]
    assert kinds[0] == kinds[-2] == "LeaderAndIsr" and kinds[-1] == "UpdateMetadata"
    go_on(sim, "advance 1s; settle")
    assert epochs(sim) == [2, 2, 2] and not registration.unsent


@pytest.mark.parametrize("end", ["detect 2", "kill K; restart K"])
def test_the_queue_ends_with_the_session_and_with_the_controller(end: str) -> None:
    sim = played(THREE, "Z33", BEGIN, "cut 2 K; elect 2")
    assert sim.cluster.controller.brokers[2].unsent
    go_on(sim, end)
    registration = sim.cluster.controller.brokers.get(2)
    left = [] if registration is None else registration.unsent
    assert all(request.controller_epoch > 1 for request in left)


def test_an_answer_that_is_lost_is_asked_for_again() -> None:
    """The broker deletes its replica once, and says so twice."""
    sim = played(THREE, "Z33", "create_topic x 2; settle; hold 2->K; delete_topic x")
    go_on(sim, "drop 2->K StopReplicaResponse; release 2->K")
    assert "x" in sim.cluster.controller.deletions
    go_on(sim, "advance 1s; settle")
    assert not sim.cluster.controller.deletions
