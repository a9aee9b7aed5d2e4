"""The voters of a KRaft quorum: elections, replication, and the promises of Raft (CP-RAFT)."""

from __future__ import annotations

from itertools import product

import pytest

from engine.model.errors import InputError
from engine.model.quorum import CANDIDATE, FOLLOWER, LEADER, R_LEADER_CHANGE, RESIGNED
from engine.scenarios.file import find, load_text
from engine.scenarios.scenario import Scenario
from engine.sim.simulation import Simulation
from tests.rules.playing import go_on, quorum_of

THREE = """
title: three voters
brokers: 3
quorum: [C1, C2, C3]
fetching: auto
network: {delay_ms: 1, control_delay_ms: 1}
"""


def scenario() -> Scenario:
    return load_text(THREE)


def play(*lines: str, profile: str = "K39", seed: int = 0) -> Simulation:
    sim = Simulation(scenario(), profile, seed)
    go_on(sim, *lines)
    return sim


# -- elections --------------------------------------------------------------------------------


def test_the_others_elect_a_leader_when_it_crashes() -> None:
    sim = play("advance 1s", "kill C1", "advance 6s")
    first, *others = quorum_of(sim).voters.values()
    assert not first.alive
    leaders = [one for one in others if one.state == LEADER]
    assert len(leaders) == 1 and leaders[0].epoch > 1
    assert sim.cluster.controller.voter == leaders[0].id and sim.cluster.controller.alive
    kinds = [record[0] for record in leaders[0].log.records]
    assert kinds.count(R_LEADER_CHANGE) == 1
    assert {one.leader for one in quorum_of(sim).observers.values()} == {leaders[0].id}


def test_a_former_leader_appends_nothing_more_in_its_epoch() -> None:
    sim = play("advance 1s", "kill C1", "restart C1")
    first = next(iter(quorum_of(sim).voters.values()))
    assert first.state == RESIGNED
    go_on(sim, "advance 6s")
    assert first.epoch > 1 and not sim.broken


def test_without_a_majority_nothing_is_elected_and_nothing_lost() -> None:
    sim = play("advance 1s", "kill C2", "kill C3", "advance 30s")
    first = next(iter(quorum_of(sim).voters.values()))
    assert first.state == CANDIDATE and not sim.cluster.controller.alive
    go_on(sim, "restart C3", "advance 10s")
    assert sim.cluster.controller.alive and not sim.broken


@pytest.mark.parametrize(("profile", "stays"), [("K36", True), ("K37", False), ("K41", False)])
def test_an_isolated_leader_resigns_since_3_7(profile: str, stays: bool) -> None:
    sim = play("advance 1s", "cut C1 C2", "cut C1 C3", "advance 5s", profile=profile)
    first = next(iter(quorum_of(sim).voters.values()))
    assert (first.state == LEADER) == stays
    assert not sim.broken


@pytest.mark.parametrize(("profile", "epoch_rises"), [("K39", True), ("K40", False)])
def test_a_voter_back_from_a_cut_unseats_no_leader_since_4_0(
    profile: str, epoch_rises: bool
) -> None:
    sim = play("advance 1s", "cut C1 C3", "cut C2 C3", "advance 9s", "heal", profile=profile)
    go_on(sim, "advance 3s")
    first, *others = quorum_of(sim).voters.values()
    assert (first.epoch > 1) == epoch_rises
    assert sim.cluster.controller.alive and not sim.broken
    assert {one.epoch for one in others} == {first.epoch}


def test_a_deposed_leader_truncates_what_only_it_has() -> None:
    sim = play("advance 1s", "cut C1 C2", "cut C1 C3", "elect 2", "advance 6s", profile="K36")
    first, second, third = quorum_of(sim).voters.values()
    assert any(record[0] == "PartitionChange" for record in first.log.records[4:])
    go_on(sim, "heal", "advance 5s")
    assert first.state == FOLLOWER
    assert first.log.records == second.log.records == third.log.records
    assert sim.cluster.controller.records[0].leader == 1
    assert not sim.broken


def test_brokers_get_committed_metadata_only() -> None:
    sim = play("advance 1s", "cut C1 C2", "cut C1 C3", "elect 2", "advance 500")
    assert sim.cluster.controller.records[0].leader == 2
    assert {broker.running.image[0].leader for broker in sim.brokers.values()} == {1}


@pytest.mark.parametrize(("victim", "seed"), [*product(("C1", "C2", "C3"), range(4))])
def test_every_single_crash_is_survived(victim: str, seed: int) -> None:
    sim = play("advance 1s", f"kill {victim}", "advance 8s", "kill 1", "advance 20s", seed=seed)
    assert sim.cluster.controller.records[0].leader == 2
    go_on(sim, f"restart {victim}", "advance 8100")
    ends = {one.log.end for one in quorum_of(sim).voters.values()}
    assert len(ends) == 1 and not sim.broken


def test_a_quorum_of_one_returns_with_its_voter() -> None:
    alone = load_text(THREE.replace("C1, C2, C3", "C1"))
    sim = Simulation(alone, "K39")
    go_on(sim, "advance 1s", "kill C1", "advance 6s", "restart C1", "advance 9s")
    go_on(sim, "kill 1", "advance 12s")
    assert sim.cluster.controller.records[0].leader == 2 and not sim.broken


