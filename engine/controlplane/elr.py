"""Eligible leader replicas, KIP-966 (control-plane specification, 6.4 - 6.6)."""

from __future__ import annotations

from engine.model.records import NO_LEADER, Ids, PartitionRecord


def maintain(
    record: PartitionRecord,
    target_isr: Ids,
    target_replicas: Ids,
    min_isr: int,
    unclean_shutdown: Ids,
) -> tuple[Ids, Ids]:
    """CP-ELR 6.4.  Return the (ELR, last known ELR) that go with `target_isr`.

    While the ISR is smaller than min ISR the high watermark cannot move, so a replica that leaves
    the ISR from then on keeps every committed record and stays eligible.  Once the ISR is large
    enough again the high watermark moves on and the guarantee ends for every replica outside.
    """
    if len(target_isr) >= min(min_isr, len(target_replicas)):
        return (), ()
    left = {r for r in record.elr + record.isr if r not in target_isr and r in target_replicas}
    elr = left.difference(unclean_shutdown)
    before = (r for r in record.last_known_elr if r not in target_isr and r in target_replicas)
    candidates = left.union(before)
    return tuple(sorted(elr)), tuple(sorted(candidates - elr))


def last_known_leader(
    record: PartitionRecord, target_isr: Ids, target_elr: Ids, target_replicas: Ids
) -> int:
    """CP-ELR 6.5.  Return the last leader of an ISR that became empty, or -1.

    It is -1 if a better candidate is left.  The caller checks whether the rule is active:
    KAFKA-19522 was a missing check.
    """
    leaders = record.last_known_elr
    if target_isr or target_elr or len(leaders) != 1 or leaders[0] not in target_replicas:
        return NO_LEADER
    return leaders[0]


def remember_last_leader(record: PartitionRecord, new_leader: int, isr: Ids | None) -> Ids:
    """CP-ELR 6.5.  Return last_known_elr where it stores only the last leader.

    `isr` is the new ISR if the change writes one.  The leader is remembered when the partition
    becomes leaderless with an empty ISR, and forgotten when there is a leader again.
    """
    if isr is not None and not isr and record.leader != NO_LEADER:
        return (record.leader,)
    if new_leader != NO_LEADER:
        return ()
    return record.last_known_elr


def cleared(record: PartitionRecord) -> PartitionRecord:
    """CP-ELR 6.4, ClearElr.  Return the record without ELRs.

    min.insync.replicas changed or the feature went off: no replica outside the ISR is eligible any
    more.  It is no change of the partition: both epochs stay.
    """
    if not record.elr and not record.last_known_elr:
        return record
    after = record.copy()
    after.elr = after.last_known_elr = ()
    return after


def shutdown_was_clean(stored_broker_epoch: int, previous_broker_epoch: int) -> bool:
    """CP-CLEAN-SHUTDOWN 6.6.  Check whether the broker's previous incarnation ended cleanly.

    A new incarnation proves it by the epoch in its marker files; -1, which is no broker's epoch,
    when any directory lacks one.
    """
    return previous_broker_epoch == stored_broker_epoch


def effective_min_isr(min_isr: int, replication_factor: int) -> int:
    """CP-MINISR 4.8.  Bound min.insync.replicas by the number of replicas."""
    return min(min_isr, replication_factor)
