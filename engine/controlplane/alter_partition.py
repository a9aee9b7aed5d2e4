"""AlterPartition at the controller: permitted changes of an ISR (CP-ALTER, rows 0 - 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from engine.model import errors
from engine.model.control_messages import AlterAnswer, AlterItem
from engine.model.controller import Controller
from engine.model.profiles import Profile
from engine.model.records import PartitionChange, PartitionRecord

TOPIC_IDS_SINCE: Final = 2  # AlterPartition versions from here on name topics by id (KIP-841)


class Registered(Protocol):
    """Controller's view of one broker."""

    @property
    def epoch(self) -> int: ...
    @property
    def fenced(self) -> bool: ...
    @property
    def shutting_down(self) -> bool: ...


def check_sender(current_epoch: int | None, claimed_epoch: int) -> int:
    """CP-ALTER row 0.  Check the sender of a request.  `current_epoch` None: not registered."""
    return errors.NONE if claimed_epoch == current_epoch else errors.STALE_BROKER_EPOCH


def refused(tp: int, error: int) -> AlterAnswer:
    """CP-ALTER.  Return an answer with an error and no state of the partition."""
    return AlterAnswer(tp, error, -1, -1, -1, ())


def answered(tp: int, error: int, now: PartitionRecord) -> AlterAnswer:
    """CP-ALTER.  Return an answer with the partition's record as it is now."""
    return AlterAnswer(tp, error, now.leader, now.leader_epoch, now.partition_epoch, now.isr)


def missing(k: Controller, item: AlterItem, version: int) -> int:
    """CP-ALTER row 1.  Return the error for a partition that the controller has no record of.

    Requests name topics by id from version 2 on, so that an unknown topic is an unknown id there;
    a partition that a known topic does not have is unknown as such in every version.
    """
    topic = item.topic in k.topics or any(item.tp in other.tps for other in k.topics.values())
    by_id = version >= TOPIC_IDS_SINCE and not topic
    return errors.UNKNOWN_TOPIC_ID if by_id else errors.UNKNOWN_TOPIC_OR_PARTITION


def check_kr(
    record: PartitionRecord,
    item: AlterItem,
    sender: int,
    brokers: Mapping[int, Registered],
    *,
    version: int,
    isr_eligibility: bool = True,
    isr_broker_epoch: bool = True,
) -> int:
    """CP-ALTER rows 2 - 8, KRaft.  Return an error, or NONE to go on with CP-ELECT-KR.

    `version` is the request's; `isr_eligibility` the flag of KIP-841, 3.3; `isr_broker_epoch` that
    of KIP-903, 3.5.  Without the former a member has only to be registered.
    """
    error = _check_leader_epoch(record, item)
    if error:
        return error
    if sender != record.leader:
        return errors.INVALID_REQUEST
    if item.partition_epoch < record.partition_epoch:
        return errors.INVALID_UPDATE_VERSION
    if not _well_formed(record, item) or not _recovers(record, item):
        return errors.INVALID_REQUEST
    for member, claimed in item.isr:
        epoch = claimed if isr_broker_epoch else -1
        if not _eligible(brokers.get(member), epoch, isr_eligibility):
            return _ineligible(version)
    return errors.NONE


def check_zk(
    record: PartitionRecord,
    item: AlterItem,
    live: Callable[[int], bool],
    profile: Profile,
    *,
    version: int,
) -> tuple[int, bool]:
    """CP-ALTER rows 2 - 8, ZooKeeper.  Return (error, whether there is anything to write).

    A request that wants what is already there succeeds and writes nothing: the leader sent it again
    because it never saw the first answer.  Until 3.2 the write itself, conditional on the version
    of the znode, is the only look at the partition epoch, and 3.2 looks at the recovery state
    before anything else.  The ISR is not compared with the replicas.
    """
    recovers = not profile.leader_recovery_state or _recovers(record, item)
    if profile.ahead_is_not_controller:
        error = _check_leader_epoch(record, item)
        if error:
            return error, False
    elif not recovers:
        return errors.INVALID_REQUEST, False
    elif item.leader_epoch < record.leader_epoch:
        return errors.FENCED_LEADER_EPOCH, False
    isr = tuple(member for member, _ in item.isr)
    same = item.leader_epoch == record.leader_epoch and item.recovering == record.recovering
    if same and isr == record.isr:
        return errors.NONE, False
    if item.partition_epoch != record.partition_epoch:
        return errors.INVALID_UPDATE_VERSION, False
    if not recovers:
        return errors.INVALID_REQUEST, False
    if profile.isr_eligibility and not all(live(member) for member in isr):
        return _ineligible(version), False
    return errors.NONE, True


