"""Leader elections, and the one rule behind every partition change (control-plane, 3).

Only the controller elects.  There is no vote, and no logs are compared: the first acceptable
replica in AR order wins.  Everything here is a function from a record to a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from engine.controlplane import elr as elr_rules
from engine.controlplane import reassignment
from engine.model.declared import begins, declared
from engine.model.profiles import Profile
from engine.model.records import NO_LEADER, Ids, PartitionChange, PartitionRecord

Acceptable = Callable[[int], bool]

ONLINE: Final = 0
PREFERRED: Final = 1
UNCLEAN: Final = 2

OFFLINE: Final = 0
REASSIGN: Final = 1
PREFERRED_REPLICA: Final = 2
CONTROLLED_SHUTDOWN: Final = 3

PREFERRED_PER_PASS: Final = 1000


def new_partition(replicas: Ids, live: Acceptable) -> PartitionRecord | None:
    """CP-ELECT-NEW.  Return a record with all live replicas in sync, led by the first; or None.

    None if no replica is live: ZooKeeper then leaves the partition New until a broker starts; KRaft
    refuses to create it.
    """
    isr = tuple(r for r in replicas if live(r))
    if not isr:
        return None
    return PartitionRecord(replicas, isr, isr[0])


# -- ZooKeeper ------------------------------------------------------------------------------------


def choose_zk(
    strategy: int,
    assignment: Ids,
    isr: Ids,
    live: Acceptable,
    *,
    shutting_down: Iterable[int] = (),
    unclean: bool,
) -> tuple[int, bool]:
    """CP-ELECT-ZK.  Return (leader or -1, whether the choice is unclean), for each strategy.

    `assignment` is AR, or the target list for REASSIGN.  `live` includes brokers that are shutting
    down only for CONTROLLED_SHUTDOWN, the one strategy that looks at `shutting_down`.
    """
    leaving = tuple(shutting_down) if strategy == CONTROLLED_SHUTDOWN else ()
    candidates = assignment[:1] if strategy == PREFERRED_REPLICA else assignment
    for replica in candidates:
        if replica in isr and live(replica) and replica not in leaving:
            return replica, False
    if strategy == OFFLINE and unclean:
        for replica in assignment:
            if live(replica):
                return replica, True
    return NO_LEADER, False


def elect_zk(
    record: PartitionRecord,
    strategy: int,
    live: Acceptable,
    *,
    target: Ids | None = None,
    shutting_down: Iterable[int] = (),
    unclean: bool = False,
    leader_recovery_state: bool = True,
) -> PartitionChange:
    """CP-ELECT-ZK.  Return the record after the election; unchanged without a candidate.

    `target` is the list REASSIGN elects from.  `leader_recovery_state` is KIP-704's flag, 3.2.
    """
    leaving = tuple(shutting_down)
    leader, was_unclean = choose_zk(
        strategy,
        record.replicas if target is None else target,
        record.isr,
        live,
        shutting_down=leaving,
        unclean=unclean,
    )
    if leader == NO_LEADER:
        return PartitionChange(record, False)
    after = _next_epochs(record, leader)
    if was_unclean:
        after.isr = (leader,)
        after.recovering = leader_recovery_state
    elif strategy == OFFLINE:
        after.isr = tuple(r for r in record.isr if live(r))
    elif strategy == CONTROLLED_SHUTDOWN:
        after.isr = tuple(r for r in record.isr if r not in leaving)
    return PartitionChange(after, True, was_unclean)


def offline_replica_zk(
    record: PartitionRecord, replica: int, *, keeps_last: bool = True
) -> PartitionChange:
    """7.6, OfflineReplica.  Take a dead or leaving replica out of the ISR.

    The last member stays, so that it can be found again as a clean leader.  `keeps_last` false
    (until 1.0, where unclean election is allowed): it leaves too, since any replica may lead then.

    The leader epoch is raised even if the leader remains: in ZooKeeper clusters a follower's death
    makes the other followers restart their fetchers.
    """
    if replica not in record.isr or record.leader_epoch < 0:  # below 0: a partition without a state
        return PartitionChange(record, False)
    after = _next_epochs(record, NO_LEADER if replica == record.leader else record.leader)
    if len(record.isr) > 1 or not keeps_last:
        after.isr = tuple(r for r in record.isr if r != replica)
    return PartitionChange(after, True)


def _next_epochs(record: PartitionRecord, leader: int) -> PartitionRecord:
    after = record.copy()
    after.leader = leader
    after.leader_epoch += 1
    after.partition_epoch += 1
    return after


# -- KRaft ----------------------------------------------------------------------------------------


def choose_kr(
    election: int,
    current_leader: int,
    replicas: Ids,
    isr: Ids,
    elr: Ids,
    acceptable: Acceptable,
    last_known: int = NO_LEADER,
    last_leader_unchecked: bool = False,
) -> tuple[int, bool]:
    """CP-ELECT-KR 3.  Return (leader or -1, whether the choice is unclean).

    A leader that is still valid is kept, unless the preferred one was asked for.  `last_known` is
    the last known leader if its rule applies (CP-ELR 6.5), else -1; in 4.0.0 it is taken whether
    it is active or not (KAFKA-19522).
    """
    pool = isr or elr
    if election == PREFERRED and replicas[0] in pool and acceptable(replicas[0]):
        return replicas[0], False
    if current_leader in pool and acceptable(current_leader):
        return current_leader, False
    for replica in replicas:
        if replica in pool and acceptable(replica):
            return replica, False
    if last_known != NO_LEADER and (last_leader_unchecked or acceptable(last_known)):
        return last_known, True
    if election == UNCLEAN:
        for replica in replicas:
            if acceptable(replica):
                return replica, True
    return NO_LEADER, False


@declared
class Target:
    """Values that a partition change is to set; None: as they are.

    `unclean_shutdown`: replicas that may have lost their unflushed tail.
    """

    isr: Ids | None = None
    replicas: Ids | None = None
    adding: Ids | None = None
    removing: Ids | None = None
    recovering: bool | None = None
    unclean_shutdown: Ids = ()


@declared
class _Refined:
    """Target of a partition change, refined step by step."""

    replicas: Ids
    isr: Ids
    adding: Ids
    removing: Ids
    elr: Ids = begins(())
    known: Ids = begins(())


def change_partition(
    record: PartitionRecord,
    profile: Profile,
    request: Target,
    *,
    acceptable: Acceptable,
    min_isr: int,
    elr: bool,
    last_known_leader: bool,
    election: int = ONLINE,
) -> PartitionChange:
    """CP-ELECT-KR.  Build every partition change of the KRaft controller.

    `acceptable(b)`: b is active and its log directory online.  `last_known_leader`: the rule of
    CP-ELR 6.5 applies.  A leader that is set, even to the same broker, starts a new leader epoch;
    any change a new partition epoch.
    """
    target = _complete_reassignment(record, profile, request)
    last_known = NO_LEADER
    if elr:
        target.elr, target.known = elr_rules.maintain(
            record, target.isr, target.replicas, min_isr, request.unclean_shutdown
        )
        if last_known_leader:
            last_known = elr_rules.last_known_leader(
                record, target.isr, target.elr, target.replicas
            )
    choice = (election, record.leader, target.replicas, target.isr, target.elr)
    leader, unclean = choose_kr(*choice, acceptable, last_known, profile.last_leader_unchecked)
    after = record.copy()
    new_term = leader != record.leader
    isr: Ids | None = None  # not written yet
    after.leader = leader
    if new_term and unclean:
        isr = (leader,)
        after.recovering = after.recovering or profile.leader_recovery_state
        target.elr = target.known = ()
    elif new_term and leader in target.elr:
        target.isr = (leader,)
        target.elr = tuple(r for r in target.elr if r != leader)
    # A replica that leaves must be sent a new term, lest it keeps fetching or leading.
    new_term = new_term or any(r not in target.replicas for r in record.replicas)
    after.elr = target.elr
    # Without ELR the ISR never becomes empty: its last member is the only clean candidate.
    if isr is None and target.isr != record.isr and (target.isr or elr):
        isr = target.isr
    if isr is not None:
        after.isr = isr
    if profile.shrink_bumps_leader_epoch:  # also by an empty ISR that is not written
        new_term = new_term or any(r not in target.isr for r in record.isr)
    if last_known_leader and elr:
        after.last_known_elr = elr_rules.remember_last_leader(record, leader, isr)
    elif not last_known_leader:
        after.last_known_elr = target.known
    after.replicas, after.adding, after.removing = target.replicas, target.adding, target.removing
    if request.recovering not in (None, record.recovering):
        after.recovering = not record.recovering
    return _replay(record, after, new_term, unclean)


def _complete_reassignment(record: PartitionRecord, profile: Profile, request: Target) -> _Refined:
    """CP-ELECT-KR 1.  Return the wanted values, with the reassignment finished if they allow it."""
    target = _Refined(
        record.replicas if request.replicas is None else request.replicas,
        record.isr if request.isr is None else request.isr,
        record.adding if request.adding is None else request.adding,
        record.removing if request.removing is None else request.removing,
    )
    final = reassignment.complete(
        target.replicas,
        target.adding,
        target.removing,
        target.isr,
        needs_all_targets=profile.reassign_needs_all_targets,
        spares_out_of_sync=profile.reassign_spares_out_of_sync,
    )
    if final is not None:
        target.replicas, target.isr = final
        target.adding = target.removing = ()
    return target


def _replay(
    record: PartitionRecord, after: PartitionRecord, new_term: bool, unclean: bool
) -> PartitionChange:
    """CP-ELECT-KR 10.  Raise the epochs as replaying the record would; no change, no record."""
    if not new_term and after.key() == record.key():
        return PartitionChange(record, False)
    if new_term:
        after.leader_epoch += 1
    after.partition_epoch += 1
    return PartitionChange(after, True, unclean)


# -- preferred leaders ----------------------------------------------------------------------------


def imbalanced(record: PartitionRecord) -> bool:
    """CP-PREFERRED.  Check for a leader other than AR[0], KRaft's only condition."""
    return record.leader != record.replicas[0]


def preferred_candidates_zk(
    records: Iterable[tuple[int, PartitionRecord]], live: Acceptable, percentage: int
) -> list[int]:
    """CP-PREFERRED, ZK.  Return partitions to re-elect, by preferred broker then number.

    `percentage` is leader.imbalance.per.broker.percentage: a broker counts only if the share of its
    preferred partitions that it does not lead is larger.
    """
    of_broker: dict[int, list[tuple[int, PartitionRecord]]] = {}
    for partition, record in records:
        of_broker.setdefault(record.replicas[0], []).append((partition, record))
    chosen: list[int] = []
    for broker in sorted(of_broker):
        preferred = of_broker[broker]
        away = [(p, r) for p, r in preferred if r.leader != broker]
        if live(broker) and len(away) * 100 > len(preferred) * percentage:
            chosen += [p for p, r in away if broker in r.isr]
    return chosen


def preferred_candidates_kr(records: Iterable[tuple[int, PartitionRecord]]) -> list[int]:
    """CP-PREFERRED, KRaft.  Return the partitions of this pass."""
    partitions = [partition for partition, record in records if imbalanced(record)]
    return partitions[:PREFERRED_PER_PASS]
