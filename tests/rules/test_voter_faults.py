"""Voters that freeze and voters that lose their disk (CP-RAFT-TIMEOUT, CP-10)."""

from __future__ import annotations

import pytest

from engine.faults import voter_faults
from engine.model.errors import InputError
from engine.model.messages import ALTER_PARTITION, METADATA_FETCH
from engine.model.quorum import FOLLOWER, LEADER, RESIGNED, Voter
from engine.scenarios.file import load_text
from engine.sim.simulation import Simulation
from tests.rules.playing import go_on, quorum_of

VOTERS = """
title: three voters
brokers: 3
quorum: [C1, C2, C3]
fetching: auto
network: {delay_ms: 1, control_delay_ms: 1}
configs: {replica.lag.time.max.ms: 1000}
"""


def play(*lines: str, profile: str = "K39") -> Simulation:
    sim = Simulation(load_text(VOTERS), profile, 0)
    go_on(sim, "advance 1s", *lines)
    return sim


def voters(sim: Simulation) -> list[Voter]:
    return list(quorum_of(sim).voters.values())


def broken(sim: Simulation) -> set[str]:
    return {name for name, _, _ in sim.broken}


# -- voters that freeze ---------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["K36", "K39", "K41"])
def test_the_others_replace_a_frozen_leader_after_their_fetch_timeout(profile: str) -> None:
    sim = play("pause C1", "advance 1900", profile=profile)
    first, *others = voters(sim)
    assert not sim.cluster.controller.alive
    assert {one.state for one in others} == {FOLLOWER}
    go_on(sim, "advance 8s")
    assert sim.cluster.controller.alive and sim.cluster.controller.voter != first.id
    assert (first.state, first.epoch) == (LEADER, 1)
    go_on(sim, "resume C1", "advance 1s")
    assert (first.state, first.leader) == (FOLLOWER, sim.cluster.controller.voter)
    assert not sim.broken


def test_a_controller_that_sleeps_shortly_goes_on_in_its_epoch() -> None:
    sim = play("pause C1", "advance 1s", "resume C1", "advance 5s")
    first = voters(sim)[0]
    assert (first.state, first.epoch) == (LEADER, 1)
    assert sim.cluster.controller.alive and sim.cluster.controller is first.controller


@pytest.mark.parametrize(("profile", "unseats"), [("K39", True), ("K40", False), ("K41", False)])
def test_a_follower_that_slept_too_long_unseats_the_leader_until_4_0(
    profile: str, unseats: bool
) -> None:
    sim = play("pause C3", "advance 6s", "resume C3", "advance 4s", profile=profile)
    assert (voters(sim)[0].epoch > 1) == unseats
    assert sim.cluster.controller.alive and not sim.broken


def test_a_leader_that_slept_too_long_resigns_before_it_takes_a_message() -> None:
    sim = play("pause C1", "advance 8s")
    first = voters(sim)[0]
    voter_faults.resume(sim, first.id)
    assert first.state == RESIGNED
    assert any(m.dst == first.id for m in sim.network.under_way())


def test_a_broker_gives_up_a_metadata_fetch_after_the_request_timeout() -> None:
    sim = play("pause C1", "advance 1900")
    waiting = [one for one in sim.network.open.values() if one.kind == METADATA_FETCH]
    assert {one.dst for one in waiting} == {voters(sim)[0].id}
    go_on(sim, "advance 200")
    asked = {one.asked for one in quorum_of(sim).observers.values()}
    assert voters(sim)[0].id not in asked


def test_an_isr_change_waits_for_a_frozen_controller_half_a_minute() -> None:
    """The broker knows the next controller long before, and sends it nothing."""
    sim = play("pause C1", "kill 3", "produce m1 to 1 acks=1", "advance 25s")
    waiting = [one for one in sim.network.open.values() if one.kind == ALTER_PARTITION]
    leader = sim.brokers[1].running
    observed = quorum_of(sim).observers[1]
    assert [one.dst for one in waiting] == [voters(sim)[0].id] and leader.alter_corr
    assert observed.leader == sim.cluster.controller.voter != voters(sim)[0].id
    go_on(sim, "advance 8s")
    assert not leader.alter_corr


def test_requests_that_were_given_up_are_not_handled_later() -> None:
    sim = play("pause C1", "advance 20s")
    waiting = len(sim.deferred[voters(sim)[0].id])
    go_on(sim, "resume C1")
    handled = [m for m in sim.network.under_way() if m.dst == voters(sim)[0].id]
    assert len(handled) < waiting
    assert all((m.src, m.corr) in sim.network.open for m in handled)


def test_a_frozen_voter_is_of_no_majority() -> None:
    sim = play("pause C2", "pause C3", "advance 8s")
    assert not sim.cluster.controller.alive
    go_on(sim, "resume C3", "advance 6s")
    assert sim.cluster.controller.alive and not sim.broken


