"""Topics, elections and reassignments as an operator asks for them (2, 3.5, 3.6, 7.2, 7.3)."""

from __future__ import annotations

import pytest

from engine.controlplane import (
    admin,
    election,
    kraft,
    liveness,
    storage,
    zk_reassign,
    zk_topics,
    znodes,
    zookeeper,
)
from engine.model import configs, errors
from engine.model.control_messages import (
    Heartbeat,
    RegisterRequest,
    StopReplica,
    StopReplicaResponse,
)
from engine.model.controller import Controller, Registration
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.profiles import get_profile
from engine.model.records import PartitionRecord
from engine.model.zk_messages import IsrChange
from tests.conformance import admin_requests
from tests.conformance.chance import JavaLcg17

Ids = tuple[int, ...]


def controller(profile: str, brokers: Ids = (1, 2, 3, 4, 5, 6)) -> Controller:
    row = get_profile(profile)
    k = Controller(row, configs.build(row))
    for broker in brokers:
        k.brokers[broker] = Registration(100 + broker, 1, "", 0)
        k.brokers[broker].fenced = False
    return k


def state(record: PartitionRecord) -> tuple[int, int, Ids, Ids]:
    return record.leader, record.leader_epoch, record.replicas, record.isr


ZK = [
    # 3.7 and 7.3: target -> leader, what the leader epoch gains
    ((4, 5, 6), 4, 5),
    ((1, 2, 4), 1, 3),
    ((1, 2), 1, 2),
    ((1,), 1, 3),
    ((2, 1, 3), 1, 1),
]


@pytest.mark.parametrize(("target", "leader", "gain"), ZK)
def test_zookeeper_reassignment_raises_the_leader_epoch(
    target: Ids, leader: int, gain: int
) -> None:
    k, out = controller("Z33"), Effects()
    k.records[0] = PartitionRecord((1, 2, 3), (1, 2, 3), 1)
    assert zk_reassign.reassign(k, 0, target, out) == errors.NONE
    grown = k.records[0]
    if grown.reassigning:
        caught_up = grown.copy()
        caught_up.isr = (*grown.isr, *grown.adding)
        k.records[0] = caught_up
        assert zk_reassign.complete(k, 0, out)
    after = k.records[0]
    assert (after.leader, after.leader_epoch, after.replicas) == (leader, gain, target)
    assert set(after.isr) == set(target) and not after.reassigning


def test_zookeeper_reassignment_waits_for_a_dead_target_and_can_be_cancelled() -> None:
    k, out = controller("Z33", (1,)), Effects()
    k.records[0] = PartitionRecord((1,), (1,), 1)
    zk_reassign.reassign(k, 0, (2,), out)
    assert state(k.records[0]) == (1, 1, (2, 1), (1,))
    assert k.records[0].reassigning
    zk_reassign.reassign(k, 0, None, out)
    assert not k.records[0].reassigning and k.records[0].replicas == (1,)
    assert zk_reassign.reassign(k, 0, None, out) == errors.NO_REASSIGNMENT_IN_PROGRESS
    assert zk_reassign.reassign(k, 9, (1,), out) == errors.UNKNOWN_TOPIC_OR_PARTITION


def test_zookeeper_switching_unclean_election_on_acts_at_once() -> None:
    k, out = controller("Z33", (2,)), Effects()
    k.records[0] = PartitionRecord((1, 2), (1,), -1)
    zookeeper.elect_offline(k, out)
    assert k.records[0].leader == -1
    k.configs = k.configs.changed(k.profile, "unclean.leader.election.enable", 1)
    zookeeper.elect_offline(k, out)
    assert (k.records[0].leader, k.unclean_elections) == (2, 1)


@pytest.mark.parametrize(
    ("isr", "done"), [((1,), False), ((1, 2), False), ((2, 3), True), ((1, 2, 3), True)]
)
def test_a_move_is_complete_when_every_target_is_in_sync(isr: Ids, done: bool) -> None:
    """CP-REASSIGN-ZK: whichever other replica is in sync, or no longer."""
    k, out = controller("Z33", (1, 2, 3)), Effects()
    zk_topics.create_topic(k, "a", [(1,)], out)
    zk_reassign.reassign(k, 0, (2, 3), out)
    k.records[0].isr = isr
    assert zk_reassign.complete(k, 0, out) is done
    assert k.records[0].reassigning is not done


