"""A broker learns its role in a partition (control-plane 5.6, 5.7; data-plane H-8, F-2)."""

from __future__ import annotations

from engine.dataplane import directories, fetcher, futures, tiering, truncation
from engine.dataplane.insync import drop_pending, reset_follower_clocks
from engine.dataplane.purgatory import after_hw, parked_on, role_lost
from engine.dataplane.recovery import open_replica
from engine.dataplane.watermark import maybe_increment_hw
from engine.model.broker import Machine, Process
from engine.model.effects import Effects
from engine.model.log import empty_log
from engine.model.profiles import HW
from engine.model.records import Ids, PartitionRecord
from engine.model.state import FOLLOWER, LEADER, NONE, Disk, RemoteReplica, Replica


def new_disk(machine: Machine, directory: int = 0) -> Disk:
    """Return an empty replica directory, with the log rules of the generation; 0: one of few."""
    log = empty_log(machine.profile)
    return Disk(log, directory or directories.least_used(machine))


def ensure_log(broker: Process, tp: int, out: Effects) -> Replica:
    """CP 0.6.  Return the replica; its log is created or loaded on its first role."""
    replica = broker.replicas.get(tp)
    if replica is None:
        disk = broker.machine.disks.get(tp)
        if disk is None:
            disk = new_disk(broker.machine, broker.preferred_dirs.pop(tp, 0))
            broker.machine.disks[tp] = disk
            directories.assign(broker, tp, disk.dir, out)
        replica = broker.replicas[tp] = open_replica(broker, tp, disk, out)
        replica.opened = broker.opened
        broker.opened += 1
    return replica


def apply_record(broker: Process, tp: int, record: PartitionRecord, out: Effects) -> None:
    """Become what the record says this broker is: leader, follower, or nothing."""
    if record.leader == broker.id:
        make_leader(broker, tp, record, out)
    else:
        make_follower(broker, tp, record, out)


def make_leader(broker: Process, tp: int, record: PartitionRecord, out: Effects) -> bool:
    """CP-MAKE-LEADER, H-8.  Make this broker the leader; True if it was not before.

    A new leader neither truncates nor resets its high watermark, which may lag its predecessor's
    (H-9).  From 2.7 to 2.8 an ISR proposal that is not answered yet makes room for another one,
    which its answer then removes (`AlterIsrManager.clearPending` at 2.8.2, KAFKA-12686).
    """
    fetcher.remove_partition(broker, tp)
    replica = ensure_log(broker, tp, out)
    if record.partition_epoch < replica.partition_epoch:
        return False
    was_leader = replica.role == LEADER
    replica.assignment = _known_replicas(replica, record)
    replica.adding, replica.removing = record.adding, record.removing
    replica.isr = record.isr
    drop_pending(replica)
    if replica.profile.lost_proposal_stays:
        broker.alter_queue.pop(tp, None)
    _track_followers(replica, record)
    new_epoch = record.leader_epoch > replica.leader_epoch
    was_known = replica.leader_epoch >= 0
    if new_epoch:
        log = replica.log
        replica.epoch_start = log.leo
        if replica.profile.epoch_entry_at_election:
            log.epochs.assign(record.leader_epoch, log.leo)
        keeps_positions = was_leader and not replica.profile.second_term_forgets
        reset_follower_clocks(replica, keeps_positions, out.now)
        if not was_leader and replica.profile.mark_outside_is_unknown:
            _lose_mark_outside(replica, out)
        out.cue(
            "CP-MAKE-LEADER",
            broker.id,
            "epoch",
            replica.leader_epoch,
            record.leader_epoch,
            tp=replica.tp,
        )
        replica.leader_epoch = record.leader_epoch
    replica.partition_epoch = record.partition_epoch
    replica.leader = broker.id
    replica.role = LEADER
    out.touch(broker.id, replica.tp)
    if new_epoch:
        futures.restart(broker, replica, was_known, out)
        tiering.begin(broker, replica, out)
    if maybe_increment_hw(broker, replica, out):
        after_hw(broker, replica, out)
    return not was_leader


def _lose_mark_outside(replica: Replica, out: Effects) -> None:
    """H-8.  Set the mark of a new leader to -1 if it was read from a checkpoint below the log.

    `Replica.convertHWToLocalOffsetMetadata` at 1.0.1 (KAFKA-3978).
    """
    log = replica.log
    if replica.disk.hw_checkpoint < log.log_start == log.hw:
        out.cue("H-4", replica.broker, "hw", log.hw, -1, tp=replica.tp)
        log.hw = -1


def _known_replicas(replica: Replica, record: PartitionRecord) -> Ids:
    """5.6.  Return the assignment; in 0.8.0 a removed replica stays in it.

    `Partition.makeLeader` only ever adds replicas there (KAFKA-1097).
    """
    if not replica.profile.keeps_removed_replicas:
        return record.replicas
    return tuple(dict.fromkeys(replica.assignment + record.replicas))


