"""CP-ALTER: the controller's validation, row by row."""

from __future__ import annotations

import pytest

from engine.controlplane import alter_partition, election, kraft
from engine.model import configs, errors
from engine.model.control_messages import AlterItem, AlterPartitionRequest
from engine.model.controller import Controller, Topic
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.profiles import PROFILES, get_profile
from engine.model.records import PartitionRecord

RECORD = PartitionRecord((1, 2, 3), (1, 2), 1, leader_epoch=5, partition_epoch=7)
FULL = ((1, 101), (2, 102), (3, 103))


class Registration:
    def __init__(self, epoch: int, fenced: bool = False, shutting_down: bool = False) -> None:
        self.epoch = epoch
        self.fenced = fenced
        self.shutting_down = shutting_down


BROKERS = {
    1: Registration(101),
    2: Registration(102),
    3: Registration(103),
    4: Registration(104),
}


def item(
    le: int = 5, pe: int = 7, isr: tuple[tuple[int, int], ...] = FULL, recovering: bool = False
) -> AlterItem:
    return AlterItem(0, le, pe, isr, recovering)


KRAFT = [
    # request, sender -> error
    (item(), 1, errors.NONE),
    (item(le=6), 1, errors.NOT_CONTROLLER),
    (item(pe=8), 1, errors.NOT_CONTROLLER),
    (item(le=4, pe=8), 1, errors.NOT_CONTROLLER),
    (item(le=4), 1, errors.FENCED_LEADER_EPOCH),
    (item(), 2, errors.INVALID_REQUEST),
    (item(pe=6), 1, errors.INVALID_UPDATE_VERSION),
    (item(isr=((1, 101), (4, 104))), 1, errors.INVALID_REQUEST),
    (item(isr=((1, 101), (2, 102), (2, 102))), 1, errors.INVALID_REQUEST),
    (item(isr=((2, 102), (3, 103))), 1, errors.INVALID_REQUEST),
    (item(isr=()), 1, errors.INVALID_REQUEST),
    (item(recovering=True), 1, errors.INVALID_REQUEST),
    (item(isr=((1, 101),), recovering=True), 1, errors.INVALID_REQUEST),
    (item(isr=((1, 101), (3, -1))), 1, errors.NONE),
    (item(isr=((1, 101), (3, 99))), 1, errors.INELIGIBLE_REPLICA),
]


@pytest.mark.parametrize(("request_", "sender", "error"), KRAFT)
def test_kraft(request_: AlterItem, sender: int, error: int) -> None:
    assert alter_partition.check_kr(RECORD, request_, sender, BROKERS, version=3) == error


def test_kraft_unknown_partition_and_sender() -> None:
    k = Controller(PROFILES["K39"], configs.build(PROFILES["K39"]))
    k.topics["t"] = Topic()
    unknown, nameless = AlterItem(-1, 0, 0, FULL, topic="u"), item()
    beyond = AlterItem(-1, 0, 0, FULL, topic="t")
    for version in (0, 1, 2, 3):
        error = errors.UNKNOWN_TOPIC_ID if version > 1 else errors.UNKNOWN_TOPIC_OR_PARTITION
        assert alter_partition.missing(k, unknown, version) == error
        assert alter_partition.missing(k, nameless, version) == error
        known = alter_partition.missing(k, beyond, version)
        assert known == errors.UNKNOWN_TOPIC_OR_PARTITION
    assert alter_partition.check_sender(101, 101) == errors.NONE
    assert alter_partition.check_sender(102, 101) == errors.STALE_BROKER_EPOCH
    assert alter_partition.check_sender(None, 101) == errors.STALE_BROKER_EPOCH


def test_a_refused_item_leaves_the_others_alone() -> None:
    """CP-ALTER: each item has its own answer."""
    k, out = Controller(PROFILES["K39"], configs.build(PROFILES["K39"])), Effects()
    k.brokers.update(BROKERS)
    k.records.update({0: RECORD.copy(), 1: RECORD.copy()})
    k.topics["t"] = Topic()
    items = (
        AlterItem(0, RECORD.leader_epoch - 1, RECORD.partition_epoch, ((1, 101),)),
        AlterItem(1, RECORD.leader_epoch, RECORD.partition_epoch, ((1, 101),)),
    )
    kraft.on_alter_partition(k, AlterPartitionRequest(1, CONTROLLER, 5, 101, items, False), out)
    assert (k.records[0].isr, k.records[1].isr) == (RECORD.isr, (1,))


@pytest.mark.parametrize(
    "broker",
    [None, Registration(103, fenced=True), Registration(103, shutting_down=True), Registration(9)],
)
def test_kraft_ineligible_members(broker: Registration | None) -> None:
    brokers = {k: v for k, v in BROKERS.items() if k != 3}
    if broker is not None:
        brokers[3] = broker
    new = alter_partition.check_kr(RECORD, item(), 1, brokers, version=3)
    old = alter_partition.check_kr(RECORD, item(), 1, brokers, version=1)
    assert (new, old) == (errors.INELIGIBLE_REPLICA, errors.OPERATION_NOT_ATTEMPTED)


