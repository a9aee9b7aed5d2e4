"""Which partitions the controller looks at again, by the clock or as a broker comes back:
CP-PREFERRED, CP-UNCLEAN-TRIGGERS, CP-KR-UNFENCE."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.controlplane import kraft
from engine.model.controller import Controller
from engine.model.effects import Effects
from engine.scenarios.scenario import Scenario
from tests.rules.playing import played

LEADERLESS = Scenario.from_dict({"title": "x", "brokers": 3, "partitions": [[1, 2], [3, 2]]})
ONLY_1_WAS_IN_SYNC = ("kill 2", "detect 2", "restart 2", "kill 1", "detect 1")


@pytest.mark.parametrize(("profile", "leader"), [("K35", -1), ("K39", 2), ("K41", 2)])
def test_unclean_elections_are_tried_every_five_minutes(profile: str, leader: int) -> None:
    """CP-UNCLEAN-TRIGGERS: since 3.9, also where only the configuration has changed."""
    allowed = (*ONLY_1_WAS_IN_SYNC, "set unclean.leader.election.enable=true", "settle")
    sim = played(LEADERLESS, profile, *allowed)
    assert sim.cluster.controller.records[0].leader == -1
    kept = sim.cluster.controller.records[1].key()
    sim = played(LEADERLESS, profile, *allowed, "advance 300s")
    assert sim.cluster.controller.records[0].leader == leader
    assert sim.cluster.controller.records[1].key() == kept, "who has a leader keeps it"


@pytest.mark.parametrize("leader", [0, 5])
@pytest.mark.parametrize("unfenced", [False, True])
def test_only_partitions_without_a_leader_are_tried_again(unfenced: bool, leader: int) -> None:
    """CP-KR-UNFENCE, CP-UNCLEAN-TRIGGERS: a leader stays, though another could have its place."""
    scenario = Scenario.from_dict(
        {"title": "x", "brokers": [{"id": leader}, {"id": 1}], "partitions": [[leader, 1]] * 2}
    )
    k, out = played(scenario, "K39", "settle").cluster.controller, Effects()
    k.brokers[leader].shutting_down = True
    lost = k.records[1] = k.records[1].copy()
    lost.leader = -1
    if unfenced:
        k.brokers[1].fenced = True
        kraft.unfence(k, 1, out)
    else:
        kraft.on_unclean_check(k, out)
    assert (k.records[0].leader, k.records[1].leader) == (leader, 1)


@pytest.mark.parametrize("first", [0, 5])
def test_leadership_goes_back_to_the_preferred_replica_from_any_leader(first: int) -> None:
    """CP-PREFERRED: a broker may have number 0."""
    scenario = Scenario.from_dict(
        {"title": "x", "brokers": [{"id": first}, {"id": 1}], "partitions": [[1, first]]}
    )
    lines = ("kill 1", "detect 1", "restart 1", "settle")
    assert played(scenario, "K39", *lines).cluster.controller.records[0].leader == first
    sim = played(scenario, "K39", *lines, "advance 300s")
    assert sim.cluster.controller.records[0].leader == 1


def test_a_leaderless_partition_gets_no_preferred_leader() -> None:
    """CP-PREFERRED: nothing in sync is live, and another election is asked for elsewhere."""
    sim = played(LEADERLESS, "K39", *ONLY_1_WAS_IN_SYNC, "advance 300s")
    assert sim.cluster.controller.records[0].leader == -1


@pytest.mark.parametrize("check", [kraft.on_preferred_check, kraft.on_unclean_check])
def test_an_inactive_controller_elects_no_leader_and_looks_again_later(
    check: Callable[[Controller, Effects], bool],
) -> None:
    """10(d)."""
    k, out = played(LEADERLESS, "K39", "settle").cluster.controller, Effects()
    away = k.records[0] = k.records[0].copy()
    away.leader = 2 if check is kraft.on_preferred_check else -1
    k.alive = False
    assert not check(k, out) and k.records[0] is away and len(out.timers) == 1
    k.alive = True
    assert check(k, out) and k.records[0].leader == 1
