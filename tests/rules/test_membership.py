"""Sessions and controllers that end: 1.6, 1.9, 10."""

from __future__ import annotations

import pytest

from engine.controlplane import failover, membership
from engine.model.copying import fields
from engine.model.effects import Effects
from engine.model.errors import (
    NONE,
    STALE_BROKER_EPOCH,
    STALE_CONTROLLER_EPOCH,
)
from engine.model.state import DOWN, UP
from tests.rules.playing import THREE, go_on, played

PLAIN = (int, str, float, tuple, type(None))
SLOW_COMMIT = THREE.vary("configs.commit_ms", 5_000)


@pytest.mark.parametrize("profile", ["Z08", "Z24", "Z33"])
def test_a_clean_shutdown_closes_the_session_at_once(profile: str) -> None:
    sim = played(THREE, profile, "shutdown 3")
    k = sim.cluster.controller
    assert sim.now == 0 and 3 not in k.brokers
    assert k.records[1].leader == -1, "a partition that only it had is offline"
    assert k.records[0].isr == (1, 2)
    go_on(sim, "restart 3; settle")
    assert sim.now == 0 and sim.brokers[3].status == UP, "nothing keeps its id busy"
    assert k.records[1].leader == 3 and k.records[0].isr == (1, 2, 3)
    assert sim.broken == []


@pytest.mark.parametrize("profile", ["Z08", "Z33", "K39"])
def test_a_crash_is_the_end_of_the_process_and_a_start_makes_another(profile: str) -> None:
    """L-11: the machine keeps its disks, and the new process shares nothing with the old one."""
    sim = played(THREE, profile, "produce a; settle")
    broker = sim.brokers[1]
    old, disk = broker.running, broker.machine.disks[0]
    go_on(sim, "kill 1")
    assert broker.process is None and broker.status == DOWN and not broker.replicas
    sim.start_process(1, sim.out)
    new = broker.running
    assert broker.machine.disks[0] is disk and new.incarnation == old.incarnation + 1
    kept = {"configs", "id", "machine", "profile"}
    for name in set(fields(type(new))) - kept:
        value = getattr(new, name)
        assert isinstance(value, PLAIN) or value is not getattr(old, name), name
    assert (new.replicas, new.peers, new.metadata, new.broker_epoch) == ({}, {}, {}, -1)


@pytest.mark.parametrize(("pause_ms", "epochs"), [(100, [(0, 0), (1, 1)]), (600, [(0, 0)])])
def test_a_broker_that_was_paused_for_long_gets_all_metadata_in_one_answer(
    pause_ms: int, epochs: list[tuple[int, int]]
) -> None:
    """5.4: its fetch waits for half a second; of two changes after that only the last counts."""
    sim = played(THREE, "K39", "produce a to 1 acks=all; settle; pause 2")
    go_on(sim, f"advance {pause_ms}; elect 2; elect 1; resume 2")
    record = sim.cluster.controller.records[0]
    assert (record.leader, record.leader_epoch) == (1, 2)
    assert list(map(tuple, sim.brokers[2].running.replicas[0].log.epochs.entries())) == epochs


def test_without_controlled_shutdown_the_session_closes_too() -> None:
    scenario = THREE.vary("configs.controlled.shutdown.enable", 0)
    sim = played(scenario, "Z33", "shutdown 1")
    record = sim.cluster.controller.records[0]
    assert sim.now == 0 and (record.leader, record.isr) == (2, (2, 3))


def test_a_session_that_cannot_be_closed_expires() -> None:
    sim = played(THREE, "Z33", "kill 3; advance 17s")
    assert 3 in sim.cluster.controller.brokers
    go_on(sim, "advance 2s")
    assert 3 not in sim.cluster.controller.brokers
    sim = played(THREE.vary("configs.controlled.shutdown.enable", 0), "Z33", "cut 3 K; shutdown 3")
    assert sim.brokers[3].status == DOWN and 3 in sim.cluster.controller.brokers
    go_on(sim, "detect 3")
    assert sim.now >= 16_000 and 3 not in sim.cluster.controller.brokers