def test_moves_on_a_frozen_voter() -> None:
    sim = play("pause C1")
    for line, why in (
        ("pause C1", "is paused, not running"),
        ("shutdown C1", "is paused, not running"),
        ("timeout C1", "is paused, not running"),
        ("resume C2", "is not paused"),
        ("elect 2", "no active controller"),
        ("set min.insync.replicas=2", "no active controller"),
        ("pause K", "no active controller"),
        ("wipe C4", "There is no voter C4"),
        ("wipe C1 d1", "“d1” is not expected there"),
    ):
        with pytest.raises(InputError, match=why):
            go_on(sim, line)
    go_on(sim, "resume K")
    assert not voters(sim)[0].paused and sim.cluster.controller.alive
    go_on(sim, "pause K", "kill C1", "restart C1")
    assert not voters(sim)[0].paused and not sim.deferred


def test_a_copy_of_a_frozen_quorum_has_the_same_future() -> None:
    sim = play("pause C1", "advance 3s")
    twin = sim.copy()
    for one in (sim, twin):
        go_on(one, "advance 5s", "resume C1", "advance 3s")
    ends = [[(v.epoch, v.log.end, v.hw, v.state) for v in voters(one)] for one in (sim, twin)]
    assert ends[0] == ends[1]


# -- voters that lose their disk ------------------------------------------------------------------


def test_a_wiped_voter_fetches_the_whole_log_again() -> None:
    sim = play("wipe C3")
    third = voters(sim)[2]
    assert (third.alive, third.log.end, third.epoch, third.voted_for) == (False, 0, 0, 0)
    go_on(sim, "restart C3", "advance 3s")
    first = voters(sim)[0]
    assert third.epoch == 1 and third.log.end >= first.hw > 0
    assert third.log.records == first.log.records[: third.log.end]
    assert not sim.broken


@pytest.mark.parametrize("profile", ["K36", "K39", "K41"])
def test_a_wiped_voter_may_elect_one_that_lacks_committed_metadata(profile: str) -> None:
    sim = play("kill C3", "elect 2", "advance 1s", "kill C1", "wipe C2", profile=profile)
    go_on(sim, "restart C2", "restart C3", "advance 6s")
    assert broken(sim) >= {"INV-33", "INV-34"}
    assert sim.cluster.controller.records[0].leader == 1


def test_brokers_and_voters_halt_instead_of_truncating_below_their_mark() -> None:
    sim = play("kill C3", "elect 2", "advance 1s", "cut C1 C2", "cut C1 C3", "wipe C2")
    go_on(sim, "restart C2", "restart C3", "advance 8s")
    assert all(broker.process is None for broker in sim.brokers.values())
    go_on(sim, "heal", "advance 8s")
    first, _, third = voters(sim)
    assert not first.alive
    go_on(sim, "restart C1", "restart 1", "advance 8s")
    assert first.log.records[: third.hw] == third.log.records[: third.hw]
    assert sim.brokers[1].process is not None


@pytest.mark.parametrize("profile", ["K36", "K39", "K41"])
def test_a_wiped_leader_halts_where_it_learns_that_it_led(profile: str) -> None:
    sim = play("wipe C1", "restart C1", "timeout C1", "advance 100", profile=profile)
    assert not voters(sim)[0].alive
    go_on(sim, "advance 8s", "restart C1", "advance 4s")
    assert voters(sim)[0].state == FOLLOWER and not sim.broken


def test_a_wiped_majority_forgets_the_cluster() -> None:
    sim = play("kill C3", "wipe C1", "wipe C2", "restart C1", "restart C2", "advance 6s")
    assert sim.cluster.controller.alive and not sim.cluster.controller.records
    assert broken(sim) >= {"INV-31", "INV-34"}


def test_a_frozen_leader_returns_to_voters_that_have_forgotten_its_epoch() -> None:
    sim = play("shutdown C1", "advance 2s", "wipe C1", "wipe C3", "pause C2", profile="K36")
    go_on(sim, "restart C1", "restart C3", "advance 4s")
    assert (sim.cluster.controller.epoch, sim.cluster.controller.alive) == (1, True)
    go_on(sim, "resume C2", "advance 2s")
    assert (sim.cluster.controller.epoch, sim.cluster.controller.alive) == (2, True)


def test_a_wiped_voter_votes_twice_in_an_epoch() -> None:
    """C2 elects C1, forgets it, and elects C3 in the same epoch."""
    sim = play("cut C1 C3", "cut C2 C3", "bounce C1", "advance 100", "timeout C1", "advance 10")
    first, second, third = voters(sim)
    assert (first.state, first.epoch, second.voted_for) == (LEADER, 3, first.id)
    go_on(sim, "cut C1 C2", "timeout C3", "timeout C3", "wipe C2", "restart C2", "heal C2 C3")
    go_on(sim, "advance 600")
    assert (third.state, third.epoch, second.voted_for) == (LEADER, 3, third.id)
    assert "INV-31" in broken(sim)