def _track_followers(replica: Replica, record: PartitionRecord) -> None:
    """CP-MAKE-LEADER 3.  Add the new replicas to the table of followers; drop the removed."""
    for follower in list(replica.remote):
        if follower not in replica.assignment:
            del replica.remote[follower]
    for follower in record.replicas:
        if follower != replica.broker and follower not in replica.remote:
            replica.remote[follower] = RemoteReplica()


def make_follower(broker: Process, tp: int, record: PartitionRecord, out: Effects) -> bool:
    """CP-MAKE-FOLLOWER.  Return True if the leader epoch advanced, so that fetching restarts.

    A KRaft broker in controlled shutdown makes no follower before 3.3.2
    (`ReplicaManager.applyLocalFollowersDelta` at 3.3.1, KAFKA-14296); one of the ZooKeeper era
    looks at no waiting request before 0.10 (`ReplicaManager.makeFollowers` at 0.9.0.1, KAFKA-2960).
    """
    replica = ensure_log(broker, tp, out)
    if broker.shutting_down and replica.profile.leaving_leader_stays:
        return False
    if not _leader_is_known(broker, record.leader):
        return False  # ZooKeeper era: the transition is given up, the log exists all the same
    if record.partition_epoch < replica.partition_epoch:
        return False
    was_leader, old_leader, old_epoch = replica.role == LEADER, replica.leader, replica.leader_epoch
    replica.leader = record.leader
    replica.leader_epoch = max(old_epoch, record.leader_epoch)
    replica.partition_epoch = record.partition_epoch
    replica.assignment = _known_replicas(replica, record)
    replica.epoch_start = -1
    replica.isr = replica.maximal_isr = ()
    drop_pending(replica)
    if was_leader and replica.profile.follower_redirects:
        replica.former = tuple((f, r.leo, r.log_start) for f, r in replica.remote.items())
    replica.remote = {}
    replica.role = FOLLOWER
    out.touch(broker.id, tp)
    if record.leader_epoch <= old_epoch:
        return False
    out.cue("CP-MAKE-FOLLOWER", broker.id, "epoch", old_epoch, record.leader_epoch, tp=replica.tp)
    if not replica.profile.waiting_outlives_leading and (was_leader or parked_on(broker, tp)):
        role_lost(broker, replica, out)
    restarts = _reconciles(broker, replica, old_leader, old_epoch)
    if restarts and replica.profile.truncation == HW and record.leader >= 0:
        truncation.to_high_watermark(replica, out)  # one that shuts down cuts, too: no fetcher does
    if broker.shutting_down and broker.id not in record.isr:
        fetcher.remove_partition(broker, tp)
    elif restarts:
        fetcher.start_fetching(broker, replica, out)
    futures.restart(broker, replica, old_epoch >= 0, out)
    tiering.begin(broker, replica, out)
    return True


def _leader_is_known(broker: Process, leader: int) -> bool:
    """CP-MAKE-FOLLOWER 1.  Check that the new leader is alive, as the ZooKeeper era requires."""
    if broker.profile.mode != "zk":
        return True
    peer = broker.peers.get(leader)
    return peer is not None and peer.alive


def _reconciles(broker: Process, replica: Replica, old_leader: int, old_epoch: int) -> bool:
    """F-2.  Check whether this epoch restarts the fetcher, and so the comparison of the logs.

    Always from 2.1; in 2.0.1 also when an epoch of the same leader was missed (KAFKA-7164); before,
    only when the leader's id changed.
    """
    profile = replica.profile
    if replica.leader != old_leader or profile.refetch_on_new_epoch:
        return True
    if profile.refetch_on_missed_epoch and replica.leader_epoch - old_epoch >= 2:
        return True
    thread = fetcher.thread_of(broker, replica.tp)
    if thread is None:
        return True
    thread.partitions[replica.tp].leader_epoch = replica.leader_epoch
    return False


def mark_offline(broker: Process, tp: int, out: Effects) -> None:
    """L-16, 8.4.  Mark a replica of a failed log directory unusable until a restart."""
    fetcher.remove_partition(broker, tp)
    broker.offline.add(tp)
    broker.alter_queue.pop(tp, None)
    broker.machine.futures.pop(tp, None)
    replica = broker.replicas.pop(tp, None)
    out.cue("L-16", broker.id, "offline", None, tp, tp=tp)
    if replica is not None:
        replica.role = NONE
        role_lost(broker, replica, out)


def stop_replica(broker: Process, tp: int, delete: bool, out: Effects) -> None:
    """CP 5.3.  Stop fetching; with `delete` remove the log, else keep it without a role."""
    fetcher.remove_partition(broker, tp)
    broker.failed.discard(tp)
    replica = broker.replicas.get(tp)
    if replica is not None:
        was_leader, replica.role = replica.role == LEADER, NONE
        out.touch(broker.id, tp)
        if was_leader or parked_on(broker, tp):
            role_lost(broker, replica, out)
    out.cue("CP-STOP-REPLICA", broker.id, "delete", None, delete, tp=tp)
    if delete:
        broker.replicas.pop(tp, None)
        broker.machine.disks.pop(tp, None)
        broker.machine.futures.pop(tp, None)