@pytest.mark.parametrize(("profile", "fenced_at"), [("K39", 9_001), ("K41", 10_125)])
def test_at_its_very_end_a_session_is_still_valid(profile: str, fenced_at: int) -> None:
    """CP-KR-FENCE: now > last contact + timeout; 4.x looks every eighth of the timeout."""
    sim = played(THREE, profile, f"kill 3; advance {fenced_at - 1}ms")
    assert not sim.cluster.controller.brokers[3].fenced
    go_on(sim, "advance 1ms")
    assert sim.cluster.controller.brokers[3].fenced


@pytest.mark.parametrize(("profile", "fenced"), [("K39", False), ("K41", True)])
def test_before_4_0_a_new_active_controller_waits_for_the_first_broker(
    profile: str, fenced: bool
) -> None:
    """CP-KR-FENCE: a heartbeat or a registration arms its timer; 4.x looks periodically."""
    sim = played(THREE, profile, "kill 1; kill 2; kill 3; kill K; restart K; advance 60s")
    k = sim.cluster.controller
    assert {one.fenced for one in k.brokers.values()} == {fenced}
    go_on(sim, "restart 2; advance 1s")
    assert [b for b, one in k.brokers.items() if one.fenced] == [1, 3]


def test_uncommitted_records_die_with_the_controller() -> None:
    sim = played(SLOW_COMMIT, "K39", "elect 2; advance 1s")
    k = sim.cluster.controller
    assert k.records[0].leader == 2 and sim.brokers[2].replicas[0].leader == 1
    go_on(sim, "kill K")
    assert (k.records[0].leader, k.records[0].leader_epoch) == (1, 0)
    assert len(k.log) == k.committed
    go_on(sim, "advance 20s; restart K; advance 20s; settle")
    assert (k.records[0].leader, sim.brokers[1].replicas[0].leader_epoch) == (1, 0)
    assert sim.broken == []


def test_a_fence_that_was_not_committed_is_none() -> None:
    sim = played(SLOW_COMMIT, "K39", "kill 3; advance 10s")
    k = sim.cluster.controller
    assert k.brokers[3].fenced and k.records[0].isr == (1, 2)
    go_on(sim, "kill K")
    assert not k.brokers[3].fenced and k.records[0].isr == (1, 2, 3)
    go_on(sim, "restart K; advance 20s")
    assert k.brokers[3].fenced and k.records[0].isr == (1, 2)
    assert sim.broken == []


def test_a_registration_that_was_not_committed_is_asked_for_again() -> None:
    sim = played(SLOW_COMMIT, "K39", "kill 3; detect 3; advance 6s")
    go_on(sim, "restart 3 !3; advance 1s; kill K; restart K; advance 60s; settle")
    assert sim.brokers[3].status == UP
    assert sim.cluster.controller.brokers[3].epoch == sim.brokers[3].running.broker_epoch
    assert not sim.cluster.controller.brokers[3].fenced
    assert sim.broken == []


def test_a_registration_goes_back_to_a_process_that_is_gone() -> None:
    """10: the committed epoch, of a process that is gone; the next request is of another one."""
    sim = played(SLOW_COMMIT, "K39", "kill 3; detect 3; advance 6s")
    k, before = sim.cluster.controller, sim.cluster.controller.brokers[3]
    go_on(sim, "restart 3 !3; kill K")
    after = k.brokers[3]
    assert after.epoch == before.epoch and after.fenced
    assert after.incarnation not in (before.incarnation, sim.brokers[3].machine.incarnation)


def test_a_change_that_goes_back_leaves_the_process_that_it_was() -> None:
    """10: its own registration was committed."""
    sim = played(SLOW_COMMIT, "K39", "kill 3; advance 10s")
    k, before = sim.cluster.controller, sim.cluster.controller.brokers[3]
    assert before.fenced
    go_on(sim, "kill K")
    assert not before.fenced and k.brokers[3] is before
    assert before.incarnation == sim.brokers[3].machine.incarnation


