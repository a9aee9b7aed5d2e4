"""Voters that are added to a quorum and removed from it (CP-RAFT-VOTERS, KIP-853)."""

from __future__ import annotations

import pytest

from engine.model.errors import InputError
from engine.model.quorum import FOLLOWER, LEADER, R_VOTERS, UNATTACHED, Voter
from engine.quorum import voters as rules
from engine.scenarios.file import load_text
from engine.sim.simulation import Simulation
from tests.rules.playing import go_on, quorum_of

VOTERS = """
title: voters that change
brokers: 3
quorum: [C1, C2, C3]
fetching: auto
network: {delay_ms: 1, control_delay_ms: 1}
configs: {kraft.version: 1}
"""


def play(*lines: str, profile: str = "K41") -> Simulation:
    sim = Simulation(load_text(VOTERS), profile, 0)
    go_on(sim, "advance 1s", *lines)
    return sim


def voters(sim: Simulation) -> list[Voter]:
    return list(quorum_of(sim).voters.values())


def names(sim: Simulation, voter: Voter) -> list[str]:
    quorum = quorum_of(sim)
    return [quorum.voters[node].name for node in quorum.members(voter.log)]


def test_a_removed_voter_observes_and_may_be_added_again() -> None:
    sim = play("remove C3", "advance 1s")
    assert [names(sim, one) for one in voters(sim)] == [["C1", "C2"]] * 3
    third = voters(sim)[2]
    assert third.state == FOLLOWER and not quorum_of(sim).is_voter(third)
    go_on(sim, "add C3", "advance 1s")
    assert [names(sim, one) for one in voters(sim)] == [["C1", "C2", "C3"]] * 3
    assert not sim.broken


def test_a_set_counts_from_where_it_is_appended() -> None:
    sim = play("cut C1 C3", "cut C2 C3", "remove C3")
    first = voters(sim)[0]
    assert names(sim, first) == ["C1", "C2"] and rules.is_pending(first)
    go_on(sim, "advance 1s")
    assert not rules.is_pending(first)
    assert names(sim, voters(sim)[2]) == ["C1", "C2", "C3"]


@pytest.mark.parametrize("profile", ["K39", "K40", "K41"])
def test_a_removed_leader_resigns_once_that_is_committed(profile: str) -> None:
    sim = play("cut C1 C2", "cut C1 C3", "remove C1", "advance 100", profile=profile)
    first = voters(sim)[0]
    assert (first.state, first.epoch) == (LEADER, 1)
    go_on(sim, "heal", "advance 600")
    assert first.state != LEADER
    go_on(sim, "advance 5s")
    assert sim.cluster.controller.voter in {one.id for one in voters(sim)[1:]}
    assert (first.state, first.leader) == (FOLLOWER, sim.cluster.controller.voter)
    assert not sim.broken


def test_a_leader_that_is_removed_does_not_count_itself() -> None:
    sim = play("kill C2", "remove C1", "advance 200")
    first = voters(sim)[0]
    assert rules.is_pending(first) and first.state == LEADER
    go_on(sim, "restart C2", "advance 1s")
    assert not sim.broken and first.state != LEADER


def test_a_node_that_is_no_voter_begins_no_election() -> None:
    sim = play("remove C3", "advance 1s", "cut C1 C3", "cut C2 C3", "advance 20s")
    third = voters(sim)[2]
    assert third.epoch == 1
    go_on(sim, "kill C1", "kill C2", "heal", "advance 20s")
    assert third.epoch == 1 and not sim.cluster.controller.alive


def test_a_node_that_is_no_voter_finds_the_next_leader() -> None:
    sim = play("remove C3", "advance 1s", "shutdown C1", "advance 8s")
    second, third = voters(sim)[1:]
    assert not sim.cluster.controller.alive  # one of two voters is no majority
    go_on(sim, "restart C1", "advance 8s")
    leader = quorum_of(sim).voters[sim.cluster.controller.voter]
    assert sim.cluster.controller.alive and third.leader == leader.id
    assert third.log.end >= leader.hw and second.epoch == third.epoch


def test_two_voters_need_both() -> None:
    sim = play("remove C3", "advance 1s", "kill C2", "advance 8s")
    assert not sim.cluster.controller.alive
    go_on(sim, "restart C2", "advance 8s")
    assert sim.cluster.controller.alive and not sim.broken