def test_a_notification_of_an_isr_is_a_look_at_the_moves() -> None:
    """CP-ISR-ZKPROP 3: at those of the partitions that it names and that are still there."""
    k, out = controller("Z24", (1, 2)), Effects()
    zk_topics.create_topic(k, "a", [(1,), (1,)], out)
    for tp in (0, 1):
        zk_reassign.reassign(k, tp, (2,), out)
        k.records[tp].isr = (1, 2)
    zookeeper.on_isr_change(k, IsrChange(1, CONTROLLER, 1, (7, 1)), out)
    assert [k.records[tp].reassigning for tp in (0, 1)] == [True, False]
    assert state(k.records[1])[2:] == ((2,), (2,))


@pytest.mark.parametrize(("enabled", "leader"), [(False, -1), (True, 2)])
def test_only_a_setting_that_was_switched_on_elects(enabled: bool, leader: int) -> None:
    k, out = controller("Z33", (2,)), Effects()
    k.records[0] = PartitionRecord((1, 2), (1,), -1)
    after = k.configs.changed(k.profile, "unclean.leader.election.enable", 1)
    zookeeper.set_configs(k, after, enabled, out)
    assert (k.records[0].leader, k.configs) == (leader, after)


def test_a_partition_that_broker_0_leads_has_a_leader() -> None:
    k, out = controller("Z33", (0, 1)), Effects()
    k.records[0] = PartitionRecord((1, 0), (1, 0), 0)
    zookeeper.elect_offline(k, out)
    assert state(k.records[0]) == (0, 0, (1, 0), (1, 0)) and not out.sends


@pytest.mark.parametrize(("src", "epoch", "lost"), [(1, 101, (2,)), (1, 100, ()), (9, 101, ())])
def test_failed_directories_are_those_of_the_process_that_is_registered(
    src: int, epoch: int, lost: tuple[int, ...]
) -> None:
    """CP-KR-HB: a heartbeat of a former process, or of a stranger, says nothing of a disk."""
    k, out = controller("K39", (1, 2)), Effects()
    heartbeat = Heartbeat(src, CONTROLLER, 1, epoch, 0, False, False, (2,))
    storage.on_heartbeat(k, heartbeat, out)
    assert tuple(k.brokers[1].lost_dirs) == lost


def test_an_unclean_election_in_kraft_counts_once() -> None:
    k, out = controller("K39", (2,)), Effects()
    k.records[0] = PartitionRecord((1, 2), (1,), -1)
    k.configs = k.configs.changed(k.profile, "unclean.leader.election.enable", 1)
    kraft.elect(k, 0, election.UNCLEAN, out)
    assert (k.records[0].leader, k.unclean_elections) == (2, 1)


def test_a_topic_may_have_an_unclean_election_of_its_own() -> None:
    """The topic's own setting goes before the cluster's; to say none changes nothing."""
    k, out = controller("K39", (1, 2)), Effects()
    admin_requests.create(k, "t", 1, 2, JavaLcg17(), out)
    for said, wanted in ((None, False), (True, True), (None, True), (False, False)):
        admin_requests.configure(k, "t", out, unclean=said)
        assert k.unclean_for(0) is wanted


def test_topics() -> None:
    k, out, chance = controller("K39", (1, 2, 3)), Effects(), JavaLcg17()
    assert admin_requests.create(k, "a", 2, 3, chance, out) == errors.NONE
    assert admin_requests.create(k, "a", 2, 3, chance, out) == errors.TOPIC_ALREADY_EXISTS
    assert admin_requests.create(k, "b", 1, 4, chance, out) == errors.INVALID_REPLICATION_FACTOR
    assert admin_requests.create(k, "b", 0, 1, chance, out) == errors.INVALID_PARTITIONS
    for partitions, factor, error in (
        (-2, 1, errors.INVALID_PARTITIONS),
        (1, -2, errors.INVALID_REPLICATION_FACTOR),
        (1, 0, errors.INVALID_REPLICATION_FACTOR),
        (-1, -1, errors.NONE),  # the defaults of the broker
    ):
        assert admin_requests.create(k, "c", partitions, factor, chance, out) == error
    assert len(k.topics["c"].tps) == 1
    admin.delete_topic(k, "c", out)
    assert admin.create_manually(k, "b", [(1, 9)], out) == errors.INVALID_REPLICA_ASSIGNMENT
    assert admin_requests.grow(k, "a", 3, chance, out) == errors.NONE
    assert admin_requests.grow(k, "a", 3, chance, out) == errors.INVALID_PARTITIONS
    same = admin.create_partitions(k, "a", 3, [], out)
    assert same == errors.INVALID_PARTITIONS
    assert [len(k.records[tp].replicas) for tp in k.topics["a"].tps] == [3, 3, 3]
    admin_requests.configure(k, "a", out, min_isr=5)
    assert admin.effective_min_isr(k, "a") == 3
    assert admin.delete_topic(k, "a", out) == errors.NONE
    assert not k.records and admin_requests.number(k, "a", 0) == -1