def apply_zk(record: PartitionRecord, item: AlterItem) -> PartitionRecord:
    """CP-ALTER row 9, ZooKeeper, and CP-ISR-ZKPROP 1.  Return the znode as written.

    Only its version, the partition epoch, is raised.
    """
    after = record.copy()
    after.leader_epoch = item.leader_epoch
    after.isr = tuple(member for member, _ in item.isr)
    after.recovering = item.recovering
    after.partition_epoch += 1
    return after


def check_direct_write(
    record: PartitionRecord, item: AlterItem, sender: int, profile: Profile
) -> tuple[int, bool]:
    """CP-ISR-ZKPROP 1, before 2.7.  Return (error, whether it writes) of the leader's own write.

    It succeeds only if the version that the leader knows is still the current one.  From 0.8.2 on
    the leader reads the znode back and finds its own earlier write, whose answer it never saw
    (`ReplicationUtils.checkLeaderAndIsrZkData`, KAFKA-1382).
    """
    if item.partition_epoch == record.partition_epoch:
        return errors.NONE, True
    isr = tuple(member for member, _ in item.isr)
    own = (sender, item.leader_epoch, isr) == (record.leader, record.leader_epoch, record.isr)
    if own and not profile.isr_write_not_recognised:
        return errors.NONE, False
    return errors.INVALID_UPDATE_VERSION, False


def answer_kr(change: PartitionChange, sender: int, version: int) -> int:
    """CP-ALTER row 10.  Return the error for a written change that moves leadership away.

    The ISR that was asked for finished a reassignment that moves leadership away from the sender:
    the record is written, yet the sender must fetch metadata first.  Senders of versions 0 and 1 do
    not know the error's own name.
    """
    if change.record.leader == sender:
        return errors.NONE
    return errors.NEW_LEADER_ELECTED if version > 1 else errors.FENCED_LEADER_EPOCH


def _check_leader_epoch(record: PartitionRecord, item: AlterItem) -> int:
    """Rows 2 and 3.  Compare the leader epochs; a leader ahead has found an old controller."""
    ahead = item.leader_epoch > record.leader_epoch
    if ahead or item.partition_epoch > record.partition_epoch:
        return errors.NOT_CONTROLLER
    if item.leader_epoch < record.leader_epoch:
        return errors.FENCED_LEADER_EPOCH
    return errors.NONE


def _well_formed(record: PartitionRecord, item: AlterItem) -> bool:
    """Row 7.  Check that the ISR is within AR, has no repetition, and has the leader."""
    members = [member for member, _ in item.isr]
    if len(set(members)) != len(members) or record.leader not in members:
        return False
    return all(member in record.replicas for member in members)


def _recovers(record: PartitionRecord, item: AlterItem) -> bool:
    """3.8.  Check RECOVERING, which stays only for a lone leader, and never begins here."""
    return not item.recovering or (len(item.isr) == 1 and record.recovering)


def _eligible(broker: Registered | None, claimed_epoch: int, isr_eligibility: bool) -> bool:
    """Row 8.  Check for registered, unfenced and staying brokers, and their epochs of the fetch."""
    if broker is None or (isr_eligibility and (broker.fenced or broker.shutting_down)):
        return False
    return claimed_epoch in (-1, broker.epoch)


def _ineligible(version: int) -> int:
    return errors.INELIGIBLE_REPLICA if version > 1 else errors.OPERATION_NOT_ATTEMPTED
