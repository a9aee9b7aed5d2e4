"""Several log directories on one broker: one fails, and everybody draws the right conclusion."""

from __future__ import annotations

import pytest

from engine.controlplane import election, storage, znodes
from engine.dataplane import directories
from engine.model.control_messages import AssignReplicasToDirs, AssignReplicasToDirsResponse
from engine.model.effects import Effects
from engine.model.errors import KAFKA_STORAGE_ERROR, NONE, NOT_CONTROLLER, STALE_BROKER_EPOCH
from engine.model.messages import CONTROLLER
from engine.model.timers import ASSIGN_RETRY
from engine.moves import moves
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation

TWO = Scenario.from_dict(
    {
        "title": "Which disk?",
        "brokers": [{"id": 1, "dirs": 2}, {"id": 2, "dirs": 2}, {"id": 3}],
        "partitions": [[1, 2, 3], [1, 3, 2]],
    }
)
SURVIVORS = ["K39", "K41", "Z33", "Z20", "Z011"]


def after(lines: str, profile: str) -> Simulation:
    return play_all(Run(TWO, profile, 0, tuple(one.strip() for one in lines.split(";"))))


def record(sim: Simulation, tp: int) -> tuple[int, tuple[int, ...]]:
    found = sim.cluster.controller.records[tp]
    return found.leader, found.isr


def dirs(sim: Simulation, broker: int) -> dict[int, int]:
    return {tp: disk.dir for tp, disk in sim.brokers[broker].machine.disks.items()}


def test_only_brokers_with_several_directories_say_so() -> None:
    written = TWO.to_dict()["brokers"]
    assert [one.get("dirs") for one in written] == [2, 2, None]
    assert Scenario.from_dict(TWO.to_dict()) == TWO


@pytest.mark.parametrize("profile", SURVIVORS)
def test_a_follower_loses_one_replica_and_keeps_the_other(profile: str) -> None:
    sim = after("produce a; produce b p=1; settle; disk_fail 2 d1; settle", profile)
    assert record(sim, 0) == (1, (1, 3)) and set(record(sim, 1)[1]) == {1, 2, 3}
    # Where no epoch begins, H-2 waits for broker 2 as long as it counts as caught up: a times out.
    lines = "disk_fail 2 d1; settle; produce a; produce b p=1; settle; advance 31s"
    sim = after(f"{lines}; produce c; settle", profile)
    assert [one.values for one in sim.ledger.acked[0]][-1] == ("c",)
    assert len(sim.ledger.acked[1]) == 1
    assert sim.brokers[2].machine.disks[1].log.leo == 1 and not sim.broken


@pytest.mark.parametrize("profile", SURVIVORS)
def test_a_waiting_write_hears_of_the_storage_error(profile: str) -> None:
    sim = after("produce a to 1; disk_fail 1 d1", profile)
    assert sim.ledger.failed == {"a": KAFKA_STORAGE_ERROR}


@pytest.mark.parametrize("profile", SURVIVORS)
def test_a_restart_does_not_mend_a_disk(profile: str) -> None:
    sim = after("disk_fail 2 d1; settle; kill 2; detect 2; restart 2; settle; produce a; settle",
                profile)  # fmt: skip
    assert record(sim, 0) == (1, (1, 3)) and set(record(sim, 1)[1]) == {1, 2, 3}
    assert 0 in sim.brokers[2].running.offline and 0 not in sim.brokers[2].replicas
    sim = after("disk_fail 2 d1; wipe 2 d1; detect 2; restart 2; settle; produce a; settle",
                profile)  # fmt: skip
    assert (
        set(record(sim, 0)[1]) == {1, 2, 3}
        and not sim.brokers[2].running.offline
        and not sim.broken
    )
    assert dirs(sim, 2) == {0: 1, 1: 2}


@pytest.mark.parametrize("profile", ["K36", "K33", "Z0102", "Z08"])
def test_before_jbod_the_broker_halts(profile: str) -> None:
    sim = after("disk_fail 1 d2; detect 1", profile)
    assert sim.brokers[1].status == "down"
    assert record(sim, 0)[0] == 2 and record(sim, 1)[0] == 3


@pytest.mark.parametrize("profile", ["K39", "Z33"])
def test_the_last_directory_is_one_too_many(profile: str) -> None:
    assert after("disk_fail 1 d1; disk_fail 1 d2", profile).brokers[1].status == "down"
    assert after("disk_fail 3 d1", profile).brokers[3].status == "down"
    assert after("kill 1; disk_fail 1 d1; detect 1; restart 1", profile).brokers[
        1
    ].running.offline == {0}


