"""What refuses tells nothing else: offsets, epochs and leaders of such answers are Kafka's -1."""

from __future__ import annotations

from typing import Any

import pytest

from engine.controlplane import kraft, zookeeper
from engine.dataplane import produce, serving
from engine.model import errors
from engine.model.broker import Machine, Process
from engine.model.configs import build
from engine.model.control_messages import (
    AlterItem,
    AlterPartitionRequest,
    Heartbeat,
    ShutdownRequest,
)
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER, EpochEndRequest, ListOffsetsRequest, ProduceRequest
from engine.model.profiles import get_profile
from engine.scenarios.file import find
from engine.sim.run import Run, play_all

HERE, CLIENT, ELSEWHERE = 1, -11, 99
UNKNOWN = errors.UNKNOWN_TOPIC_OR_PARTITION


def fields(message: Any) -> dict[str, Any]:
    return {name: getattr(message, name) for name in type(message).__slots__}


def answer(handler: Any, node: Any, request: Any) -> dict[str, Any]:
    out = Effects()
    handler(node, request, out)
    (sent,) = out.sends
    return fields(sent)


def stranger() -> Process:
    """A broker that hosts nothing."""
    row = get_profile("K39")
    return Process(Machine(HERE, "1", "", row, build(row), False))


def leader() -> Process:
    """A broker that leads partition 0, with one record of producer 7 in its log."""
    sim = play_all(Run(find("S01"), "K39", 0, ("produce a to 1 acks=1",)))
    process: Process = sim.brokers[HERE].running
    append = ProduceRequest(CLIENT, HERE, 1, 0, ("b",), 1, 1_000, 7, 0, 0)
    assert answer(produce.on_produce_request, process, append)["base"] == 1
    return process


@pytest.mark.parametrize(("records", "error"), [(2, errors.NONE), (3, errors.MESSAGE_TOO_LARGE)])
def test_a_batch_may_be_as_large_as_is_allowed_and_no_larger(records: int, error: int) -> None:
    """L-3.3: message.max.records, here 2."""
    process = leader()
    process.replicas[0].configs.message_max_records = 2
    request = ProduceRequest(CLIENT, HERE, 1, 0, ("r",) * records, 1, 1_000)
    assert answer(produce.on_produce_request, process, request)["error"] == error
    assert process.replicas[0].log.leo == (2 if error else 4)


