"""Wrong beliefs about replication, each as a rule that can be run.

A rule answers like a person with the belief in its docstring; None where the belief says nothing.
None of them can see what comes: they know the moment before and what arrives.
"""

from __future__ import annotations

from typing import Final

from engine.learn.question_context import NOBODY, Answer, QuestionContext, in_order
from engine.model.messages import FETCH, FetchResponse, ProduceRequest

LAG_IN_RECORDS: Final = 4_000
"""replica.lag.max.messages of Kafka 0.8, by default."""


# -- the high watermark ---------------------------------------------------------------------------


def _leads(context: QuestionContext) -> bool:
    return context.leader is not None and context.leader.broker == context.who


def hw_of_all(context: QuestionContext) -> Answer | None:
    """Answer as if the mark were the smallest end of all replicas, even dead or out of sync."""
    return min(one.leo for one in context.part.replicas.values()) if _leads(context) else None


def hw_of_majority(context: QuestionContext) -> Answer | None:
    """Answer as if the mark were the offset that a majority has, as in Raft."""
    if not _leads(context):
        return None
    ends = sorted((replica.leo for replica in context.part.replicas.values()), reverse=True)
    return ends[len(ends) // 2]


def hw_same_trip(context: QuestionContext) -> Answer | None:
    """Answer as if the mark moved in the round trip that carries the record."""
    if not _leads(context):
        return None
    return min(context.part.replicas[one].leo for one in context.part.record.isr)


def hw_is_leo(context: QuestionContext) -> Answer | None:
    """Answer as if the leader's write were committed."""
    return context.mine.leo if _leads(context) else None


def hw_needs_ack(context: QuestionContext) -> Answer | None:
    """Answer as if followers acknowledged each record, and a fetch request acknowledged nothing."""
    fetch = context.what is not None and context.what.kind == FETCH
    return context.mine.hw if _leads(context) and fetch else None


def hw_is_pushed(context: QuestionContext) -> Answer | None:
    """Answer as if a follower had the leader's mark at the moment the leader has it."""
    if _leads(context) or context.leader is None:
        return None
    return context.leader.hw


def hw_is_own_leo(context: QuestionContext) -> Answer | None:
    """Answer as if a follower's mark were the end of its own log."""
    return None if _leads(context) else context.mine.leo + _brought(context)


def hw_stays_below(context: QuestionContext) -> Answer | None:
    """Answer as if a follower's mark moved only when the leader sends it in a separate message."""
    return None if _leads(context) else context.mine.hw


# -- the end of a log -----------------------------------------------------------------------------


def _brought(context: QuestionContext) -> int:
    """Count the records for this partition in the arriving response."""
    if not isinstance(context.what, FetchResponse):
        return 0
    here = [partition for partition in context.what.partitions if partition.tp == context.tp]
    return sum(len(batch.values) for partition in here for batch in partition.batches)


def leo_of_committed(context: QuestionContext) -> Answer | None:
    """Answer as if a follower stored only committed records."""
    if context.leader is None or _leads(context):
        return None
    return max(context.mine.leo, min(context.leader.hw, context.leader.leo))


def leo_one_by_one(context: QuestionContext) -> Answer | None:
    """Answer as if a fetch carried one record."""
    return context.mine.leo + 1 if _brought(context) else None


def leo_as_leader(context: QuestionContext) -> Answer | None:
    """Answer as if the leader pushed records: a follower's log is as long as the leader's."""
    return context.leader.leo if context.leader is not None and not _leads(context) else None


def leo_waits(context: QuestionContext) -> Answer | None:
    """Answer as if the log grew only when the record is confirmed."""
    return context.mine.leo


# -- truncation -----------------------------------------------------------------------------------


def cut_to_hw(context: QuestionContext) -> Answer | None:
    """Answer as if a returning follower cut its log to its own high watermark."""
    return min(context.mine.hw, context.mine.leo)


def cut_never(context: QuestionContext) -> Answer | None:
    """Answer as if a written log were never cut, and the leader adapted to it."""
    return context.mine.leo


def cut_to_leader_end(context: QuestionContext) -> Answer | None:
    """Cut what is longer than the leader's log: lengths are compared, not histories."""
    return min(context.mine.leo, context.leader.leo) if context.leader is not None else None


def cut_whole_epoch(context: QuestionContext) -> Answer | None:
    """Answer as if all of the last leader epoch were thrown away."""
    return context.mine.epochs[-1][1] if context.mine.epochs else None


def cut_to_leader_hw(context: QuestionContext) -> Answer | None:
    """Cut to the leader's high watermark."""
    return min(context.mine.leo, context.leader.hw) if context.leader is not None else None


def cut_all(context: QuestionContext) -> Answer | None:
    """Answer as if the copy were thrown away and copied again from the beginning."""
    return context.mine.start


# -- elections ------------------------------------------------------------------------------------


def _electable(context: QuestionContext) -> list[int]:
    """Return the alive replicas except the leader that is being replaced, in assignment order."""
    gone = context.part.record.leader
    return [one.broker for one in context.alive if one.broker != gone]


def elect_knowing(context: QuestionContext) -> Answer | None:
    """Answer as if the controller knew at once which brokers are dead, and never elected one."""
    able = _electable(context)
    members = [
        replica for replica in context.part.record.isr if replica != context.part.record.leader
    ]
    if set(members) <= set(able):
        return None
    return next((replica for replica in able if replica in members), NOBODY)


def elect_longest(context: QuestionContext) -> Answer | None:
    """Answer as if the replica with the longest log led."""
    logs = context.part.replicas
    able = _electable(context)
    return max(able, key=lambda one: logs[one].leo) if able else None


def elect_by_vote(context: QuestionContext) -> Answer | None:
    """Answer as if the replicas voted, and there were no leader without a majority of them."""
    able = _electable(context)
    if 2 * len(able) <= len(context.part.replicas):
        return NOBODY
    logs = context.part.replicas
    return max(able, key=lambda replica: (logs[replica].epochs[-1:], logs[replica].leo))


def elect_any_alive(context: QuestionContext) -> Answer | None:
    """Answer as if the first replica that is alive led, in the ISR or not."""
    able = _electable(context)
    return able[0] if able else None


def elect_last_in_isr(context: QuestionContext) -> Answer | None:
    """Answer as if the last replica in the list of the ISR took over."""
    able = [one for one in _electable(context) if one in context.part.record.isr]
    return able[-1] if able else None


def elect_nobody(context: QuestionContext) -> Answer | None:
    """Answer as if the leader kept its place and the partition waited until it is back."""
    leader = context.part.record.leader
    return leader if leader != NOBODY else None


def elect_neighbour(context: QuestionContext) -> Answer | None:
    """Answer as if the next broker by number took over."""
    gone = context.part.record.leader
    others = sorted(one for one in context.part.replicas if one != gone)
    return next((one for one in others if one > gone), others[0]) if others else None


# -- the ISR --------------------------------------------------------------------------------------


def isr_equal_ends(context: QuestionContext) -> Answer | None:
    """Answer as if only alive replicas with the leader's end right now were in sync."""
    leader = context.leader
    if leader is None:
        return None
    return in_order(replica.broker for replica in context.alive if replica.leo == leader.leo)


def isr_alive(context: QuestionContext) -> Answer | None:
    """Answer as if every replica that is alive and sends heartbeats were in sync."""
    return in_order(one.broker for one in context.alive)


def isr_all(context: QuestionContext) -> Answer | None:
    """Answer as if the ISR were the list of assigned replicas."""
    return in_order(context.part.replicas)


def isr_majority(context: QuestionContext) -> Answer | None:
    """Answer as if the ISR were a quorum that never has less than a majority."""
    n, able = len(context.part.replicas), [one.broker for one in context.alive]
    rest = [one for one in context.part.record.isr if one not in able]
    return in_order([*able, *rest][: max(n // 2 + 1, len(able))])


def isr_in_records(context: QuestionContext) -> Answer | None:
    """Answer as if a follower were in sync while it lags by a small number of records at most.

    The limit is `LAG_IN_RECORDS`.
    """
    leader = context.leader
    if leader is None:
        return None
    near = [
        replica
        for replica in context.part.replicas.values()
        if leader.leo - replica.leo <= LAG_IN_RECORDS
    ]
    return in_order(replica.broker for replica in near)


def isr_stays(context: QuestionContext) -> Answer | None:
    """Answer as if a replica in the ISR stayed in it."""
    return in_order(context.part.record.isr)


def isr_at_once(context: QuestionContext) -> Answer | None:
    """Answer as if a broker that dies left the ISR at that moment."""
    if context.node not in context.part.record.isr:
        return None
    return in_order(one for one in context.part.record.isr if one != context.node)


def isr_moves_leader(context: QuestionContext) -> Answer | None:
    """Answer as if only the leader were sure to be in sync after a failure."""
    leader = context.part.record.leader
    return (leader,) if leader != NOBODY and leader in context.before.alive else None


# -- answers to producers -------------------------------------------------------------------------


def _acks(context: QuestionContext) -> int:
    assert isinstance(context.what, ProduceRequest), context.what
    return context.what.acks


def _with_leader(context: QuestionContext, count: int) -> Answer:
    others = [one for one in context.part.record.isr if one != context.who]
    return ("ack", *in_order([context.who, *others[: max(0, count - 1)]]))


def acks_leader(context: QuestionContext) -> Answer | None:
    """Answer as if the leader's own copy were enough for an answer."""
    return ("ack", context.who)


def acks_assigned(context: QuestionContext) -> Answer | None:
    """Answer as if acks=all waited for all assigned replicas."""
    return ("ack", *in_order(context.part.replicas)) if _acks(context) == -1 else None


def acks_majority(context: QuestionContext) -> Answer | None:
    """Answer as if a majority of the replicas were enough."""
    return (
        _with_leader(context, len(context.part.replicas) // 2 + 1) if _acks(context) == -1 else None
    )


def acks_min_isr(context: QuestionContext) -> Answer | None:
    """Answer as if acks=all waited for min.insync.replicas copies, and no more."""
    return _with_leader(context, context.part.min_isr) if _acks(context) == -1 else None


def acks_one_follower(context: QuestionContext) -> Answer | None:
    """Answer as if acks=1 waited for one follower."""
    return _with_leader(context, 2) if _acks(context) == 1 else None


def acks_1_min_isr(context: QuestionContext) -> Answer | None:
    """Answer as if min.insync.replicas applied to every write, also with acks=1."""
    few = len(context.part.record.isr) < context.part.min_isr
    return "refused" if few and _acks(context) == 1 else None


def acks_1_all(context: QuestionContext) -> Answer | None:
    """Answer as if the reply always waited for the ISR; acks says only how many must be alive."""
    return ("ack", *in_order(context.part.record.isr)) if _acks(context) == 1 else None


def min_isr_waits(context: QuestionContext) -> Answer | None:
    """Answer as if a write with too few replicas in sync waited until others are back."""
    few = len(context.part.record.isr) < context.part.min_isr
    return "silence" if few else None


def min_isr_assigned(context: QuestionContext) -> Answer | None:
    """Answer as if min.insync.replicas asked for every assigned replica."""
    some = len(context.part.record.isr) < len(context.part.replicas)
    return "refused" if some and _acks(context) == -1 else None


def refused_is_written(context: QuestionContext) -> Answer | None:
    """Answer as if a refused write were in the log all the same."""
    few = len(context.part.record.isr) < context.part.min_isr
    return "after_append" if few and _acks(context) == -1 else None


# -- leader epochs --------------------------------------------------------------------------------


def epochs_on_write(context: QuestionContext) -> Answer | None:
    """Answer as if an epoch got its entry with its first record, with a new leader as well."""
    return context.mine.epochs if context.part.record.leader == context.who else None


def epochs_newest(context: QuestionContext) -> Answer | None:
    """Answer as if a replica remembered the newest epoch only."""
    return ((_next_epoch(context), context.mine.leo),)


def epochs_from_hw(context: QuestionContext) -> Answer | None:
    """Answer as if a new epoch began at the high watermark."""
    hw = min(context.mine.hw, context.mine.leo)
    kept = tuple(one for one in context.mine.epochs if one[1] < hw)
    return (*kept, (_next_epoch(context), hw))


def epochs_per_broker(context: QuestionContext) -> Answer | None:
    """Answer as if every broker counted the times it has led itself."""
    mine = context.mine.epochs
    return (*mine, ((mine[-1][0] + 1 if mine else 0), context.mine.leo))


def epochs_of_leader(context: QuestionContext) -> Answer | None:
    """Answer as if a follower took over the leader's whole vector."""
    leader = context.leader
    return None if leader is None or leader.broker == context.who else leader.epochs


def _next_epoch(context: QuestionContext) -> int:
    return max(context.part.record.leader_epoch, 0)


# -- what is still there at the end ---------------------------------------------------------------


def _known_records(context: QuestionContext) -> tuple[str, ...]:
    """Return the records that at least one replica has now, oldest first."""
    seen: dict[str, None] = {}
    for replica in context.part.replicas.values():
        seen.update(dict.fromkeys(replica.values()))
    return tuple(seen)


def keep_all(context: QuestionContext) -> Answer | None:
    """Answer as if a written record were always kept."""
    return _known_records(context)


def keep_acked(context: QuestionContext) -> Answer | None:
    """Answer as if exactly the acknowledged records were kept."""
    known, step = context.before.known, context.before.step
    return tuple(one for one in _known_records(context) if known.acked.get(one, step + 1) <= step)


def keep_committed(context: QuestionContext) -> Answer | None:
    """Answer as if exactly the records below the leader's high watermark were kept."""
    leader = context.leader
    return None if leader is None else _below(leader.values(), leader.hw - leader.start)


def keep_majority(context: QuestionContext) -> Answer | None:
    """Answer as if exactly the records on a majority were kept."""
    logs = [set(one.values()) for one in context.part.replicas.values()]
    need = len(logs) // 2 + 1
    return tuple(one for one in _known_records(context) if sum(one in log for log in logs) >= need)


def keep_common(context: QuestionContext) -> Answer | None:
    """Answer as if exactly the records that every replica has were kept."""
    logs = [set(one.values()) for one in context.part.replicas.values()]
    return tuple(one for one in _known_records(context) if all(one in log for log in logs))


def keep_shortest_mark(context: QuestionContext) -> Answer | None:
    """Answer as if all replicas fell back to the smallest high watermark."""
    mark = min(one.hw for one in context.part.replicas.values())
    leader = context.leader or next(iter(context.part.replicas.values()))
    return _below(leader.values(), mark - leader.start)


def _below(values: tuple[str, ...], count: int) -> tuple[str, ...]:
    return values[: max(0, count)]
