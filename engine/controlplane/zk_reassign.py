"""Reassignments of the ZooKeeper-era controller (control-plane, 7.3)."""

from __future__ import annotations

from engine.controlplane import election, placement, reassignment, zk_topics
from engine.controlplane.znodes import elect, is_live, send_stop_replica, take_offline, tell_changes
from engine.model import errors
from engine.model.controller import Controller
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.records import Ids, PartitionRecord


def reassign(k: Controller, tp: int, target: Ids | None, out: Effects) -> int:
    """CP-REASSIGN-ZK, U1 on.  Start or cancel (None) a reassignment; return an error code.

    A new target replaces a running one.  As in the reassignment znode, a target that is offline is
    accepted and waited for.  The list is checked before the partition.
    """
    record = k.records.get(tp)
    error = errors.NONE if target is None else placement.check_manual([target], None)
    if error:
        return error
    if record is None:
        cancels = target is None
        return errors.NO_REASSIGNMENT_IN_PROGRESS if cancels else errors.UNKNOWN_TOPIC_OR_PARTITION
    if target is None:
        if not record.reassigning:
            return errors.NO_REASSIGNMENT_IN_PROGRESS
        target = reassignment.original(record.replicas, record.adding)
    before = reassignment.original(record.replicas, record.adding)
    plan = reassignment.plan(before, target)
    dropped = tuple(b for b in record.adding if b not in target)
    if strands(record, target):
        return errors.INVALID_REPLICA_ASSIGNMENT
    after = record.copy()
    after.replicas, after.adding, after.removing = plan.replicas, plan.adding, plan.removing
    k.records[tp] = after
    _stop(k, tp, dropped, out)  # U3
    take_offline_all(k, tp, dropped, out)
    progress(k, tp, out)
    return errors.NONE


def strands(record: PartitionRecord, target: Ids) -> bool:
    """Check whether dropping the replicas that are being added would leave no other in sync."""
    left = [b for b in record.isr if b not in record.adding or b in target]
    return bool(record.isr) and not left


def progress(k: Controller, tp: int, out: Effects) -> None:
    """CP-REASSIGN-ZK.  Start a reassignment (A), or end it once the whole target is in the ISR (B).

    A raises the leader epoch for the grown replica list; until 2.3 only in the znode, not in the
    memory that UpdateMetadata is made of (`KafkaController.updateLeaderEpochAndSendRequest` at
    2.3.1, KAFKA-9212).  Runs on the request and whenever a target broker starts.
    """
    record = k.records[tp]
    target = reassignment.target_of(record.replicas, record.removing)
    if not set(target) <= set(record.isr):
        k.records[tp] = _next_term(record)  # A1
        tell_changes(k, [tp], out, before=int(k.profile.reassignment_hides_epoch))
        return
    _finish(k, tp, target, out)


def complete(k: Controller, tp: int, out: Effects) -> bool:
    """CP-REASSIGN-ZK, the completion check.  Finish; False without a reassignment, or too early."""
    record = k.records[tp]
    target = reassignment.target_of(record.replicas, record.removing)
    if not record.reassigning or not set(target) <= set(record.isr):
        return False
    _finish(k, tp, target, out)
    return True


def _finish(k: Controller, tp: int, target: Ids, out: Effects) -> None:
    """CP-REASSIGN-ZK B1 - B8.  Finish a reassignment, also a mere new order of the replicas."""
    record = k.records[tp]
    removing = record.removing
    if record.leader in target and is_live(k, record.leader):
        k.records[tp] = _next_term(record)
    else:
        after = record.copy()
        after.replicas = target
        k.records[tp] = after
        elect(k, tp, election.REASSIGN, out)
    final = k.records[tp].copy()
    final.replicas, final.adding, final.removing = target, (), ()
    k.records[tp] = final
    out.cue("CP-REASSIGN.done", CONTROLLER, f"replicas {tp}", record.replicas, target, tp=tp)
    take_offline_all(k, tp, removing, out)
    tell_changes(k, [tp], out)
    _stop(k, tp, removing, out)
    if k.deletions:
        zk_topics.after_reassignment(k, out)


def resume_for(k: Controller, broker: int, out: Effects) -> None:
    """CP-ZK-BROKERS, start-up 5.  Go on with reassignments that wait for this broker."""
    for tp, record in list(k.records.items()):
        if record.reassigning and broker in reassignment.target_of(
            record.replicas, record.removing
        ):
            progress(k, tp, out)


def drop_moves_to_dead(k: Controller) -> None:
    """CP-REASSIGN-ZK, until 0.10.0.  Drop reassignments with a dead target at a fail-over.

    The replicas stay as they are, old and new
    (`KafkaController.initiateReassignReplicasForTopicPartition` at 0.10.0.1, KAFKA-4214).
    """
    for tp, record in list(k.records.items()):
        target = reassignment.target_of(record.replicas, record.removing)
        if record.reassigning and not all(is_live(k, broker) for broker in target):
            after = record.copy()
            after.adding = after.removing = ()
            k.records[tp] = after


def take_offline_all(k: Controller, tp: int, brokers: Ids, out: Effects) -> None:
    """7.6.  Run OfflineReplica for each: +1 leader epoch for every one in the ISR."""
    for broker in brokers:
        take_offline(k, broker, [tp], out)


def _stop(k: Controller, tp: int, brokers: Ids, out: Effects) -> None:
    """B4, B5.  Stop the replica and delete its data."""
    for broker in brokers:
        if broker in k.brokers:
            send_stop_replica(k, broker, [(tp, k.records[tp].leader_epoch, True)], out)


def _next_term(record: PartitionRecord) -> PartitionRecord:
    after = record.copy()
    after.leader_epoch += 1
    after.partition_epoch += 1
    return after