def test_a_broker_that_cannot_reach_the_controller_shuts_down() -> None:
    """log.dir.failure.timeout.ms, from 3.8: the K37 row behaves as 3.8."""
    lost = "cut 1 K; disk_fail 1 d1; advance {}s"
    for profile in ("K37", "K39"):
        assert after(lost.format(29), profile).brokers[1].status == "up"
        assert after(lost.format(31), profile).brokers[1].status == "down"
        assert after("disk_fail 1 d1; advance 31s", profile).brokers[1].status == "up"
        told = "cut 1 K; disk_fail 1 d1; advance 3s; heal; advance 40s"
        sim = after(told, profile)
        assert sim.brokers[1].status == "up" and record(sim, 0)[0] == 2


@pytest.mark.parametrize(
    ("before", "down_s"),
    [
        ("disk_fail 1 d1; advance 10s; cut 1 K; disk_fail 1 d2", 30),
        ("cut 1 K; disk_fail 1 d1; advance 10s; disk_fail 1 d2", 20),
    ],
)
def test_a_failure_that_was_heard_of_leaves_the_next_one_all_its_time(
    before: str, down_s: int
) -> None:
    """8.4: it counts from the first failure that the controller has not heard of."""
    three = TWO.to_dict() | {"brokers": [{"id": 1, "dirs": 3}, {"id": 2}, {"id": 3}]}
    scenario = Scenario.from_dict(three)
    for more, status in ((-1, "up"), (1, "down")):
        lines = f"{before}; advance {down_s + more}s".split("; ")
        assert play_all(Run(scenario, "K39", 0, tuple(lines))).brokers[1].status == status


def test_the_timer_of_a_failure_acts_only_if_the_controller_does_not_know() -> None:
    broker, out = after("cut 1 K; disk_fail 1 d1", "K39").brokers[1].running, Effects()
    for now, late in ((broker.dir_due - 1, False), (broker.dir_due, True)):
        out.now = now
        assert storage.on_dir_failure_timer(broker, out) is broker.halted is late


def test_zookeeper_hears_of_it_when_the_link_is_back() -> None:
    assert record(after("cut 1 K; disk_fail 1 d1; advance 3s", "Z33"), 0)[0] == 1
    assert record(after("cut 1 K; disk_fail 1 d1; advance 3s; heal; settle", "Z33"), 0)[0] == 2


@pytest.mark.parametrize("profile", ["K39", "Z33"])
def test_new_logs_go_where_there_are_fewest(profile: str) -> None:
    sim = after("create_topic o 1,3 1,2 1,3; settle", profile)
    assert dirs(sim, 1) == {0: 1, 1: 2, 2: 1, 3: 2, 4: 1}
    if profile == "K39":
        assert sim.cluster.controller.directories == {
            (b, tp): where for b in (1, 2) for tp, where in dirs(sim, b).items()
        }
        assert [sim.cluster.controller.records[tp].partition_epoch for tp in (2, 3)] == [1, 2]
    sim = after("disk_fail 1 d2; create_topic o 1,3 1,2 1,3; settle", profile)
    assert dirs(sim, 1) == {0: 1, 1: 2, 2: 1, 3: 1, 4: 1}


def test_directory_assignments_are_sent_until_acknowledged() -> None:
    held = "create_topic o 1,2 !1; cut 1 K; heal; settle; advance 2s"
    sim = after(held, "K39")
    assert sim.cluster.controller.directories[1, 2] == 1 and not sim.brokers[1].running.assignments


def test_a_replica_on_a_failed_disk_is_not_elected() -> None:
    sim = after("disk_fail 2 d1; settle; kill 1; kill 3; detect 1; detect 3", "K39")
    assert record(sim, 0)[0] == -1 and record(sim, 1)[0] == 2
    list(moves.play(sim, moves.parse("elect unclean p=0", TWO.brokers)))
    assert record(sim, 0)[0] == -1


def test_a_topic_with_a_lost_log_cannot_be_deleted_by_zookeeper() -> None:
    sim = after("disk_fail 2 d1; settle; delete_topic t; settle", "Z33")
    assert sim.cluster.controller.deletions["t"].left == {2: {0, 1}}
    sim = after("disk_fail 2 d1; delete_topic t; settle; wipe 2 d1; detect 2; restart 2", "Z33")
    assert not sim.cluster.controller.deletions


@pytest.mark.parametrize("left", ["", "0 1", "2"])
def test_the_controller_is_told_of_directories_by_one_request_at_a_time(left: str) -> None:
    """KIP-858: with all that waits; the next one goes when the answer is there."""
    broker, out = after("settle", "K39").brokers[1].running, Effects()
    broker.assignments.update({int(tp): 1 for tp in left.split()})
    assert directories.send_assignments(broker, out) is bool(left)
    assert not directories.send_assignments(broker, out)
    told = [one.items for one in out.sends if isinstance(one, AssignReplicasToDirs)]
    assert told == ([tuple((int(tp), 1) for tp in left.split())] if left else [])