def test_a_topic_that_is_being_deleted_neither_grows_nor_goes_again() -> None:
    """2.2.  With a broker down that hosts it, ZooKeeper's controller goes on deleting for long."""
    k, out = controller("Z33", (1, 2)), Effects()
    assert zk_topics.create_topic(k, "a", [(1, 2)], out) == errors.NONE
    assert zk_topics.create_partitions(k, "b", [(1, 2)], out) == errors.UNKNOWN_TOPIC_OR_PARTITION
    assert zk_topics.create_partitions(k, "a", [(2, 1)], out) == errors.NONE
    assert zk_topics.delete_topic(k, "a", out) == errors.NONE
    assert zk_topics.create_partitions(k, "a", [(1, 2)], out) == errors.UNKNOWN_TOPIC_OR_PARTITION
    assert zk_topics.delete_topic(k, "a", out) == errors.UNKNOWN_TOPIC_OR_PARTITION


def test_a_deletion_goes_on_with_every_answer() -> None:
    """7.7, ZK 5, 6: a broker that has no part of one topic may have some of the next."""
    k, out = controller("Z33", (1, 2)), Effects()
    for name, brokers in (("a", (1,)), ("b", (1, 2))):
        zk_topics.create_topic(k, name, [brokers], out)
        zk_topics.delete_topic(k, name, out)
    assert [k.deletions[name].left for name in "ab"] == [{1: {0}}, {1: {1}, 2: {1}}]
    for broker, answers, left in (
        (2, [(1, errors.KAFKA_STORAGE_ERROR)], ["a", "b"]),
        (2, [(1, errors.NONE)], ["a", "b"]),
        (1, [(0, errors.NONE)], ["b"]),
        (1, [(1, errors.NONE)], []),
    ):
        request = StopReplica(CONTROLLER, broker, 1, k.epoch, 0, ())
        zk_topics.on_stop_replica_response(k, StopReplicaResponse(request, answers), out)
        assert list(k.deletions) == list(k.topics) == left


def test_brokers_that_wait_hear_of_what_is_new_to_them() -> None:
    """A reader that has all there is goes on waiting."""
    k, out = controller("K39", (1, 2)), Effects()
    k.log[:], k.committed = [("a",), ("b",), ("c",)], 1
    k.readers.update({1: (1, 7), 2: (2, 8)})
    assert kraft.commit(k, 2, out) and not kraft.commit(k, 2, out)
    assert [(m.dst, m.offset, list(m.records)) for m in out.sends] == [(1, 1, [("b",)])]
    assert k.readers == {2: (2, 8)}


def test_a_deletion_waits_for_the_move_of_a_partition() -> None:
    """7.7, ZK 1, 2."""
    k, out = controller("Z33", (1, 2)), Effects()
    zk_topics.create_topic(k, "a", [(1,)], out)
    zk_reassign.reassign(k, 0, (2,), out)
    zk_topics.delete_topic(k, "a", out)
    assert list(k.records) == [0] and not k.deletions["a"].records, "it waits"
    zk_topics.after_reassignment(k, out)
    assert list(k.records) == [0], "the move goes on"
    zk_reassign.reassign(k, 0, None, out)
    zk_topics.after_reassignment(k, out)
    assert not k.records and list(k.deletions["a"].records) == [0]


def test_in_zookeepers_era_a_topic_of_dead_brokers_begins_with_the_first_that_starts() -> None:
    """CP-ELECT-NEW: both epochs are 0 then, as for any new partition."""
    k, out = controller("Z33", (3,)), Effects()
    assert zk_topics.create_topic(k, "t", [(1, 2)], out) == errors.NONE
    assert k.records[0].leader == -1
    zookeeper.on_register(k, RegisterRequest(2, CONTROLLER, 1, 1, -1), out)
    begun = k.records[0]
    assert state(begun) == (2, 0, (1, 2), (2,)) and begun.partition_epoch == 0