def test_broker_epochs_are_compared_from_3_5_on() -> None:
    stale = item(isr=((1, 101), (3, 99)))
    error = alter_partition.check_kr(RECORD, stale, 1, BROKERS, version=3, isr_broker_epoch=False)
    assert error == errors.NONE


def test_recovery_state() -> None:
    recovering = PartitionRecord((1, 2, 3), (1,), 1, 5, 7, recovering=True)
    for members, state, error in (
        (((1, 101),), True, errors.NONE),
        (((1, 101), (2, 102)), True, errors.INVALID_REQUEST),
        (((1, 101), (2, 102)), False, errors.NONE),
    ):
        asked = item(isr=members, recovering=state)
        assert alter_partition.check_kr(recovering, asked, 1, BROKERS, version=3) == error


def test_zookeeper() -> None:
    live = (1, 2).__contains__

    def check(asked: AlterItem, profile: str = "Z33", version: int = 2) -> tuple[int, bool]:
        return alter_partition.check_zk(RECORD, asked, live, PROFILES[profile], version=version)

    assert check(item(le=6)) == (errors.NOT_CONTROLLER, False)
    assert check(item(pe=8)) == (errors.NOT_CONTROLLER, False)
    assert check(item(pe=8), "Z28") == (errors.INVALID_UPDATE_VERSION, False), "until 3.2"
    assert check(item(le=6, pe=6), "Z27") == (errors.INVALID_UPDATE_VERSION, False)
    for profile in ("Z27", "Z28", "Z33"):
        assert check(item(le=4), profile) == (errors.FENCED_LEADER_EPOCH, False)
        same = item(pe=6, isr=((1, -1), (2, -1)))
        assert check(same, profile) == (errors.NONE, False), "an answer was lost"
        assert check(item(pe=6), profile) == (errors.INVALID_UPDATE_VERSION, False)
    assert check(item()) == (errors.INELIGIBLE_REPLICA, False)
    assert check(item(), version=1) == (errors.OPERATION_NOT_ATTEMPTED, False)
    assert check(item(), "Z28") == (errors.NONE, True)
    recovering = item(isr=((1, -1),), recovering=True)
    assert check(recovering) == (errors.INVALID_REQUEST, False)
    assert check(item(le=4, recovering=True), "Z28") == (errors.INVALID_REQUEST, False)
    assert check(item(isr=((1, -1), (2, -1), (2, -1)))) == (errors.NONE, True), "nobody looks"
    after = alter_partition.apply_zk(RECORD, item())
    assert (after.isr, after.leader_epoch, after.partition_epoch) == ((1, 2, 3), 5, 8)


def test_a_leader_that_has_recovered_says_so_with_the_same_isr() -> None:
    """CP-ALTER, KIP-704: that is a change of the znode, as a new leader epoch is."""
    record = PartitionRecord((1, 2, 3), (1,), 1, 5, 7, recovering=True)
    alone = ((1, -1),)
    for state, changes in ((True, False), (False, True)):
        asked = item(isr=alone, recovering=state)
        told = alter_partition.check_zk(
            record, asked, (1,).__contains__, PROFILES["Z33"], version=2
        )
        assert told == (errors.NONE, changes)
    ahead = item(le=6, isr=((1, -1), (2, -1)))
    assert alter_partition.check_zk(RECORD, ahead, bool, PROFILES["Z28"], version=2) == (
        errors.NONE,
        True,
    )


def test_direct_write_of_the_znode() -> None:
    def check(asked: AlterItem, sender: int = 1, profile: str = "Z09") -> tuple[int, bool]:
        return alter_partition.check_direct_write(RECORD, asked, sender, PROFILES[profile])

    stale = item(pe=6, isr=((1, -1),))
    assert check(item()) == (errors.NONE, True)
    assert check(stale) == (errors.INVALID_UPDATE_VERSION, False)


def test_a_leader_finds_its_own_write_of_the_znode_again() -> None:
    """KAFKA-1382: `ReplicationUtils.checkLeaderAndIsrZkData`, since 0.8.2.0."""
    written = item(pe=6, isr=tuple((member, -1) for member in RECORD.isr))
    refused = (errors.INVALID_UPDATE_VERSION, False)
    for profile, told in (("0.8.1.1", refused), ("Z08", (errors.NONE, False))):
        row = get_profile(profile)
        assert alter_partition.check_direct_write(RECORD, written, RECORD.leader, row) == told
        assert alter_partition.check_direct_write(RECORD, written, 9, row) == refused


def test_a_finished_reassignment_may_depose_the_sender() -> None:
    record = PartitionRecord((4, 1), (1,), 1, 0, 1, adding=(4,), removing=(1,))
    change = election.change_partition(
        record,
        get_profile("K39"),
        election.Target(isr=(1, 4)),
        acceptable=(1, 4).__contains__,
        min_isr=1,
        elr=False,
        last_known_leader=True,
    )
    assert not change.record.reassigning and change.record.leader == 4
    assert alter_partition.answer_kr(change, 1, 3) == errors.NEW_LEADER_ELECTED
    assert alter_partition.answer_kr(change, 1, 1) == errors.FENCED_LEADER_EPOCH
    assert alter_partition.answer_kr(change, 5, 3) == errors.NEW_LEADER_ELECTED
    assert alter_partition.answer_kr(change, 4, 3) == errors.NONE, "it still leads"
