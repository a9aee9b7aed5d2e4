"""How a broker asks for its session and keeps it: 1.4 - 1.7, 8.3, CP-KR-REG, CP-KR-HB."""

from __future__ import annotations

import pytest

from engine.controlplane import admin, kraft, membership, zookeeper
from engine.faults import paused_controller
from engine.model.broker import Machine, Process
from engine.model.configs import build
from engine.model.control_messages import (
    Heartbeat,
    HeartbeatResponse,
    MetadataRecords,
    RegisterRequest,
    RegisterResponse,
)
from engine.model.effects import Effects
from engine.model.errors import (
    DUPLICATE_BROKER_REGISTRATION,
    FENCED_LEADER_EPOCH,
    NONE,
    STALE_BROKER_EPOCH,
    STALE_CONTROLLER_EPOCH,
)
from engine.model.messages import CONTROLLER
from engine.model.profiles import get_profile
from engine.model.records import PartitionRecord
from engine.model.state import NEVER, STARTING, UP
from engine.scenarios.scenario import Scenario
from tests.rules.playing import THREE, go_on, played


@pytest.mark.parametrize("profile", ["Z24", "K39"])
def test_a_refused_registration_gives_no_epoch(profile: str) -> None:
    """CP-KR-REG: another incarnation, while the session of the one before is valid."""
    sim = played(THREE, profile, "settle")
    k, out = sim.cluster.controller, Effects()
    out.now = sim.now
    register = kraft.on_register if profile == "K39" else zookeeper.on_register
    register(k, RegisterRequest(3, CONTROLLER, 7, k.brokers[3].incarnation + 1, -1), out)
    (answer,) = out.sends
    assert isinstance(answer, RegisterResponse) and (answer.dst, answer.corr) == (3, 7)
    assert (answer.error, answer.broker_epoch) == (DUPLICATE_BROKER_REGISTRATION, -1)


@pytest.mark.parametrize(("status", "renews"), [(STARTING, False), (UP, True)])
def test_a_refused_heartbeat_renews_the_session_of_a_live_broker(status: str, renews: bool) -> None:
    """8.3: a broker that is starting asks for a session already, and asks no second time."""
    broker, out = played(THREE, "Z24", "settle").brokers[3].running, Effects()
    broker.status = status
    refused = HeartbeatResponse(CONTROLLER, 3, 1, STALE_BROKER_EPOCH, False, False, False)
    membership.on_heartbeat_response(broker, refused, out)
    assert bool(out.sends) is (broker.broker_epoch == -1) is renews


def test_an_answer_to_a_registration_is_heard_once() -> None:
    """CP-KR-REG: no broker waits for a second copy."""
    row = get_profile("K39")
    broker, out = Process(Machine(1, "1", "", row, build(row), False)), Effects()
    broker.status = STARTING
    membership.register(broker, 0, out)
    (asked,) = out.sends
    answer = RegisterResponse(CONTROLLER, 1, asked.corr, NONE, 7)
    membership.on_register_response(broker, answer, out)
    assert (broker.broker_epoch, len(out.sends)) == (7, 3), "it fetches metadata, and reports"
    assert not broker.registered_corr, "no request is under way any more"
    membership.on_register_response(broker, answer, out)
    assert len(out.sends) == 3


@pytest.mark.parametrize("profile", ["Z24", "Z33"])
def test_a_broker_knows_the_incarnations_its_controller_names(profile: str) -> None:
    """1.12: a peer that came back is another one, and one that is not named is dead."""
    sim = played(THREE, profile, "settle")
    known = sim.brokers[1].running.peers
    before = {peer: one.broker_epoch for peer, one in known.items()}
    go_on(sim, "bounce 2; kill 3; detect 3; settle")
    known = sim.brokers[1].running.peers
    assert [(peer, known[peer].alive) for peer in (2, 3)] == [(2, True), (3, False)]
    assert known[2].broker_epoch == sim.cluster.controller.brokers[2].epoch > before[2]
    assert known[3].broker_epoch == before[3]


def test_brokers_without_a_session_send_no_heartbeat() -> None:
    """8.3: it has asked for a session, and the timer of the former one still runs."""
    broker, out = played(THREE, "Z24", "settle").brokers[3].running, Effects()
    out.now = broker.heartbeat_due
    assert membership.on_heartbeat_timer(broker, out) and len(out.sends) == 1
    out.now = broker.heartbeat_due
    broker.broker_epoch = -1
    assert not membership.on_heartbeat_timer(broker, out) and len(out.sends) == 1