@pytest.mark.parametrize("answered", [True, False])
def test_a_directory_that_was_not_noted_is_told_again_a_second_later(answered: bool) -> None:
    """KIP-858: whether the controller refused or could not be reached."""
    broker, out = after("settle", "K39").brokers[1].running, Effects()
    directories.assign(broker, 0, 2, out)
    corr = broker.assign_corr
    if answered:
        refused = AssignReplicasToDirsResponse(CONTROLLER, 1, corr, NOT_CONTROLLER, ((0, 2),))
        assert directories.on_assignment_answer(broker, refused, out) == []
    else:
        directories.on_assignment_broken(broker, corr, out)
    assert [(kind, delay) for _, delay, kind, _ in out.timers] == [(ASSIGN_RETRY, 1_000)]
    assert broker.assignments == {0: 2}
    assert directories.send_assignments(broker, out)
    assert [one.corr for one in out.sends] == [corr, broker.assign_corr]


@pytest.mark.parametrize(("generation", "heard"), [(0, True), (-1, False)])
def test_only_the_registered_process_says_where_its_logs_are(generation: int, heard: bool) -> None:
    """KIP-858, 1.12: what a former incarnation says of its directories is refused."""
    k, out = after("settle", "K39").cluster.controller, Effects()
    epoch = k.brokers[2].epoch
    told = AssignReplicasToDirs(2, CONTROLLER, 7, epoch + generation, [(0, 5)])
    storage.on_assign_replicas(k, told, out)
    error = NONE if heard else STALE_BROKER_EPOCH
    answer = out.sends[-1]
    assert isinstance(answer, AssignReplicasToDirsResponse)
    assert (answer.corr, answer.error) == (7, error)
    assert (k.directories[2, 0] == 5) is heard


def test_a_directory_is_that_of_a_replica() -> None:
    """KIP-858: of a partition that is gone, or lies elsewhere by now, nothing is noted."""
    k, out = after("create_topic o 1,3; settle", "K39").cluster.controller, Effects()
    told = [(tp, 2) for tp in (99, 2, 0)]
    request = AssignReplicasToDirs(2, CONTROLLER, 7, k.brokers[2].epoch, told)
    storage.on_assign_replicas(k, request, out)
    assert {tp: where for (b, tp), where in k.directories.items() if b == 2} == {0: 2, 1: 2}
    assert [k.records[tp].partition_epoch for tp in (0, 2)] == [1, k.records[2].leader_epoch + 1]


@pytest.mark.parametrize(("directory", "offline"), [(1, False), (2, True)])
def test_a_log_that_has_come_to_a_working_directory_is_online(
    directory: int, offline: bool
) -> None:
    """KIP-858: one that is said to lie in a failed directory is as offline as before."""
    k, out = after("settle", "K39").cluster.controller, Effects()
    k.brokers[2].lost_dirs = (2,)
    k.offline.update({(2, 0), (3, 0)})
    request = AssignReplicasToDirs(2, CONTROLLER, 7, k.brokers[2].epoch, [(0, directory)])
    storage.on_assign_replicas(k, request, out)
    assert k.offline == ({(2, 0), (3, 0)} if offline else {(3, 0)})


def test_unregistered_brokers_have_no_directories() -> None:
    """KIP-858."""
    k, out = after("settle", "K39").cluster.controller, Effects()
    storage.on_assign_replicas(k, AssignReplicasToDirs(9, CONTROLLER, 7, 1, [(0, 5)]), out)
    (answer,) = out.sends
    assert isinstance(answer, AssignReplicasToDirsResponse)
    assert answer.error == STALE_BROKER_EPOCH and (9, 0) not in k.directories


@pytest.mark.parametrize(("lost", "leader"), [((), 2), ((2,), 3), ((2, 3), 1)])
def test_a_shutting_down_leader_hands_over_to_a_replica_with_a_working_disk(
    lost: tuple[int, ...], leader: int
) -> None:
    """CP-ELECT-ZK, 8.4: live, in the ISR, and its log directory online."""
    k = after("settle", "Z33").cluster.controller
    k.brokers[1].shutting_down = True
    k.offline.update((broker, 0) for broker in lost)
    elected = znodes.elect(k, 0, election.CONTROLLED_SHUTDOWN, Effects())
    assert (elected, k.records[0].leader) == (leader != 1, leader)


@pytest.mark.parametrize(("dead", "leader"), [((2,), 3), ((2, 3), 1)])
def test_a_shutting_down_leader_hands_over_to_no_broker_without_a_session(
    dead: tuple[int, ...], leader: int
) -> None:
    """CP-ELECT-ZK."""
    k = after("settle", "Z33").cluster.controller
    k.brokers[1].shutting_down = True
    for broker in dead:
        del k.brokers[broker]
    znodes.elect(k, 0, election.CONTROLLED_SHUTDOWN, Effects())
    assert k.records[0].leader == leader