@pytest.mark.parametrize("partitions", [0, -2])
def test_a_topic_has_partitions(partitions: int) -> None:
    """2: -1 is the default; no other number below 1 is one."""
    k, out = controller("K39", (1, 2)), Effects()
    error = admin_requests.create(k, "a", partitions, 1, JavaLcg17(), out)
    assert error == errors.INVALID_PARTITIONS and not k.topics
    error = admin_requests.create(k, "a", partitions, 0, JavaLcg17(), out)
    assert error == errors.INVALID_REPLICATION_FACTOR, "that is asked first"


def test_a_topic_has_as_many_partitions_as_it_has() -> None:
    """2: they are counted from 0."""
    k, out = controller("K39", (1, 2)), Effects()
    k.records[6] = PartitionRecord((1,), (1,), 1)
    admin.create_manually(k, "a", [(1,), (2,)], out)
    found = [admin_requests.number(k, "a", index) for index in (-1, 0, 1, 2)]
    assert found == [-1, 7, 8, -1]


@pytest.mark.parametrize(
    ("asked", "moving"), [(None, [0, 2]), ((), []), ((1,), []), ((2, 1, 9), [2])]
)
def test_reassignments_are_listed_for_all_or_for_those_asked_about(
    asked: Ids | None, moving: list[int]
) -> None:
    """7.2, ListPartitionReassignments: a partition that does not exist is not being moved."""
    k = controller("K39", (1, 2))
    k.records[0] = k.records[2] = PartitionRecord((1, 2), (1,), 1, adding=(2,))
    k.records[1] = PartitionRecord((1,), (1,), 1)
    assert admin_requests.reassigning(k, asked) == moving


@pytest.mark.parametrize(("profile", "elr", "told"), [("K41", (), 1), ("K39", (2,), 0)])
def test_a_topic_with_another_min_isr_has_no_elr(profile: str, elr: Ids, told: int) -> None:
    """CP-ELR 6.4: one record says so, where there is an ELR at all; the unclean flag ends none."""
    k, out = controller(profile, (1, 2)), Effects()
    admin.create_manually(k, "a", [(1, 2)], out)
    k.records[0] = PartitionRecord((1, 2), (1,), 1, elr=(2,))
    before = len(k.log)
    admin_requests.configure(k, "a", out, unclean=True)
    assert (k.records[0].elr, len(k.log)) == ((2,), before) and k.unclean_for(0)
    admin_requests.configure(k, "a", out, min_isr=2)
    assert (k.records[0].elr, len(k.log)) == (elr, before + told) and k.min_isr_for(0) == 2


def test_a_topic_is_refused_without_an_active_broker() -> None:
    k, out = controller("K39", (1, 2)), Effects()
    for registration in k.brokers.values():
        liveness.fence(registration)
    assert admin.create_manually(k, "a", [(1, 2)], out) == errors.INVALID_REPLICA_ASSIGNMENT
    error = admin_requests.create(k, "a", 1, 1, JavaLcg17(), out)
    assert error == errors.INVALID_REPLICATION_FACTOR


def test_cancelling_needs_permission_if_no_in_sync_replica_would_be_left() -> None:
    k, out = controller("K39"), Effects()
    moving = PartitionRecord((4, 1), (4,), 4, adding=(4,), removing=(1,))
    k.records[0] = moving
    assert admin.reassign(k, 0, None, out) == errors.INVALID_REPLICA_ASSIGNMENT
    k.configs = k.configs.changed(k.profile, "unclean.leader.election.enable", 1)
    assert admin.reassign(k, 0, None, out) == errors.NONE
    assert state(k.records[0])[0] == 1 and k.records[0].replicas == (1,)


@pytest.mark.parametrize("unclean", [0, 1])
def test_cancelling_is_no_unclean_election_if_an_in_sync_replica_is_left(unclean: int) -> None:
    """7.2: a dead replica that is left is no reason to lose what it has."""
    k, out = controller("K39", (2, 3)), Effects()
    k.configs = k.configs.changed(k.profile, "unclean.leader.election.enable", unclean)
    k.records[0] = PartitionRecord((1, 2, 3), (1,), -1, adding=(3,))
    assert admin.reassign(k, 0, None, out) == errors.NONE
    assert state(k.records[0]) == (-1, 1, (1, 2), (1,))