@pytest.mark.parametrize("epoch", [-2, -1, 3, 4])
def test_a_replica_is_stopped_by_requests_with_its_epoch_or_none(epoch: int) -> None:
    """5.3: of a deletion, in an old request, or not older than the replica's."""
    broker = played(THREE, "Z24", "settle").brokers[3].running
    broker.replicas[0].leader_epoch = 3
    assert membership.stop_error(broker, 0, epoch) == NONE
    assert membership.stop_error(broker, 0, 2) == FENCED_LEADER_EPOCH


@pytest.mark.parametrize("other", [0, 9])
def test_silent_brokers_are_fenced_one_by_one_in_the_same_instant(other: int) -> None:
    """CP-KR-FENCE: longest silent first, whatever the number of the next."""
    ids = [{"id": 5}, {"id": other}, {"id": 6}]
    scenario = Scenario.from_dict({"title": "x", "brokers": ids, "partitions": [[5, other, 6]]})
    k, out = played(scenario, "K39", "settle").cluster.controller, Effects()
    out.now = k.brokers[6].last_contact = 100_000
    k.brokers[5].last_contact, k.brokers[other].last_contact, k.check_at = 1, 2, out.now
    assert kraft.on_fence_check(k, out)
    assert (k.brokers[5].fenced, k.brokers[other].fenced, k.check_at) == (True, False, out.now)
    assert kraft.on_fence_check(k, out)
    assert k.brokers[other].fenced and not k.brokers[6].fenced and k.check_at > out.now


def test_only_a_later_term_deposes_a_controller() -> None:
    """CP-ZK-CTRL: the version of /controller_epoch is its own as long as it has no successor."""
    k = played(THREE, "Z24", "settle").cluster.controller
    zombie = k.copy()
    for later in (False, True):
        k.epoch = zombie.epoch + later
        out = Effects(cues=True)
        paused_controller.resign(zombie, k, out)
        assert bool(out.cues) is later


def test_a_broker_forgets_unregistered_brokers() -> None:
    """7.5: the image of every broker loses it with the record that says so."""
    sim = played(THREE, "K39", "settle; kill 3; detect 3; settle")
    k, broker, out = sim.cluster.controller, sim.brokers[1].running, Effects()
    assert sorted(broker.peers) == [1, 2, 3] and admin.unregister(k, 3, out) == NONE
    told = MetadataRecords(
        CONTROLLER, 1, broker.metadata_corr, broker.metadata_offset, k.log[broker.metadata_offset :]
    )
    membership.on_metadata_records(broker, told, out)
    assert sorted(broker.peers) == [1, 2]


@pytest.mark.parametrize("overdue_ms", [-1, 0, 5_000])
@pytest.mark.parametrize("passed", [False, True])
def test_one_check_of_the_sessions_lies_ahead_however_often_it_is_asked_for(
    passed: bool, overdue_ms: int
) -> None:
    """8.3: even at the instant at which a session ends; one whose time has come does not count."""
    k, out = played(THREE, "Z33", "settle").cluster.controller, Effects()
    ends = min(one.last_contact for one in k.brokers.values()) + k.configs.session_timeout_ms
    out.now = ends + overdue_ms
    k.check_at = out.now if passed else NEVER
    for _ in range(3):
        zookeeper.arm_session_check(k, out)
    assert len(out.timers) == 1 and k.check_at > out.now


def test_every_session_is_asked_for_with_the_shortest_pause_first() -> None:
    """CP-KR-REG: 100 ms x 2^n, and n counts the refusals of this session alone."""
    broker, out = played(THREE, "Z24", "settle").brokers[3].running, Effects()
    broker.register_attempt = 5
    membership.renew_session(broker, out)
    pauses = []
    for _ in range(3):
        refused = RegisterResponse(
            CONTROLLER, 3, out.sends[-1].corr, DUPLICATE_BROKER_REGISTRATION, -1
        )
        membership.on_register_response(broker, refused, out)
        _, pause, _, attempt = out.timers[-1]
        pauses.append(pause)
        membership.register(broker, attempt, out)
    assert pauses == [100, 200, 400]