def test_a_topic_that_was_not_committed_is_asked_for_again() -> None:
    sim = played(SLOW_COMMIT, "K39", "create_topic new partitions=1 factor=3; advance 1s; kill K")
    assert 2 not in sim.brokers[1].running.image
    go_on(sim, "restart K; advance 60s; settle")
    assert sim.cluster.controller.records[2].replicas == sim.brokers[1].running.image[2].replicas
    assert sim.broken == []


def test_an_uncommitted_controlled_shutdown_has_not_begun() -> None:
    """10: the record that says so died with the controller; nor when it began."""
    k = played(SLOW_COMMIT, "K39", "advance 1s").cluster.controller
    before = k.brokers[2].shutdown_at
    k.brokers[2].shutting_down, k.brokers[2].shutdown_at = True, 7
    failover._register_again(k, 2)
    assert (k.brokers[2].shutting_down, k.brokers[2].shutdown_at) == (False, before) == (False, -1)


@pytest.mark.parametrize(("cleared_after", "elr"), [(False, (2,)), (True, ())])
def test_a_partition_comes_back_as_the_committed_log_has_it(
    cleared_after: bool, elr: tuple[int, ...]
) -> None:
    """10, CP-ELR 6.4: an ELR that was written after it had been cleared stays; one cleared since
    does not."""
    k = played(THREE, "K41", "settle").cluster.controller
    record = k.records[0].copy()
    record.isr, record.elr = (1,), (2,)
    told, clear = (membership.R_PARTITION, 0, record), (membership.R_CLEAR_ELR, (0,))
    k.log[:] = [told, clear] if cleared_after else [clear, told]
    assert failover._since(k, told).elr == elr


@pytest.mark.parametrize(
    ("profile", "controller_epoch", "generation", "error"),
    [
        ("Z24", 0, 0, NONE),
        ("Z24", 0, -1, STALE_BROKER_EPOCH),
        ("Z24", -1, 0, STALE_CONTROLLER_EPOCH),
        ("Z24", -1, -1, STALE_BROKER_EPOCH),
        ("Z20", 0, -1, NONE),
        ("Z20", -1, 0, STALE_CONTROLLER_EPOCH),
    ],
)
def test_requests_of_the_past_are_refused(
    profile: str, controller_epoch: int, generation: int, error: int
) -> None:
    """1.12: of another controller, and, since KIP-380, to another incarnation."""
    broker = played(THREE, profile, "settle").brokers[2].running
    known = broker.controller_epoch
    sent = (known + controller_epoch, broker.broker_epoch + generation)
    assert membership.request_error(broker, *sent) == error
    assert broker.controller_epoch == known


def test_a_partition_goes_back_to_the_very_first_record() -> None:
    """10: what is told of it last among what was committed, even if nothing came before."""
    sim = played(THREE, "K39", "settle")
    k = sim.cluster.controller
    first, other = k.records[0].copy(), (membership.R_PARTITION, 1, k.records[1])
    second = k.records[0].copy()
    second.leader_epoch += 1
    told = [(membership.R_PARTITION, 0, first), other, (membership.R_PARTITION, 0, second)]
    for committed, record in ((3, second), (2, first), (1, first)):
        k.log[:], k.committed, k.records[0] = told, committed, second
        failover.lose_uncommitted(k, Effects())
        assert k.records[0] is record and len(k.log) == committed


def test_operators_ask_the_next_controller_again() -> None:
    sim = played(SLOW_COMMIT, "K39", "set min.insync.replicas=2; advance 1s; kill K; advance 9s")
    assert sim.brokers[1].machine.configs.min_insync_replicas == 1
    go_on(sim, "restart K; advance 6s")
    assert sim.brokers[1].machine.configs.min_insync_replicas == 2


# -- controllers that freeze ----------------------------------------------------------------------


@pytest.mark.parametrize(("profile", "after_ms"), [("Z33", 18_000), ("Z24", 6_000), ("K39", 3_000)])
def test_another_controller_takes_over(profile: str, after_ms: int) -> None:
    sim = played(THREE, profile, f"pause K; advance {after_ms - 1}ms")
    assert not sim.cluster.controller.alive
    go_on(sim, "advance 1ms")
    assert (sim.cluster.controller.alive, sim.cluster.controller.epoch) == (True, 2)