def test_a_write_that_is_refused_has_no_offset() -> None:
    request = ProduceRequest(CLIENT, HERE, 1, ELSEWHERE, ("a",), 1, 1_000)
    told = answer(produce.on_produce_request, stranger(), request)
    assert (told["error"], told["base"], told["values"]) == (UNKNOWN, -1, ("a",))
    skips = ProduceRequest(CLIENT, HERE, 2, 0, ("c",), 1, 1_000, 7, 0, 5)
    told = answer(produce.on_produce_request, leader(), skips)
    assert (told["error"], told["base"]) == (errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    assert told["log_start"] == 0, "the log is known, and where it starts"


def test_a_question_about_a_partition_elsewhere_has_no_answer() -> None:
    asked = EpochEndRequest(2, HERE, 1, [(ELSEWHERE, 0, 0)])
    told = answer(serving.on_epoch_end_request, stranger(), asked)
    assert told["partitions"] == [(ELSEWHERE, UNKNOWN, -1, -1)]
    listed = answer(
        serving.on_list_offsets_request,
        stranger(),
        ListOffsetsRequest(2, HERE, 1, ELSEWHERE, -1, 0),
    )
    assert (listed["error"], listed["offset"]) == (UNKNOWN, -1)


@pytest.mark.parametrize(("profile", "plane"), [("Z28", zookeeper), ("K39", kraft)])
def test_an_isr_of_nothing_is_answered_without_a_record(profile: str, plane: Any) -> None:
    controller = play_all(Run(find("S01"), profile, 0, ())).cluster.controller
    epoch = controller.brokers[HERE].epoch
    item = AlterItem(ELSEWHERE, 0, 0, ((HERE, epoch),))
    request = AlterPartitionRequest(HERE, CONTROLLER, 1, epoch, [item], False)
    out = Effects()
    plane.on_alter_partition(controller, request, out)
    sent = [*out.sends, *(answer for _, answer in controller.answers)]
    (told,) = [one for message in sent for one in getattr(message, "items", ())]
    refused = {"tp": ELSEWHERE, "leader": -1, "leader_epoch": -1, "partition_epoch": -1, "isr": ()}
    assert {name: fields(told)[name] for name in refused} == refused
    assert told.error in (UNKNOWN, errors.UNKNOWN_TOPIC_ID)


@pytest.mark.parametrize(("profile", "plane"), [("Z28", zookeeper), ("K39", kraft)])
def test_a_partition_that_is_gone_does_not_stop_the_next_one_of_the_request(
    profile: str, plane: Any
) -> None:
    controller = play_all(Run(find("S01"), profile, 0, ())).cluster.controller
    epoch, record = controller.brokers[HERE].epoch, controller.records[0]
    isr = tuple((member, -1) for member in record.isr[:-1])
    items = [
        AlterItem(ELSEWHERE, 0, 0, ((HERE, -1),)),
        AlterItem(0, record.leader_epoch, record.partition_epoch, isr),
    ]
    request = AlterPartitionRequest(HERE, CONTROLLER, 1, epoch, items, False)
    plane.on_alter_partition(controller, request, Effects())
    assert controller.records[0].isr == record.isr[:-1]


@pytest.mark.parametrize(
    ("profile", "handler"), [("Z28", zookeeper.on_ping), ("K39", kraft.on_heartbeat)]
)
def test_a_refused_heartbeat_tells_a_broker_that_it_is_fenced_and_no_more(
    profile: str, handler: Any
) -> None:
    controller = play_all(Run(find("S01"), profile, 0, ())).cluster.controller
    former = controller.brokers[HERE].epoch - 1
    told = answer(handler, controller, Heartbeat(HERE, CONTROLLER, 1, former, 99, False, True))
    assert told["error"] == errors.STALE_BROKER_EPOCH
    assert (told["fenced"], told["caught_up"], told["should_shut_down"]) == (True, False, False)


@pytest.mark.parametrize(
    ("profile", "broker", "generation", "error"),
    [
        ("Z24", HERE, 0, errors.NONE),
        ("Z24", HERE, -1, errors.STALE_BROKER_EPOCH),
        ("Z24", ELSEWHERE, 0, errors.STALE_BROKER_EPOCH),
        ("Z20", HERE, -1, errors.NONE),
        ("Z20", ELSEWHERE, 0, errors.STALE_BROKER_EPOCH),
    ],
)
def test_brokers_that_may_hand_over_their_leaderships(
    profile: str, broker: int, generation: int, error: int
) -> None:
    """CP-ZK-SHUTDOWN 2: a broker with a session, since KIP-380 with this very one."""
    controller = play_all(Run(find("S01"), profile, 0, ("settle",))).cluster.controller
    epoch = controller.brokers[HERE].epoch + generation
    out = Effects()
    zookeeper.on_shutdown_request(controller, ShutdownRequest(broker, CONTROLLER, 1, epoch), out)
    assert fields(out.sends[-1])["error"] == error
    assert (controller.records[0].leader == HERE) is (error != errors.NONE)
    assert controller.brokers[HERE].shutting_down is (error == errors.NONE)


@pytest.mark.parametrize(
    ("profile", "plane", "beat"), [("Z28", zookeeper, "on_ping"), ("K39", kraft, "on_heartbeat")]
)
def test_unregistered_brokers_are_answered_as_fenced(profile: str, plane: Any, beat: str) -> None:
    """CP-KR-HB, 8.3: the answer's own defaults."""
    controller = play_all(Run(find("S01"), profile, 0, ())).cluster.controller
    told = answer(
        getattr(plane, beat), controller, Heartbeat(ELSEWHERE, CONTROLLER, 1, 1, 0, False, False)
    )
    assert told["error"] == errors.STALE_BROKER_EPOCH
    assert (told["caught_up"], told["fenced"], told["should_shut_down"]) == (False, True, False)