def test_the_pause_between_registrations_doubles_up_to_the_session_timeout() -> None:
    """CP-KR-REG: however short the first one is and however long a session lasts."""
    scenario = THREE.vary("configs.registration_backoff_ms", 1)
    hour = scenario.vary("configs.broker.session.timeout.ms", 3_600_000)
    broker, out = played(hour, "K39", "settle").brokers[3].running, Effects()
    for attempt in range(40):
        broker.register_attempt = attempt
        membership.retry_registration(broker, out)
    pauses = [pause for _, pause, _, _ in out.timers]
    assert pauses == [min(2**n, 3_600_000) for n in range(40)]
    assert [after for _, _, _, after in out.timers] == list(range(1, 41))


@pytest.mark.parametrize(
    ("lost", "offline"), [((1,), {(2, 0)}), ((2,), {(2, 1)}), ((), set()), ((3,), set())]
)
def test_a_registration_says_which_replicas_are_offline(
    lost: tuple[int, ...], offline: set[tuple[int, int]]
) -> None:
    """CP-KR-REG, KIP-858: those in its failed directories, and no other of that broker."""
    k, out = played(THREE, "K39", "kill 2; detect 2").cluster.controller, Effects()
    out.now = 1_000_000
    k.directories.update({(2, 0): 1, (2, 1): 2, (3, 0): 1})
    k.offline.update({(2, 0), (3, 0)})
    asked = RegisterRequest(2, CONTROLLER, 7, k.brokers[2].incarnation + 1, -1, lost_dirs=lost)
    kraft.on_register(k, asked, out)
    assert k.offline == offline | {(3, 0)} and k.brokers[2].lost_dirs == lost


@pytest.mark.parametrize(("ahead", "caught_up"), [(0, False), (1, True)])
def test_a_broker_stays_fenced_until_it_has_read_its_own_registration(
    ahead: int, caught_up: bool
) -> None:
    """CP-KR-HB: the record at that offset, so it asks for the one after it."""
    k, out = played(THREE, "K39", "settle").cluster.controller, Effects()
    one = k.brokers[2]
    one.fenced = True
    read = one.registered_at + ahead
    kraft.on_heartbeat(k, Heartbeat(2, CONTROLLER, 7, one.epoch, read, False, False), out)
    (answer,) = [m for m in out.sends if isinstance(m, HeartbeatResponse)]
    assert (answer.caught_up, answer.fenced, one.fenced) == (
        caught_up,
        not caught_up,
        not caught_up,
    )


@pytest.mark.parametrize(("said", "known"), [("b", "b"), ("", "a")])
def test_a_rack_is_known_until_another_is_said(said: str, known: str) -> None:
    """CP-KR-REG."""
    k, out = played(THREE, "K39", "kill 2; detect 2").cluster.controller, Effects()
    out.now = 1_000_000
    k.brokers[2].rack = "a"
    kraft.on_register(k, RegisterRequest(2, CONTROLLER, 7, 9, -1, rack=said), out)
    assert (k.brokers[2].incarnation, k.brokers[2].rack) == (9, known)


def test_uncleanly_stopped_brokers_leave_the_isr_and_the_elr_alike() -> None:
    """CP-CLEAN-SHUTDOWN 6.6: where it is in neither, nothing changes."""
    k, out = played(THREE, "K41", "settle").cluster.controller, Effects()
    k.records = {
        0: PartitionRecord((1, 2), (1,), -1),
        1: PartitionRecord((1, 2), (2,), 2, elr=(1,)),
        2: PartitionRecord((1, 2), (2,), 2),
    }
    k.configs = k.configs.changed(k.profile, "min.insync.replicas", 2)
    told = kraft.lose_uncleanly(k, 1, out)
    assert [record[1] for record in told] == [0, 1]
    assert [(k.records[tp].isr, k.records[tp].elr) for tp in (0, 1, 2)] == [
        ((), ()),
        ((2,), ()),
        ((2,), ()),
    ]


@pytest.mark.parametrize("leader_epoch", [-1, 3, 4, 5])
def test_only_a_newer_leader_epoch_is_news(leader_epoch: int) -> None:
    """CP-LISR: a LeaderAndIsr that was sent again is refused, also of a partition without a log."""
    broker = played(THREE, "Z33", "settle").brokers[1].running
    broker.replicas[0].leader_epoch = 4
    record = PartitionRecord((1, 2), (1, 2), 1, leader_epoch)
    expected = NONE if leader_epoch > 4 else STALE_CONTROLLER_EPOCH
    assert membership.state_error(broker, 0, record) == expected
    unknown = STALE_CONTROLLER_EPOCH if leader_epoch < 0 else NONE
    assert membership.state_error(broker, 9, record) == unknown