def test_a_copy_goes_on_as_the_original() -> None:
    sim = play("advance 1s", "kill C1", "advance 1500")
    twin = sim.copy()
    for one in (sim, twin):
        go_on(one, "advance 10s")
    found = [
        [(v.state, v.epoch, v.log.records, v.hw) for v in quorum_of(one).voters.values()]
        for one in (sim, twin)
    ]
    assert found[0] == found[1]
    assert (
        twin.cluster.controller is quorum_of(twin).voters[twin.cluster.controller.voter].controller
    )


# -- planned restarts -------------------------------------------------------------------------


def until_active(sim: Simulation) -> int:
    """Play until a controller is active; return when that is."""
    while not sim.cluster.controller.alive:
        sim.fire_next()
    return sim.now


@pytest.mark.parametrize("profile", ["K33", "K39", "K40", "K41"])
def test_a_leader_that_shuts_down_has_a_successor_at_once(profile: str) -> None:
    sim = play("advance 1s", "shutdown C1", profile=profile)
    assert until_active(sim) < 1_050, "a crash takes two seconds and longer"
    first, second, third = quorum_of(sim).voters.values()
    assert not first.alive and {second.epoch, third.epoch} == {2}
    go_on(sim, "advance 1s", "restart C1", "advance 3s")
    assert first.state == FOLLOWER and first.epoch == 2 and not sim.broken


def test_a_follower_that_shuts_down_costs_no_election() -> None:
    sim = play("advance 1s", "shutdown C3")
    assert not list(quorum_of(sim).voters.values())[2].alive and sim.now == 1_000
    go_on(sim, "advance 5s")
    assert sim.cluster.controller.alive and sim.cluster.controller.epoch == 1


def test_without_another_leader_a_shutdown_ends_after_five_seconds() -> None:
    sim = play("advance 1s", "kill C2", "kill C3", "shutdown C1")
    first = next(iter(quorum_of(sim).voters.values()))
    assert (first.alive, first.state, sim.now) == (False, RESIGNED, 6_000)
    go_on(sim, "restart C1", "restart C2", "advance 9s")
    assert sim.cluster.controller.alive and not sim.broken


def test_a_quorum_of_one_stops_at_once() -> None:
    alone = load_text(THREE.replace("C1, C2, C3", "C1"))
    sim = Simulation(alone, "K39")
    go_on(sim, "advance 1s", "shutdown C1")
    assert sim.now == 1_000 and not next(iter(quorum_of(sim).voters.values())).alive


@pytest.mark.parametrize("move", ["bounce C1", "power C1"])
def test_a_voter_loses_nothing_with_its_process_or_its_power(move: str) -> None:
    sim = play("advance 1s")
    first = next(iter(quorum_of(sim).voters.values()))
    before = first.log.records.copy()
    go_on(sim, move)
    assert first.alive == (move == "bounce C1") and first.log.records == before
    go_on(sim, "advance 8s")
    assert sim.cluster.controller.alive and not sim.broken


# -- by hand -------------------------------------------------------------------------------------


def test_a_timeout_ends_while_time_stands() -> None:
    sim = play("advance 1s", "kill C1", "timeout C2")
    second = list(quorum_of(sim).voters.values())[1]
    assert (second.state, second.epoch, sim.now) == (CANDIDATE, 2, 1_000)


def test_a_voter_repeats_what_was_lost() -> None:
    sim = play("advance 1s", "cut C1 C2", "heal C1 C2")
    second = list(quorum_of(sim).voters.values())[1]
    assert not second.fetching
    go_on(sim, "repeat C2")
    assert second.fetching and sim.now == 1_000
    with pytest.raises(InputError, match="has nothing to send again"):
        go_on(sim, "repeat C2")


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (THREE + "profiles: [Z33]", "Only KRaft has a quorum of voters"),
        (THREE.replace("C1, C2, C3", "A, B, C"), "The voters are called C1, C2, C3"),
    ],
)
def test_a_quorum_that_cannot_be_played_is_refused(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        load_text(text)


def test_a_release_with_zookeeper_cannot_begin() -> None:
    assert scenario().cannot_begin("Z33").startswith("Only KRaft has a quorum")
    with pytest.raises(InputError, match="Only KRaft has a quorum"):
        Simulation(scenario(), "Z33")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("kill C4", "There is no voter C4"),
        ("shutdown C4", "There is no voter C4"),
        ("shutdown K", "There is no broker “K”"),
        ("restart C1", "is running already"),
        ("cut 1 K", "name a voter: C1, C2, C3"),
        ("timeout C4", "There is no voter C4"),
    ],
)
def test_moves_that_mean_no_voter_are_refused(line: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        play(line)


@pytest.mark.parametrize("profile", ["K39", "K41"])
def test_a_request_of_a_broken_connection_goes_to_the_new_leader_at_once(profile: str) -> None:
    """`NodeToControllerRequestThread.handleResponse` puts it back, and the leader is known."""
    frozen = find("S102")
    lines = [line.text for line in frozen.lines(profile) if not line.is_expect]
    sim = Simulation(frozen, profile)
    go_on(sim, *lines[: lines.index("kill C1")])
    assert sorted(sim.cluster.controller.records[0].isr) == [1, 2, 3]
    go_on(sim, "kill C1", "advance 100")
    assert sorted(sim.cluster.controller.records[0].isr) == [1, 2]