def test_min_isr_is_bounded_by_the_replicas_of_the_first_partition() -> None:
    """CP-MINISR 4.8."""
    k, out = controller("K41"), Effects()
    k.configs = k.configs.changed(k.profile, "min.insync.replicas", 3)
    admin_requests.create(k, "t", 3, 2, JavaLcg17(), out)
    for tp in (1, 2):
        k.records[tp] = PartitionRecord((1, 2, 3), (1, 2, 3), 1)
    assert admin.effective_min_isr(k, "t") == 2


def test_a_leader_that_dies_alone_is_no_unclean_election() -> None:
    k, out = controller("Z33", (1,)), Effects()
    k.records[0] = PartitionRecord((1,), (1,), 1)
    assert znodes.take_offline(k, 1, [0], out) == [0]
    assert (k.records[0].leader, k.unclean_elections) == (-1, 0)


def test_elections_on_request() -> None:
    k, out = controller("K39", (1, 2)), Effects()
    k.records = {
        0: PartitionRecord((1, 2), (1, 2), 1),
        1: PartitionRecord((1, 2), (1, 2), 2),
        2: PartitionRecord((3, 2), (3,), -1),
    }
    assert admin.elect_leader(k, 9, False, out) == errors.UNKNOWN_TOPIC_OR_PARTITION
    assert admin.elect_leader(k, 0, False, out) == errors.ELECTION_NOT_NEEDED
    assert admin_requests.elect_all(k, True, out) == {2: errors.NONE}
    assert k.records[2].leader == 2
    assert admin_requests.elect_all(k, False, out) == {
        1: errors.NONE,
        2: errors.PREFERRED_LEADER_NOT_AVAILABLE,
    }


@pytest.mark.parametrize("leader", [0, 5])
def test_an_unclean_election_needs_a_partition_without_a_leader(leader: int) -> None:
    """CP-UNCLEAN-TRIGGERS: whatever the number of the leader there is."""
    k, out = controller("K39", (leader, 2)), Effects()
    k.records = {
        0: PartitionRecord((2, leader), (2, leader), leader),
        1: PartitionRecord((leader, 2), (9,), -1),
    }
    assert admin.elect_leader(k, 0, True, out) == errors.ELECTION_NOT_NEEDED
    assert admin.elect_leader(k, 1, True, out) == errors.NONE
    assert [k.records[tp].leader for tp in (0, 1)] == [leader, leader]


def test_reassignments_are_listed_for_all_or_named_partitions() -> None:
    """ListPartitionReassignments: all that are moved, or those of the partitions named."""
    k, out = controller("K39"), Effects()
    admin_requests.create(k, "a", 2, 1, JavaLcg17(), out)
    admin_requests.create(k, "b", 1, 1, JavaLcg17(), out)
    numbers = [admin_requests.number(k, "a", index) for index in (-2, -1, 0, 1, 2)]
    assert numbers == [-1, -1, 0, 1, -1] and admin_requests.number(k, "c", 0) == -1
    for tp in (0, 2):
        k.records[tp] = PartitionRecord((1, 2), (1,), 1, adding=(2,))
    assert admin_requests.reassigning(k) == [0, 2]
    assert admin_requests.reassigning(k, [2, 1, 7]) == [2]
    assert admin_requests.reassigning(k, []) == []


HEARTBEATS = [
    # fenced, leaving, wants fence, wants shutdown, caught up, leads, behind -> next
    (True, False, False, False, True, False, False, liveness.UNFENCED),
    (True, False, False, False, False, False, False, liveness.FENCED),
    (True, False, True, False, True, False, False, liveness.FENCED),
    (True, False, False, True, True, False, False, liveness.SHUTDOWN_NOW),
    (False, False, False, False, True, True, False, liveness.UNFENCED),
    (False, False, True, False, True, True, False, liveness.FENCED),
    (False, False, True, True, True, True, False, liveness.SHUTDOWN_NOW),
    (False, False, False, True, True, True, False, liveness.CONTROLLED_SHUTDOWN),
    (False, False, False, True, True, False, False, liveness.SHUTDOWN_NOW),
    (False, True, False, True, True, True, False, liveness.CONTROLLED_SHUTDOWN),
    (False, True, False, True, True, False, True, liveness.CONTROLLED_SHUTDOWN),
    (False, True, False, True, True, False, False, liveness.SHUTDOWN_NOW),
]


