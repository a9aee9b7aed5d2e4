"""The high watermark (data-plane specification, H-)."""

from __future__ import annotations

from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.state import RemoteReplica, Replica


def eligible(broker: Process, follower: int, remote: RemoteReplica) -> bool:
    """H-2.  Check whether this follower may join the ISR, as far as this broker knows.

    KRaft: neither fenced nor in controlled shutdown, and from 3.5 on (KIP-903) it has fetched from
    this leader with the registered broker epoch, or with -1, which old followers send.  A follower
    that has not fetched from this leader yet has no epoch here and is not eligible
    (`Partition.isBrokerEpochIsrEligible`, `Replica.resetReplicaState` at 3.6.2).  ZooKeeper: alive.
    """
    peer = broker.peers.get(follower)
    if peer is None:
        return False
    if broker.profile.mode == "zk":
        return peer.alive
    if peer.fenced or peer.shutting_down:
        return False
    if not broker.profile.isr_broker_epoch:
        return True
    return remote.leo >= 0 and remote.broker_epoch in (-1, peer.broker_epoch)


def caught_up(remote: RemoteReplica, leader_leo: int, now: int, lag_time_max_ms: int) -> bool:
    """H-2.  Check for a follower at the leader's end, or at a former end within the lag time."""
    return remote.leo == leader_leo or now - remote.last_caught_up_ms <= lag_time_max_ms


def waits_for(broker: Process, replica: Replica, now: int) -> list[int]:
    """H-2.  Return the followers that count for the high watermark."""
    isr = replica.maximal_isr
    return [
        follower
        for follower, remote in replica.remote.items()
        if follower in isr or _counts_outside_isr(broker, replica, follower, remote, now)
    ]


def is_frozen(replica: Replica) -> bool:
    """H-2, CP-MINISR, from 3.7 (KAFKA-15583).  Check whether the ISR is too small to commit."""
    return replica.profile.strict_min_isr and len(replica.isr) < replica.min_isr()


def maybe_increment_hw(broker: Process, replica: Replica, out: Effects) -> bool:
    """H-2, H-3.  Raise the leader's high watermark; True if it moved.

    min over the leader, the maximal ISR and the caught-up (from 3.6: eligible) others.  From 3.7
    (KAFKA-15583) nothing moves while the committed ISR is below the effective min.insync.replicas.
    """
    log = replica.log
    old, candidate = log.hw, log.leo
    if candidate <= old:
        return False
    isr = replica.maximal_isr
    for follower, remote in replica.remote.items():
        leo = remote.leo
        if leo < candidate and (
            follower in isr or _counts_outside_isr(broker, replica, follower, remote, out.now)
        ):
            candidate = leo
            if leo <= old:
                return False
    if is_frozen(replica):
        out.cue("H-2.min_isr", broker.id, "hw", old, candidate, tp=replica.tp)
        return False
    log.hw = candidate
    replica.unsettle()
    out.touch(broker.id, replica.tp)
    if out.cues is not None:
        out.cue("H-2", broker.id, "hw", old, candidate, tp=replica.tp)
    return True


def _counts_outside_isr(
    broker: Process, replica: Replica, follower: int, remote: RemoteReplica, now: int
) -> bool:
    profile = replica.profile
    return (
        profile.hw_waits_for_caughtup
        and caught_up(remote, replica.log.leo, now, replica.configs.lag_time_max_ms)
        and (not profile.hw_waits_only_for_eligible or eligible(broker, follower, remote))
    )


def short_of(broker: Process, replica: Replica, target: int, now: int) -> list[int]:
    """H-2.  Return the followers that count and are not known to have everything below `target`."""
    return [
        follower
        for follower in waits_for(broker, replica, now)
        if replica.remote[follower].leo < target
    ]


def blocked_by(broker: Process, replica: Replica, now: int) -> list[int]:
    """Return the replicas whose known end keeps the high watermark where it is."""
    log = replica.log
    return [] if log.hw >= log.leo else short_of(broker, replica, log.hw + 1, now)


def follow(replica: Replica, leader_hw: int, out: Effects) -> bool:
    """H-4, H-9.  Take the leader's high watermark, bounded by the own log; it may go down."""
    log = replica.log
    hw = min(leader_hw, log.leo)
    if hw < log.log_start and log.clamps_hw:
        hw = log.log_start
    if hw == log.hw:
        return False
    old, log.hw = log.hw, hw
    out.touch(replica.broker, replica.tp)
    if out.cues is not None:
        out.cue("H-4", replica.broker, "hw", old, hw, tp=replica.tp)
    return True


def checkpoint(broker: Process, out: Effects) -> None:
    """H-7.  Write every online log's HW, bounded by its end (highwatermark-checkpoint)."""
    for tp, replica in broker.replicas.items():
        disk = replica.disk
        if disk.hw_checkpoint != disk.log.hw:
            out.cue("H-7", broker.id, f"{tp}.hw_checkpoint", disk.hw_checkpoint, disk.log.hw, tp=tp)
            disk.hw_checkpoint = disk.log.hw
    for move in broker.machine.futures.values():  # D-4: in the checkpoint of its own directory
        move.disk.hw_checkpoint = move.disk.log.hw
