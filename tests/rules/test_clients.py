"""P-6, C-4 to C-7: what clients do with answers that are not what they hoped for."""

from __future__ import annotations

import pytest

from engine.dataplane.reading import preferred_read_replica
from engine.model.errors import LEADER_NOT_AVAILABLE, NETWORK_EXCEPTION
from engine.model.messages import NO_EPOCH, FetchPartition
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from tests.rules.playing import played


def consumers(*options: dict[str, object]) -> Scenario:
    return Scenario.from_dict(
        {
            "title": "x",
            "brokers": 3,
            "configs": {"unclean.leader.election.enable": True},
            "workload": {"consumers": list(options)},
        }
    )


def by_the_clock(retries: bool) -> Simulation:
    """All replicas die in the middle of the traffic and return; broker 3 tells of no leader."""
    scenario = Scenario.from_dict(
        {
            "title": "x",
            "brokers": 3,
            "partitions": [[1, 2]],
            "fetching": "auto",
            "configs": {"retry.backoff.ms": 500},
            "workload": {"producers": [{"rate_per_s": 5, "retries": retries}]},
            "faults": [
                {"kind": "kill", "brokers": [1, 2], "at_ms": 5000, "mttr_ms": 20000},
            ],
            "duration_ms": 60000,
            "script": "run; settle".replace("; ", "\n"),
        }
    )
    return play_all(Run(scenario, "K39"))


def test_a_record_without_a_leader_and_without_retries_has_failed() -> None:
    sim = by_the_clock(retries=False)
    errors = set(sim.ledger.failed.values())
    assert {LEADER_NOT_AVAILABLE, NETWORK_EXCEPTION} <= errors
    acked = sum(len(one.values) for one in sim.ledger.acked[0])
    assert acked + len(sim.ledger.failed) == sim.producer().made, "every record has its fate"
    assert max(int(one.values[0][1:]) for one in sim.ledger.acked[0]) > 200, "it found the leader"


def test_a_record_without_a_leader_waits_where_the_producer_retries() -> None:
    sim = by_the_clock(retries=True)
    assert not sim.ledger.failed
    assert sum(len(one.values) for one in sim.ledger.acked[0]) == sim.producer().made


SHORTER = (
    "produce a b; settle; kill 2; detect 2; kill 3; detect 3; produce c d; read; kill 1; "
    "detect 1; restart 2"
)


@pytest.mark.parametrize(
    ("options", "more", "position", "failed"),
    [
        ({"epochs": False}, "read", 2, ""),
        ({"epochs": False, "reset": "latest"}, "read", 2, ""),
        ({"epochs": False, "reset": "none"}, "read", 4, "OffsetOutOfRangeException"),
        ({}, "read", 2, ""),
        ({"reset": "latest"}, "read", 2, ""),
        ({"reset": "none"}, "read", 4, "LogTruncationException"),
        ({"reset": "none"}, "read; seek earliest; read", 2, ""),
        ({"epochs": False}, "produce x y z to 2; read", 5, ""),
        ({}, "produce x y z to 2; read", 5, ""),
    ],
)
def test_after_an_unclean_election(
    options: dict[str, object], more: str, position: int, failed: str
) -> None:
    sim = played(consumers(options), "K39", f"{SHORTER}; {more}")
    assert (sim.consumer().position, sim.consumer().failed) == (position, failed)


@pytest.mark.parametrize(
    ("options", "profile", "read"),
    [
        ({"epochs": False}, "K39", 5),  # a b c d, then z: x and y are never seen
        ({}, "K39", 7),  # a b c d, then x y z
        ({}, "Z20", 5),  # a release whose consumers do not know of epochs
        ({"reset": "latest"}, "K39", 7),  # back to where the epoch ended, whatever the policy
    ],
)
def test_consumers_that_skip_without_notice(
    options: dict[str, object], profile: str, read: int
) -> None:
    sim = played(consumers(options), profile, f"{SHORTER}; produce x y z to 2; read")
    assert sim.consumer().read == read
    assert ("INV-27" in {name for name, _, _ in sim.broken}) == (read == 5)


def test_clients_with_epochs_ignore_older_metadata() -> None:
    """Broker 3 has not heard of the new leader; what it says is behind what the consumer knows."""
    lines = "produce a; settle; read; hold md 3; elect 2; read; produce b to 2; settle"
    sim = played(consumers({}), "K39", lines)
    consumer = sim.consumer()
    assert (consumer.leaders[0], consumer.leader_epochs[0]) == (2, 1)
    consumer.next_broker = 2
    consumer.leaders.pop(0)
    sim.act(0, consumer.id, "read", consumer.read_now)
    sim.run_until(sim.now)
    assert consumer.read == 1 and 0 not in consumer.leaders