def test_a_wiped_voter_does_not_vote_until_it_is_added_again() -> None:
    sim = play("kill C3", "elect 2", "advance 1s", "kill C1", "wipe C2")
    go_on(sim, "restart C2", "restart C3", "advance 12s")
    assert not sim.cluster.controller.alive
    second = voters(sim)[1]
    assert second.state in (UNATTACHED, FOLLOWER) and not second.voted_for
    go_on(sim, "restart C1", "advance 8s")
    assert sim.cluster.controller.alive and sim.cluster.controller.records[0].leader == 2
    assert second.log.end > 0 and not quorum_of(sim).is_voter(second)
    go_on(sim, "remove C2", "advance 1s", "add C2", "advance 1s")
    assert quorum_of(sim).is_voter(second)
    assert not {name for name, _, _ in sim.broken} & {"INV-31", "INV-32", "INV-33"}


def test_changes_that_are_refused() -> None:
    sim = play()
    for line, why in (
        ("add C2", "is a voter already (DUPLICATE_VOTER)"),
        ("add C4", "There is no voter C4"),
        ("remove C4", "There is no voter C4"),
    ):
        with pytest.raises(InputError) as refusal:
            go_on(sim, line)
        assert why in str(refusal.value), line
    go_on(sim, "remove C3", "advance 1s")
    with pytest.raises(InputError, match="is no voter"):
        go_on(sim, "remove C3")
    go_on(sim, "wipe C3")
    with pytest.raises(InputError, match="has not caught up"):
        go_on(sim, "add C3")
    go_on(sim, "restart C3", "advance 1s", "add C3", "advance 1s", "cut C1 C2", "cut C1 C3")
    with pytest.raises(InputError, match="is not committed yet"):
        go_on(sim, "remove C3", "remove C2")
    go_on(sim, "heal", "advance 1s", "remove C2", "advance 1s")
    with pytest.raises(InputError, match="is the last voter"):
        go_on(sim, "remove C1")
    with pytest.raises(InputError, match="no active controller"):
        go_on(sim, "kill C1", "add C2")


def test_a_new_leader_takes_no_change_before_it_knows_its_mark() -> None:
    sim = play()
    first = voters(sim)[0]
    first.epoch_start = first.hw  # its LeaderChange is not committed
    assert rules.is_pending(first)


@pytest.mark.parametrize("profile", ["K36", "K41"])
def test_static_voters_do_not_change(profile: str) -> None:
    version = "0" if profile == "K41" else "1"  # before 3.9 the feature does not exist
    sim = Simulation(load_text(VOTERS.replace(": 1}\n", f": {version}}}\n")), profile, 0)
    for line in ("add C2", "remove C2"):
        with pytest.raises(InputError, match="The voters are static here"):
            go_on(sim, line)
    assert not any(record[0] == R_VOTERS for record in voters(sim)[0].log.records)


def test_an_uncommitted_change_is_truncated_with_its_record() -> None:
    sim = play("cut C1 C2", "cut C1 C3", "remove C3", "advance 6s")
    first = voters(sim)[0]
    assert names(sim, first) == ["C1", "C2"]
    go_on(sim, "heal", "advance 6s")
    assert names(sim, first) == ["C1", "C2", "C3"] and not sim.broken


def test_the_only_voter_resigns_for_nothing() -> None:
    sim = play("remove C2", "advance 1s", "remove C3", "advance 10s")
    first = voters(sim)[0]
    assert (first.state, first.epoch, names(sim, first)) == (LEADER, 1, ["C1"])


def test_a_leader_that_removes_itself_and_dies_may_leave_no_winner() -> None:
    """Neither of two voters can win: one lacks a record, the other is no voter by its own log."""
    sim = play("remove C3", "advance 1s", "cut C1 C2", "remove C1", "kill C1", "heal")
    go_on(sim, "restart C1", "advance 60s")
    first, second, _ = voters(sim)
    assert not sim.cluster.controller.alive
    assert first.log.end > second.log.end
    assert [names(sim, one) for one in (first, second)] == [["C2"], ["C1", "C2"]]


@pytest.mark.parametrize("profile", ["K39", "K41"])
def test_another_leader_of_two_voters_may_remove_the_first_and_crash(profile: str) -> None:
    sim = play(
        "remove C3", "advance 1s", "shutdown C1", "restart C1", "advance 8s", profile=profile
    )
    second = voters(sim)[1]
    assert sim.cluster.controller.voter == second.id
    go_on(sim, "cut C1 C2", "remove C1", "kill C2", "heal", "restart C2", "advance 8s")
    assert sim.cluster.controller.alive and names(sim, second) == ["C2"] and not sim.broken


@pytest.mark.parametrize("profile", ["K39", "K41"])
def test_a_removed_leader_leads_on_once_the_request_has_timed_out(profile: str) -> None:
    sim = play("kill C2", "remove C1", "advance 2200", "restart C2", "advance 10s", profile=profile)
    first = voters(sim)[0]
    assert [names(sim, one) for one in voters(sim)] == [["C2", "C3"]] * 3
    assert first.state == LEADER and not rules.is_pending(first) and not sim.broken
