"""AlterPartition at the controller: who may change an ISR, and how (CP-ALTER, rows 0 - 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from engine.model import errors
from engine.model.control_messages import AlterItem
from engine.model.records import PartitionChange, PartitionRecord


class Registered(Protocol):
    """What the controller knows of one broker."""

    @property
    def epoch(self) -> int: ...
    @property
    def fenced(self) -> bool: ...
    @property
    def shutting_down(self) -> bool: ...


def check_sender(current_epoch: int | None, claimed_epoch: int) -> int:
    """CP-ALTER row 0, for the whole request.  `current_epoch` None: not registered."""
    return errors.NONE if claimed_epoch == current_epoch else errors.STALE_BROKER_EPOCH


def check_kr(
    record: PartitionRecord | None,
    item: AlterItem,
    sender: int,
    brokers: Mapping[int, Registered],
    *,
    version: int = 3,
    topic_known: bool = False,
    isr_eligibility: bool = True,
    isr_broker_epoch: bool = True,
) -> int:
    """CP-ALTER rows 1 - 8, KRaft.  NONE means: go on with CP-ELECT-KR and the ISR asked for.

    `version` is the request's; `topic_known` says of a partition without record whether its topic
    exists; `isr_eligibility` the flag of KIP-841, 3.3; `isr_broker_epoch` that
    of KIP-903, 3.5.  Without the former a member has only to be registered.
    """
    if record is None:
        return _unknown(version, topic_known)
    error = _check_leader_epoch(record, item)
    if error:
        return error
    if sender != record.leader:
        return errors.INVALID_REQUEST
    if item.partition_epoch < record.partition_epoch:
        return errors.INVALID_UPDATE_VERSION
    if not _well_formed(record, item):
        return errors.INVALID_REQUEST
    for member, claimed in item.isr:
        epoch = claimed if isr_broker_epoch else -1
        if not _eligible(brokers.get(member), epoch, isr_eligibility):
            return _ineligible(version)
    return errors.NONE


def check_zk(
    record: PartitionRecord | None,
    item: AlterItem,
    live: Callable[[int], bool],
    *,
    version: int = 3,
    topic_known: bool = True,
    isr_eligibility: bool = True,
) -> tuple[int, bool]:
    """CP-ALTER rows 1 - 8, ZooKeeper.  (error, whether there is anything to write).

    A request that wants what is already there succeeds and writes nothing: the leader sent it again
    because it never saw the first answer.  `topic_known` as above;
    `isr_eligibility` is the flag of KIP-841, 3.3.
    """
    if record is None:
        return _unknown(version, topic_known), False
    error = _check_leader_epoch(record, item)
    if error:
        return error, False
    wanted = tuple(member for member, _ in item.isr)
    if wanted == record.isr and item.recovering == record.recovering:
        return errors.NONE, False
    if item.partition_epoch < record.partition_epoch:
        return errors.INVALID_UPDATE_VERSION, False
    if not _well_formed(record, item):
        return errors.INVALID_REQUEST, False
    if isr_eligibility and not all(live(member) for member in wanted):
        return _ineligible(version), False
    return errors.NONE, True


def apply_zk(record: PartitionRecord, item: AlterItem) -> PartitionRecord:
    """CP-ALTER row 9, ZooKeeper, and CP-ISR-ZKPROP 1.  The znode as written: only its version, the
    partition epoch, is raised."""
    after = record.copy()
    after.isr = tuple(member for member, _ in item.isr)
    after.recovering = item.recovering
    after.partition_epoch += 1
    return after


def check_direct_write(record: PartitionRecord, item: AlterItem) -> int:
    """CP-ISR-ZKPROP 1, before 2.7.  The leader's own write of the znode succeeds only if the
    version it knows is still the current one."""
    if item.partition_epoch != record.partition_epoch:
        return errors.INVALID_UPDATE_VERSION
    return errors.NONE


def answer_kr(change: PartitionChange, sender: int) -> int:
    """CP-ALTER row 10.  The ISR that was asked for finished a reassignment that moves leadership
    away from the sender: the record is written, yet the sender must fetch metadata first."""
    return errors.NONE if change.record.leader == sender else errors.NEW_LEADER_ELECTED


def _unknown(version: int, topic_known: bool) -> int:
    """Row 1.  From version 2 on requests name topics by id; a partition that a known topic does not
    have is unknown by its number, in every version."""
    by_id = version > 1 and not topic_known
    return errors.UNKNOWN_TOPIC_ID if by_id else errors.UNKNOWN_TOPIC_OR_PARTITION


def _check_leader_epoch(record: PartitionRecord, item: AlterItem) -> int:
    """Rows 2 and 3.  A leader that is ahead of the controller has found an old controller."""
    ahead = item.leader_epoch > record.leader_epoch
    if ahead or item.partition_epoch > record.partition_epoch:
        return errors.NOT_CONTROLLER
    if item.leader_epoch < record.leader_epoch:
        return errors.FENCED_LEADER_EPOCH
    return errors.NONE


def _well_formed(record: PartitionRecord, item: AlterItem) -> bool:
    """Row 7.  ISR within AR, no repetition, with the leader; recovering only if alone (3.8)."""
    members = [member for member, _ in item.isr]
    if len(set(members)) != len(members) or record.leader not in members:
        return False
    if any(member not in record.replicas for member in members):
        return False
    return not item.recovering or (len(members) == 1 and record.recovering)


def _eligible(broker: Registered | None, claimed_epoch: int, isr_eligibility: bool) -> bool:
    """Row 8.  Registered, unfenced, staying, and the incarnation that fetched."""
    if broker is None or (isr_eligibility and (broker.fenced or broker.shutting_down)):
        return False
    return claimed_epoch in (-1, broker.epoch)


def _ineligible(version: int) -> int:
    return errors.INELIGIBLE_REPLICA if version > 1 else errors.OPERATION_NOT_ATTEMPTED