def test_a_client_that_is_told_to_come_back_does_so() -> None:
    """KIP-207: the reset of a consumer by the clock waits until the new leader's mark has risen."""
    lines = (
        "produce a b c; fetch 2; fetch 3; ask 2; ask 3; seek latest; kill 1; detect 1; "
        "seek latest; fetch 3; seek latest"
    )
    sim = played(consumers({}), "K39", lines)
    assert (sim.consumer().position, sim.broken) == (3, [])


# -- C-8 ------------------------------------------------------------------------------------------

RACKS = [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}, {"id": 3, "rack": "b"}]


def near(rack: str, selector: bool = True) -> Scenario:
    return Scenario.from_dict(
        {
            "title": "x",
            "brokers": RACKS,
            "configs": {"replica.selector.class": selector},
            "workload": {"consumers": [{"rack": rack}]},
        }
    )


@pytest.mark.parametrize(
    ("rack", "selector", "moves", "profile", "preferred"),
    [
        ("a", True, "produce a; settle; read", "K39", -1),
        ("b", True, "produce a; settle; read", "K39", 3),  # both are as far; the later fetch wins
        ("b", True, "produce a b; fetch 2; ask 2; read", "K39", 2),  # broker 3 is behind
        ("b", True, "produce a; settle; kill 3; detect 3; read", "K39", 2),
        ("b", True, "produce a; settle; kill 2; kill 3; detect 2; detect 3; read", "K39", -1),
        ("c", True, "produce a; settle; read", "K39", -1),
        ("b", False, "produce a; settle; read", "K39", -1),
        ("b", True, "produce a; settle; read", "Z21", -1),
        ("b", True, "produce a; settle; read; elect 2; read", "K39", -1),  # another leader
        ("b", True, "produce a; settle; read; advance 6m; kill 3; detect 3; settle; read",
         "K39", 2),  # metadata.max.age.ms is over
    ],
)  # fmt: skip
def test_the_replica_that_serves_a_consumer(
    rack: str, selector: bool, moves: str, profile: str, preferred: int
) -> None:
    sim = played(near(rack, selector), profile, moves)
    assert sim.consumer().preferred == preferred


@pytest.mark.parametrize(("times", "chosen"), [((500, 400), 2), ((400, 500), 3), ((500, 500), 3)])
def test_the_replica_caught_up_last_serves_among_equals(
    times: tuple[int, int], chosen: int
) -> None:
    """C-8: ms at which brokers 2 and 3 had everything; if these agree, too, the higher number."""
    leader = played(near("b"), "K39", "produce a; settle; settle").brokers[1].running
    for follower, caught_up in zip((2, 3), times, strict=True):
        leader.replicas[0].remote[follower].last_caught_up_ms = caught_up
    wanted = FetchPartition(0, 0, NO_EPOCH, NO_EPOCH, 0)
    assert preferred_read_replica(leader, "b", wanted, 1_000) == chosen


def test_a_follower_shows_no_more_than_its_own_mark() -> None:
    lines = "produce a; settle; read; produce b; fetch 2; fetch 3; ask 2; ask 3; read"
    sim = played(near("b"), "K39", lines)
    assert (sim.brokers[1].replicas[0].log.hw, sim.consumer().read) == (2, 1)
    sim = played(near("b"), "K39", f"{lines}; deliver 1->2; deliver 1->3; read")
    assert sim.consumer().read == 2


@pytest.mark.parametrize("sessions", [False, True])
def test_a_consumer_that_waits_at_a_follower_is_served_when_the_mark_rises(
    sessions: bool,
) -> None:
    """H-6.  The answer to the follower's fetch wakes the consumer's."""
    scenario = Scenario.from_dict(
        {
            "title": "x",
            "brokers": RACKS,
            "fetching": "auto",
            "network": {"delay_ms": 5},
            "configs": {
                "replica.selector.class": True,
                "fetch.max.wait.ms": 20000,
                "fetch_sessions": sessions,
            },
            "workload": {
                "producers": [{"rate_per_s": 0.5}],
                "consumers": [{"rack": "b"}],
            },
            "script": "run 20s",
        }
    )
    sim = play_all(Run(scenario, "K39"))
    consumer = sim.consumer()
    assert consumer.preferred in (2, 3)
    assert consumer.read >= len(sim.ledger.acked[0]) - 1 > 3
    assert sim.broken == []


def test_a_mark_is_told_at_once_only_in_2_4_and_2_5() -> None:
    scenario = Scenario.from_dict(
        {"title": "x", "brokers": 2, "fetching": "auto", "network": {"delay_ms": 5}}
    )
    marks = {}
    for profile in ("Z21", "Z24", "Z25", "K39", "K39+hw_sent_at_once"):
        sim = played(scenario, profile, "advance 600ms; produce a; advance 100ms")
        marks[profile] = sim.brokers[2].replicas[0].log.hw
    assert marks == {"Z21": 0, "Z24": 1, "Z25": 0, "K39": 0, "K39+hw_sent_at_once": 1}