@pytest.mark.parametrize("profile", ["Z24", "Z33", "K35", "K39", "K41"])
def test_a_short_pause_is_none(profile: str) -> None:
    sim = played(THREE, profile, "pause K; advance 2s; resume K; advance 40s; produce a; settle")
    assert (sim.cluster.controller.alive, sim.cluster.controller.epoch) == (True, 1)
    assert sim.cluster.zombie is None and len(sim.cluster.controller.brokers) == 3
    assert sim.broken == []


def test_records_waiting_for_a_commit_go_on_after_a_short_pause() -> None:
    sim = played(SLOW_COMMIT, "K39", "elect 2; advance 1s; pause K; advance 2s; resume K")
    go_on(sim, "advance 10s; settle")
    assert sim.brokers[2].replicas[0].leader == 2
    assert sim.broken == []


def test_records_waiting_for_a_commit_are_lost_at_a_failover() -> None:
    sim = played(SLOW_COMMIT, "K39", "elect 2; advance 1s; pause K; advance 20s; resume K")
    assert sim.cluster.controller.records[0].leader == 1
    assert sim.broken == []


@pytest.mark.parametrize("profile", ["Z0102", "Z33", "K39"])
def test_a_zombie_changes_nothing(profile: str) -> None:
    moves = "pause 1; pause K; advance 60s; resume K"
    spared = played(THREE, profile, moves.removesuffix("; resume K"))
    sim = played(THREE, profile, moves)
    assert repr(sim.cluster.controller.records) == repr(spared.cluster.controller.records)
    assert sim.brokers[2].running.controller_epoch == (0 if profile == "K39" else 2)
    assert sim.brokers[3].replicas[0].leader == 2
    assert sim.cluster.zombie is None and sim.broken == []


@pytest.mark.parametrize(
    ("profile", "unclean", "isr"),
    [("Z0102", 1, ()), ("Z0102", 0, (1,)), ("Z011", 1, (1,)), ("Z33", 1, (1,))],
)
def test_the_last_member_of_an_isr_stays_since_1_1(
    profile: str, unclean: int, isr: tuple[int, ...]
) -> None:
    """KAFKA-5083: before, it stayed only where unclean election was not allowed."""
    scenario = THREE.vary("configs.unclean.leader.election.enable", unclean)
    moves = "kill 2; detect 2; kill 3; detect 3; kill 1; detect 1"
    record = played(scenario, profile, moves).cluster.controller.records[0]
    assert (record.leader, record.isr) == (-1, isr)


DEGRADED = THREE.vary("configs.min.insync.replicas", 2)
TO_ONE = "produce a to 1 acks=all; settle; kill 2; detect 2; shutdown 3; produce b to 1 acks=1"


def test_a_cleared_elr_is_no_change_of_the_partition() -> None:
    """ClearElrRecord: no partition record, so both epochs and the high watermark stay."""
    sim = played(DEGRADED, "K41", TO_ONE)
    k = sim.cluster.controller
    before, leader = k.records[0], sim.brokers[1].replicas[0]
    assert (before.elr, before.partition_epoch, leader.log.hw) == ((3,), 2, 1)
    go_on(sim, "set min.insync.replicas=1")
    after = k.records[0]
    assert (after.elr, after.partition_epoch, after.leader_epoch) == ((), 2, 0)
    assert (leader.log.hw, leader.partition_epoch) == (1, 2)
    assert sim.brokers[1].running.image[0].elr == (), "the image of every broker has heard of it"
    go_on(sim, "produce c to 1 acks=all")
    assert leader.log.hw == 3, "the next append looks again"


