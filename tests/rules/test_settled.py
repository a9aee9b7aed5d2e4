"""What checks say where library runs never lead them."""

from __future__ import annotations

import pytest

from engine.checks.invariants.epochs import EpochCacheSorted
from engine.checks.invariants.logs import unsettled
from engine.controlplane.roles import ensure_log
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from tests.rules.playing import played

THREE = Scenario.from_dict({"title": "x", "brokers": [{"id": n, "dirs": 2} for n in (1, 2, 3)]})


@pytest.mark.parametrize("profile", ["K39", "Z33"])
def test_a_partition_without_a_leader_has_not_settled(profile: str) -> None:
    """I13; where its last in-sync copy lies on a failed disk, no replica can or should."""
    lines = "produce a; settle; kill 2; detect 2; kill 3; detect 3"
    assert list(unsettled(played(THREE, profile, lines).cluster)) == []
    (why,) = list(unsettled(played(THREE, profile, f"{lines}; kill 1; detect 1").cluster))
    assert why.startswith("nobody leads t-0: P{")
    assert list(unsettled(played(THREE, profile, f"{lines}; disk_fail 1 d1").cluster)) == []


def test_each_partition_without_a_leader_is_reported() -> None:
    """I13."""
    scenario = Scenario.from_dict({"title": "x", "brokers": 2, "partitions": [[1], [2], [1]]})
    lines = ("settle", "kill 1", "detect 1", "kill 2", "detect 2")
    why = list(unsettled(play_all(Run(scenario, "K39", 0, lines)).cluster))
    assert [one[:16] for one in why] == [f"nobody leads t-{tp}" for tp in range(3)]


@pytest.mark.parametrize(("profile", "told"), [("K39", True), ("Z33", True), ("Z20", False)])
def test_since_2_2_every_bounce_is_noticed(profile: str, told: bool) -> None:
    """I13, CP-ZK-BROKERS: a broker in sync has a replica."""
    sim = played(THREE, profile, "produce a; settle; settle")
    sim.brokers[2].running.replicas.clear()
    why = ["broker 2 stays at (LEO, HW) None, its leader broker 1 at (1, 1)"]
    assert list(unsettled(sim.cluster)) == (why if told else [])


def test_a_record_without_a_leader_is_no_bounce() -> None:
    """I13, CP-ZK-BROKERS."""
    sim = played(THREE, "Z20", "settle")
    sim.cluster.controller.records[0].leader = -1
    (why,) = list(unsettled(sim.cluster))
    assert why.startswith("nobody leads t-0: P{")


@pytest.mark.parametrize(
    ("epochs", "starts", "right"),
    [([1, 2], [0, 1], True), ([2, 1], [0, 1], False), ([1, 1], [0, 1], False),
     ([1, 2], [1, 0], False), ([1, 2], [0, 2], False), ([1], [2], False), ([1], [1], True)],
)  # fmt: skip
def test_epochs_and_their_starts_rise(epochs: list[int], starts: list[int], right: bool) -> None:
    """INV-4: the epochs are looked at, not only where they start."""
    sim = played(THREE, "K39", "produce a; settle")
    log = sim.brokers[1].machine.disks[0].log
    log.epochs.epochs[:], log.epochs.starts[:] = epochs, starts
    EpochCacheSorted().check(sim.checker, sim.brokers[1].replicas[0])
    assert ("INV-4" not in sim.checker.told) is right


@pytest.mark.parametrize(
    ("profile", "starts", "right"),
    [
        ("K39", [1, 1], False),
        ("2.0.0", [1, 1], True),
        ("2.0.0", [1, 0], False),
        ("K39", [0, 1], True),
    ],
)
def test_until_2_0_0_two_epochs_may_start_at_one_offset(
    profile: str, starts: list[int], right: bool
) -> None:
    """INV-4, E-2: later a new entry drops those that start where it does."""
    sim = played(THREE, profile, "produce a; settle")
    log = sim.brokers[1].machine.disks[0].log
    log.epochs.epochs[:], log.epochs.starts[:] = [1, 2], starts
    EpochCacheSorted().check(sim.checker, sim.brokers[1].replicas[0])
    assert ("INV-4" not in sim.checker.told) is right


def test_only_a_broker_without_a_request_for_its_role_is_excused() -> None:
    """I13, CP-ZK-BROKERS, before 2.2: broker 1 was down for an unnoticed moment.  That
    excuses neither a follower that knows its leader nor another partition."""
    scenario = Scenario.from_dict({"title": "x", "brokers": 3, "partitions": [[1, 2], [2, 3]]})
    lines = ("settle", "bounce 1", "produce a to 2 p=1 acks=1")
    sim = play_all(Run(scenario, "Z20", 0, lines))
    assert sim.cluster.current_leader(0) is None
    why = "broker 3 stays at (LEO, HW) (0, 0), its leader broker 2 at (1, 0)"
    assert list(unsettled(sim.cluster)) == [why]
    ensure_log(sim.brokers[1].running, 0, sim.out)  # of a leader it does not know it hears nothing
    assert list(unsettled(sim.cluster)) == [why]


def test_settle_goes_on_after_an_answer_that_was_held_back() -> None:
    """As recorded on 1.1.1: the answer is older than the record, which the next fetch brings."""
    scenario = Scenario.from_dict({"title": "x", "brokers": 3, "partitions": [[3, 1]]})
    lines = ("power 2", "ask 1", "detect 2", "produce a to 3 acks=all", "settle")
    sim = play_all(Run(scenario, "Z011", 0, lines))
    assert (sim.brokers[1].replicas[0].log.leo, sim.brokers[3].replicas[0].log.hw) == (1, 1)