@pytest.mark.parametrize(
    ("fenced", "leaving", "fence", "shutdown", "caught_up", "leads", "behind", "after"), HEARTBEATS
)
def test_heartbeat_table(
    fenced: bool,
    leaving: bool,
    fence: bool,
    shutdown: bool,
    caught_up: bool,
    leads: bool,
    behind: bool,
    after: int,
) -> None:
    k = controller("K39", (1, 2))
    one = k.brokers[1]
    one.fenced, one.shutting_down, one.shutdown_at = fenced, leaving, 7
    k.brokers[2].metadata_offset = 6 if behind else 7
    assert after == liveness.next_state(
        k.brokers,
        one,
        want_fence=fence,
        want_shutdown=shutdown,
        caught_up=caught_up,
        leads=leads,
    )


def test_sessions_end_one_by_one() -> None:
    k, out = controller("K39", (1, 2)), Effects()
    k.records[0] = PartitionRecord((1, 2), (1, 2), 1)
    timeout = out.now = k.configs.session_timeout_ms
    assert liveness.stale(k.brokers, out.now, timeout) == -1, "until the very end of it"
    out.now += 1
    assert liveness.stale(k.brokers, out.now, timeout) == 1
    k.check_at = out.now
    kraft.on_fence_check(k, out)
    assert (k.records[0].leader, k.brokers[2].fenced) == (2, False), "2 is dead too, but not yet"
    k.check_at = out.now
    kraft.on_fence_check(k, out)
    assert state(k.records[0]) == (-1, 2, (1, 2), (2,))
    assert liveness.next_check(k.brokers, 9_000) == -1


@pytest.mark.parametrize(("profile", "isr"), [("K39", (1, 2)), ("K40", (1,))])
def test_a_registration_before_the_fence_takes_no_broker_out_of_the_isr(
    profile: str, isr: Ids
) -> None:
    """CP-KR-REG: from 4.0 on it does, as if the broker were fenced first."""
    k, out = controller(profile, (1, 2)), Effects()
    k.records[0] = PartitionRecord((1, 2), (1, 2), 1)
    out.now = k.brokers[1].last_contact = k.configs.session_timeout_ms + 1
    kraft.on_register(k, RegisterRequest(2, CONTROLLER, 1, 7, -1), out)
    assert (k.records[0].isr, k.brokers[2].fenced) == (isr, True)


def test_a_fenced_broker_begins_no_controlled_shutdown() -> None:
    k, out = controller("K39", (1, 2)), Effects()
    k.records[0] = PartitionRecord((1, 2), (1, 2), 1)
    kraft.append(k, kraft.fence(k, 1, out), out)
    told = len(k.log)
    kraft.begin_controlled_shutdown(k, 1, out)
    assert (len(k.log), k.brokers[1].shutting_down, k.brokers[1].shutdown_at) == (told, False, -1)


def test_a_controlled_shutdown_counts_from_where_it_began() -> None:
    k, out = controller("K39", (1, 2)), Effects()
    k.records[0] = PartitionRecord((1, 2), (1, 2), 1)
    kraft.begin_controlled_shutdown(k, 1, out)
    began = k.brokers[1].shutdown_at
    assert began == len(k.log) > 0
    kraft.begin_controlled_shutdown(k, 1, out)
    assert k.brokers[1].shutdown_at == began < len(k.log)


def test_a_heartbeat_is_noted_by_the_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the conformance cases call is what the simulation plays."""
    noted: list[tuple[bool, int, int]] = []
    monkeypatch.setattr(liveness, "touch", lambda r, *told: noted.append(told))
    k, out = controller("K39", (1, 2)), Effects()
    out.now = 70
    epoch = k.brokers[1].epoch
    kraft.on_heartbeat(k, Heartbeat(1, CONTROLLER, 0, epoch, 5, False, False), out)
    kraft.on_heartbeat(k, Heartbeat(1, CONTROLLER, 0, epoch, 6, True, False), out)
    assert noted == [(False, 5, 70), (True, 6, 70)]