def test_a_clear_that_no_majority_had_is_asked_for_again() -> None:
    sim = played(DEGRADED.vary("configs.commit_ms", 5_000), "K41", TO_ONE)
    k = sim.cluster.controller
    go_on(sim, "advance 20s")
    assert k.records[0].elr == (3,)
    go_on(sim, "set min.insync.replicas=1; kill K; restart K; advance 6s")
    assert k.records[0].elr == () and k.committed == len(k.log)
    # A later change that goes back does not bring back what was cleared before it.
    go_on(sim, "kill 1; detect 1")
    assert (k.records[0].leader, k.records[0].elr) == (-1, (1,))
    go_on(sim, "kill K; restart K")
    assert (k.records[0].leader, k.records[0].isr, k.records[0].elr) == (1, (1,), ())


def test_a_clear_that_is_asked_for_again_clears_what_has_gone_back() -> None:
    """10(f), CP-ELR 6.4: the partition had changed after the clear, and neither was committed."""
    sim = played(DEGRADED.vary("configs.commit_ms", 20_000), "K41", f"{TO_ONE}; advance 60s")
    k = sim.cluster.controller
    assert (k.records[0].leader, k.records[0].elr) == (1, (3,))
    go_on(sim, "set min.insync.replicas=1; kill 1; detect 1")
    assert (k.records[0].leader, k.committed < len(k.log)) == (-1, True)
    go_on(sim, "kill K")
    assert (k.records[0].leader, k.records[0].elr) == (1, (3,))
    go_on(sim, "restart K")
    assert (k.records[0].leader, k.records[0].elr) == (1, ())


@pytest.mark.parametrize("profile", ["Z0102", "Z011", "Z20"])
def test_a_broker_with_an_unnoticed_restart_gets_no_leader_and_isr(profile: str) -> None:
    """Before 2.2: no LeaderAndIsr, so it neither follows nor cuts (real 0.10.2.2 and 1.1.1)."""
    sim = played(THREE, profile, "produce a b to 1 acks=all; fetch 2; bounce 2")
    broker, k = sim.brokers[2], sim.cluster.controller
    assert broker.status == UP and 0 not in broker.replicas
    assert (broker.machine.disks[0].log.leo, k.records[0].isr) == (2, (1, 2, 3))
    go_on(sim, "settle")
    assert 0 not in broker.replicas, "no fetch, as it does not know whom to ask"
    go_on(sim, "kill 1; detect 1")
    assert (k.records[0].leader, broker.replicas[0].log.leo) == (2, 2), "now it is told, and leads"


def test_a_leader_that_was_gone_unnoticed_leads_no_more_until_it_is_told() -> None:
    sim = played(THREE, "Z20", "produce a to 1 acks=all; settle; bounce 1; produce b to 1 acks=1")
    assert sim.cluster.controller.records[0].leader == 1
    assert [sim.brokers[b].machine.disks[0].log.leo for b in (1, 2, 3)] == [1, 1, 1]
    go_on(sim, "kill K; restart K; produce c to 1 acks=1")
    assert sim.brokers[1].machine.disks[0].log.leo == 2, "a new controller tells everybody"


@pytest.mark.parametrize("profile", ["0.8.1", "Z0102", "Z011", "Z20"])
@pytest.mark.parametrize("leaves", ["kill 2; detect 2", "shutdown 2"])
def test_a_bounced_leader_leads_again_when_another_broker_leaves(profile: str, leaves: str) -> None:
    """OfflineReplica sends the state to the other replicas, though nothing of it has changed."""
    script = "kill 2; detect 2; restart 2; bounce 1; produce a to 1 acks=1"
    sim = played(THREE, profile, script)
    assert sim.brokers[1].machine.disks[0].log.leo == 0, "it has no role"
    before = sim.cluster.controller.records[0].copy()
    assert before.isr == (1, 3)
    go_on(sim, f"{leaves}; produce b to 1 acks=1")
    assert sim.cluster.controller.records[0] == before
    assert sim.brokers[1].machine.disks[0].log.leo == 1


def test_a_bounce_is_noticed_since_2_2() -> None:
    sim = played(THREE, "Z24", "produce a b to 1 acks=all; fetch 2; bounce 2")
    assert 2 not in sim.cluster.controller.records[0].isr
    assert sim.brokers[2].replicas[0].leader == 1
