"""The rules that differ between the generations, each as a function of two replicas.

`leader` is the one that is taken for the leader, `follower` the one that follows or should.  A rule
looks at nothing else: that is why its answers can be kept in tables by pairs (`partition.py`).
"""

from __future__ import annotations

from engine.ladder.state import AbstractReplica, ReplicaLog

Cut = tuple[ReplicaLog, int]
"""Result of a truncation: the log and the high watermark."""

# -- what one replica can say of another ----------------------------------------------------------


def follows(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    """Check that both take the leader for it, whatever epoch each has heard of."""
    return leader.leader == leader.me == follower.leader


def same_epoch(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    """Check the fence of KIP-320: both take the leader for it, in the same epoch."""
    return follows(leader, follower) and follower.epoch == leader.epoch


def caught_up(leader: AbstractReplica, follower: AbstractReplica, n: int) -> bool:
    """Check whether the follower follows this leader, and both logs hold n records at least."""
    return follower.leader == leader.me and (n == 0 or (leader.has(n - 1) and follower.has(n - 1)))


def caught_up_by_epoch(leader: AbstractReplica, follower: AbstractReplica, n: int) -> bool:
    """Check `caught_up`, and that the records just below n are of one epoch."""
    if not follows(leader, follower):
        return False
    return n == 0 or (
        leader.has(n - 1) and follower.has(n - 1) and leader.log[n - 1][1] == follower.log[n - 1][1]
    )


def epoch_start_reached(leader: AbstractReplica) -> bool:
    """Check whether the high watermark lies in the leader's own epoch, or at the end of its log."""
    return leader.hw == leader.end or (
        leader.has(leader.hw) and leader.log[leader.hw][1] == leader.epoch
    )


def matching_end(leader: AbstractReplica, follower: AbstractReplica) -> int:
    """Return the greatest offset at which both hold the same record, plus one; or 0."""
    for offset in range(min(leader.end, follower.end) - 1, -1, -1):
        if leader.log[offset] == follower.log[offset]:
            return offset + 1
    return 0


# -- becomes-follower: every way to truncate, with what is left -----------------------------------


def cut_to(follower: AbstractReplica, offset: int) -> tuple[Cut, ...]:
    """Keep what is below `offset`; impossible beyond the end of the log."""
    if offset > follower.end:
        return ()
    return ((follower.log[:offset], min(offset, follower.hw)),)


def by_high_watermark(
    leader: AbstractReplica, follower: AbstractReplica, epoch: int
) -> tuple[Cut, ...]:
    """Until 0.10.2.  Truncate to the follower's own high watermark, without asking the leader."""
    return cut_to(follower, follower.hw)


def by_fenced_high_watermark(
    leader: AbstractReplica, follower: AbstractReplica, epoch: int
) -> tuple[Cut, ...]:
    return by_high_watermark(leader, follower, epoch) if fenced(leader, epoch) else ()


def end_of_last_epoch(leader: AbstractReplica, follower: AbstractReplica) -> int:
    """KIP-101.  Return where the epoch of the follower's last record ends in the leader's log.

    The follower's own high watermark if the leader cannot say.
    """
    if not follower.log:
        return 0
    if not leader.log:
        return follower.hw
    last = follower.log[-1][1]
    if leader.log[-1][1] == last:
        return leader.end
    later = (offset for offset, (_, epoch) in enumerate(leader.log) if epoch > last)
    return next(later, follower.hw)


def by_last_epoch(
    leader: AbstractReplica, follower: AbstractReplica, epoch: int
) -> tuple[Cut, ...]:
    """KIP-101.  Return the truncations; none where the answer lies beyond the follower's end."""
    return cut_to(follower, end_of_last_epoch(leader, follower))


def by_last_epoch_clamped(
    leader: AbstractReplica, follower: AbstractReplica, epoch: int
) -> tuple[Cut, ...]:
    return cut_to(follower, min(end_of_last_epoch(leader, follower), follower.end))


def by_matching_end(
    leader: AbstractReplica, follower: AbstractReplica, epoch: int
) -> tuple[Cut, ...]:
    """KIP-279.  Truncate to where both logs agree, whatever the peer takes itself for.

    An empty log may be cut in two ways that come to the same: for being empty, and by the rule.
    """
    ways = cut_to(follower, matching_end(leader, follower))
    return ways if follower.log else ways * 2


def fenced(leader: AbstractReplica, epoch: int) -> bool:
    """Check whether the replica leads, in the very epoch of the announcement."""
    return leader.presumes and leader.epoch == epoch


def by_fenced_matching_end(
    leader: AbstractReplica, follower: AbstractReplica, epoch: int
) -> tuple[Cut, ...]:
    """KIP-320.  Truncate to where both logs agree, if the peer leads in this epoch."""
    return cut_to(follower, matching_end(leader, follower)) if fenced(leader, epoch) else ()


def not_at_all(leader: AbstractReplica, follower: AbstractReplica, epoch: int) -> tuple[Cut, ...]:
    return ((follower.log, follower.hw),)


def fenced_but_not_at_all(
    leader: AbstractReplica, follower: AbstractReplica, epoch: int
) -> tuple[Cut, ...]:
    return not_at_all(leader, follower, epoch) if fenced(leader, epoch) else ()


def diverges(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    """Check whether the follower's last record differs from the leader's (KIP-320, first try)."""
    if not follows(leader, follower):
        return False
    last = follower.end - 1
    return follower.end > leader.end or (
        last >= 0 and leader.has(last) and leader.log[last][1] != follower.log[last][1]
    )


# -- fetches --------------------------------------------------------------------------------------


def fetch_is_served(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    return follows(leader, follower)


def fetch_is_served_by_epoch(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    return caught_up_by_epoch(leader, follower, follower.end)


def fetch_is_served_fenced(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    return same_epoch(leader, follower)


# -- advances-hw: does this member of the leader's in-sync set allow the next offset? --------------


def has_next(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    return follower.leader == leader.me and leader.hw < follower.end


def has_next_by_epoch(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    return caught_up_by_epoch(leader, follower, leader.hw + 1) and leader.hw < leader.end


def has_next_fenced(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    return same_epoch(leader, follower) and leader.hw < follower.end and leader.hw < leader.end


# -- the leader changes the in-sync set: in how many ways is the guard true? -----------------------


def lags(leader: AbstractReplica, follower: AbstractReplica) -> int:
    return int(not caught_up(leader, follower, leader.end))


def lags_by_epoch(leader: AbstractReplica, follower: AbstractReplica) -> int:
    return int(not caught_up_by_epoch(leader, follower, leader.end))


def lags_fenced(leader: AbstractReplica, follower: AbstractReplica) -> int:
    """Return two guards as counts: not heard of in this epoch, or short of the end."""
    return (not same_epoch(leader, follower)) + (follower.end < leader.end)


def reaches_hw(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    return caught_up(leader, follower, leader.hw)


def reaches_hw_by_epoch(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    return caught_up_by_epoch(leader, follower, leader.hw) and epoch_start_reached(leader)


def reaches_hw_fenced(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    return reaches_hw_of_any_epoch(leader, follower) and epoch_start_reached(leader)


def reaches_hw_of_any_epoch(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    """Check `reaches_hw_fenced` without the start of the epoch."""
    return same_epoch(leader, follower) and (leader.hw == 0 or follower.has(leader.hw - 1))


def is_heard(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    """Check `reaches_hw_fenced` without the high watermark."""
    return same_epoch(leader, follower) and epoch_start_reached(leader)
