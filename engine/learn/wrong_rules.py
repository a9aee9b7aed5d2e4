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


def _leads(asked: QuestionContext) -> bool:
    return asked.leader is not None and asked.leader.broker == asked.who


def hw_of_all(asked: QuestionContext) -> Answer | None:
    """Answer as if the mark were the smallest end of all replicas, even dead or out of sync."""
    return min(one.leo for one in asked.part.replicas.values()) if _leads(asked) else None


def hw_of_majority(asked: QuestionContext) -> Answer | None:
    """Answer as if the mark were the offset that a majority has, as in Raft."""
    if not _leads(asked):
        return None
    ends = sorted((one.leo for one in asked.part.replicas.values()), reverse=True)
    return ends[len(ends) // 2]


def hw_same_trip(asked: QuestionContext) -> Answer | None:
    """Answer as if the mark moved in the round trip that carries the record."""
    if not _leads(asked):
        return None
    return min(asked.part.replicas[one].leo for one in asked.part.record.isr)


def hw_is_leo(asked: QuestionContext) -> Answer | None:
    """Answer as if the leader's write were committed."""
    return asked.mine.leo if _leads(asked) else None


def hw_needs_ack(asked: QuestionContext) -> Answer | None:
    """Answer as if followers acknowledged each record, and a fetch request acknowledged nothing."""
    fetch = asked.what is not None and asked.what.kind == FETCH
    return asked.mine.hw if _leads(asked) and fetch else None


def hw_is_pushed(asked: QuestionContext) -> Answer | None:
    """Answer as if a follower had the leader's mark at the moment the leader has it."""
    if _leads(asked) or asked.leader is None:
        return None
    return asked.leader.hw


def hw_is_own_leo(asked: QuestionContext) -> Answer | None:
    """Answer as if a follower's mark were the end of its own log."""
    return None if _leads(asked) else asked.mine.leo + _brought(asked)


def hw_stays_below(asked: QuestionContext) -> Answer | None:
    """Answer as if a follower's mark moved only when the leader sends it in a separate message."""
    return None if _leads(asked) else asked.mine.hw


# -- the end of a log -----------------------------------------------------------------------------


def _brought(asked: QuestionContext) -> int:
    """Count the records for this partition in the arriving response."""
    if not isinstance(asked.what, FetchResponse):
        return 0
    here = [one for one in asked.what.partitions if one.tp == asked.tp]
    return sum(len(batch.values) for one in here for batch in one.batches)


def leo_of_committed(asked: QuestionContext) -> Answer | None:
    """Answer as if a follower stored only committed records."""
    if asked.leader is None or _leads(asked):
        return None
    return max(asked.mine.leo, min(asked.leader.hw, asked.leader.leo))


def leo_one_by_one(asked: QuestionContext) -> Answer | None:
    """Answer as if a fetch carried one record."""
    return asked.mine.leo + 1 if _brought(asked) else None


def leo_as_leader(asked: QuestionContext) -> Answer | None:
    """Answer as if the leader pushed records: a follower's log is as long as the leader's."""
    return asked.leader.leo if asked.leader is not None and not _leads(asked) else None


def leo_waits(asked: QuestionContext) -> Answer | None:
    """Answer as if the log grew only when the record is confirmed."""
    return asked.mine.leo


# -- truncation -----------------------------------------------------------------------------------


def cut_to_hw(asked: QuestionContext) -> Answer | None:
    """Answer as if a returning follower cut its log to its own high watermark."""
    return min(asked.mine.hw, asked.mine.leo)


def cut_never(asked: QuestionContext) -> Answer | None:
    """Answer as if a written log were never cut, and the leader adapted to it."""
    return asked.mine.leo


def cut_to_leader_end(asked: QuestionContext) -> Answer | None:
    """Cut what is longer than the leader's log: lengths are compared, not histories."""
    return min(asked.mine.leo, asked.leader.leo) if asked.leader is not None else None


def cut_whole_epoch(asked: QuestionContext) -> Answer | None:
    """Answer as if all of the last leader epoch were thrown away."""
    return asked.mine.epochs[-1][1] if asked.mine.epochs else None


def cut_to_leader_hw(asked: QuestionContext) -> Answer | None:
    """Cut to the leader's high watermark."""
    return min(asked.mine.leo, asked.leader.hw) if asked.leader is not None else None


def cut_all(asked: QuestionContext) -> Answer | None:
    """Answer as if the copy were thrown away and copied again from the beginning."""
    return asked.mine.start


# -- elections ------------------------------------------------------------------------------------


def _electable(asked: QuestionContext) -> list[int]:
    """Return the alive replicas except the leader that is being replaced, in assignment order."""
    gone = asked.part.record.leader
    return [one.broker for one in asked.alive if one.broker != gone]


def elect_knowing(asked: QuestionContext) -> Answer | None:
    """Answer as if the controller knew at once which brokers are dead, and never elected one."""
    able = _electable(asked)
    members = [one for one in asked.part.record.isr if one != asked.part.record.leader]
    if set(members) <= set(able):
        return None
    return next((one for one in able if one in members), NOBODY)


def elect_longest(asked: QuestionContext) -> Answer | None:
    """Answer as if the replica with the longest log led."""
    logs = asked.part.replicas
    able = _electable(asked)
    return max(able, key=lambda one: logs[one].leo) if able else None


def elect_by_vote(asked: QuestionContext) -> Answer | None:
    """Answer as if the replicas voted, and there were no leader without a majority of them."""
    able = _electable(asked)
    if 2 * len(able) <= len(asked.part.replicas):
        return NOBODY
    logs = asked.part.replicas
    return max(able, key=lambda one: (logs[one].epochs[-1:], logs[one].leo))


def elect_any_alive(asked: QuestionContext) -> Answer | None:
    """Answer as if the first replica that is alive led, in the ISR or not."""
    able = _electable(asked)
    return able[0] if able else None


def elect_last_in_isr(asked: QuestionContext) -> Answer | None:
    """Answer as if the last replica in the list of the ISR took over."""
    able = [one for one in _electable(asked) if one in asked.part.record.isr]
    return able[-1] if able else None


def elect_nobody(asked: QuestionContext) -> Answer | None:
    """Answer as if the leader kept its place and the partition waited until it is back."""
    leader = asked.part.record.leader
    return leader if leader != NOBODY else None


def elect_neighbour(asked: QuestionContext) -> Answer | None:
    """Answer as if the next broker by number took over."""
    gone = asked.part.record.leader
    others = sorted(one for one in asked.part.replicas if one != gone)
    return next((one for one in others if one > gone), others[0]) if others else None


# -- the ISR --------------------------------------------------------------------------------------


def isr_equal_ends(asked: QuestionContext) -> Answer | None:
    """Answer as if only alive replicas with the leader's end right now were in sync."""
    leader = asked.leader
    if leader is None:
        return None
    return in_order(one.broker for one in asked.alive if one.leo == leader.leo)


def isr_alive(asked: QuestionContext) -> Answer | None:
    """Answer as if every replica that is alive and sends heartbeats were in sync."""
    return in_order(one.broker for one in asked.alive)


def isr_all(asked: QuestionContext) -> Answer | None:
    """Answer as if the ISR were the list of assigned replicas."""
    return in_order(asked.part.replicas)


def isr_majority(asked: QuestionContext) -> Answer | None:
    """Answer as if the ISR were a quorum that never has less than a majority."""
    n, able = len(asked.part.replicas), [one.broker for one in asked.alive]
    rest = [one for one in asked.part.record.isr if one not in able]
    return in_order([*able, *rest][: max(n // 2 + 1, len(able))])


def isr_in_records(asked: QuestionContext) -> Answer | None:
    """Answer as if a follower were in sync while it lags by a small number of records at most.

    The limit is `LAG_IN_RECORDS`.
    """
    leader = asked.leader
    if leader is None:
        return None
    near = [one for one in asked.part.replicas.values() if leader.leo - one.leo <= LAG_IN_RECORDS]
    return in_order(one.broker for one in near)


def isr_stays(asked: QuestionContext) -> Answer | None:
    """Answer as if a replica in the ISR stayed in it."""
    return in_order(asked.part.record.isr)


def isr_at_once(asked: QuestionContext) -> Answer | None:
    """Answer as if a broker that dies left the ISR at that moment."""
    if asked.node not in asked.part.record.isr:
        return None
    return in_order(one for one in asked.part.record.isr if one != asked.node)


def isr_moves_leader(asked: QuestionContext) -> Answer | None:
    """Answer as if only the leader were sure to be in sync after a failure."""
    leader = asked.part.record.leader
    return (leader,) if leader != NOBODY and leader in asked.before.alive else None


# -- answers to producers -------------------------------------------------------------------------


def _acks(asked: QuestionContext) -> int:
    assert isinstance(asked.what, ProduceRequest), asked.what
    return asked.what.acks


def _with_leader(asked: QuestionContext, count: int) -> Answer:
    others = [one for one in asked.part.record.isr if one != asked.who]
    return ("ack", *in_order([asked.who, *others[: max(0, count - 1)]]))


def acks_leader(asked: QuestionContext) -> Answer | None:
    """Answer as if the leader's own copy were enough for an answer."""
    return ("ack", asked.who)


def acks_assigned(asked: QuestionContext) -> Answer | None:
    """Answer as if acks=all waited for all assigned replicas."""
    return ("ack", *in_order(asked.part.replicas)) if _acks(asked) == -1 else None


def acks_majority(asked: QuestionContext) -> Answer | None:
    """Answer as if a majority of the replicas were enough."""
    return _with_leader(asked, len(asked.part.replicas) // 2 + 1) if _acks(asked) == -1 else None


def acks_min_isr(asked: QuestionContext) -> Answer | None:
    """Answer as if acks=all waited for min.insync.replicas copies, and no more."""
    return _with_leader(asked, asked.part.min_isr) if _acks(asked) == -1 else None


def acks_one_follower(asked: QuestionContext) -> Answer | None:
    """Answer as if acks=1 waited for one follower."""
    return _with_leader(asked, 2) if _acks(asked) == 1 else None


def acks_1_min_isr(asked: QuestionContext) -> Answer | None:
    """Answer as if min.insync.replicas applied to every write, also with acks=1."""
    few = len(asked.part.record.isr) < asked.part.min_isr
    return "refused" if few and _acks(asked) == 1 else None


def acks_1_all(asked: QuestionContext) -> Answer | None:
    """Answer as if the reply always waited for the ISR; acks says only how many must be alive."""
    return ("ack", *in_order(asked.part.record.isr)) if _acks(asked) == 1 else None


def min_isr_waits(asked: QuestionContext) -> Answer | None:
    """Answer as if a write with too few replicas in sync waited until others are back."""
    few = len(asked.part.record.isr) < asked.part.min_isr
    return "silence" if few else None


def min_isr_assigned(asked: QuestionContext) -> Answer | None:
    """Answer as if min.insync.replicas asked for every assigned replica."""
    some = len(asked.part.record.isr) < len(asked.part.replicas)
    return "refused" if some and _acks(asked) == -1 else None


def refused_is_written(asked: QuestionContext) -> Answer | None:
    """Answer as if a refused write were in the log all the same."""
    few = len(asked.part.record.isr) < asked.part.min_isr
    return "after_append" if few and _acks(asked) == -1 else None


# -- leader epochs --------------------------------------------------------------------------------


def epochs_on_write(asked: QuestionContext) -> Answer | None:
    """Answer as if an epoch got its entry with its first record, with a new leader as well."""
    return asked.mine.epochs if asked.part.record.leader == asked.who else None


def epochs_newest(asked: QuestionContext) -> Answer | None:
    """Answer as if a replica remembered the newest epoch only."""
    return ((_next_epoch(asked), asked.mine.leo),)


def epochs_from_hw(asked: QuestionContext) -> Answer | None:
    """Answer as if a new epoch began at the high watermark."""
    hw = min(asked.mine.hw, asked.mine.leo)
    kept = tuple(one for one in asked.mine.epochs if one[1] < hw)
    return (*kept, (_next_epoch(asked), hw))


def epochs_per_broker(asked: QuestionContext) -> Answer | None:
    """Answer as if every broker counted the times it has led itself."""
    mine = asked.mine.epochs
    return (*mine, ((mine[-1][0] + 1 if mine else 0), asked.mine.leo))


def epochs_of_leader(asked: QuestionContext) -> Answer | None:
    """Answer as if a follower took over the leader's whole vector."""
    leader = asked.leader
    return None if leader is None or leader.broker == asked.who else leader.epochs


def _next_epoch(asked: QuestionContext) -> int:
    return max(asked.part.record.leader_epoch, 0)


# -- what is still there at the end ---------------------------------------------------------------


def _known_records(asked: QuestionContext) -> tuple[str, ...]:
    """Return the records that at least one replica has now, oldest first."""
    seen: dict[str, None] = {}
    for one in asked.part.replicas.values():
        seen.update(dict.fromkeys(one.values()))
    return tuple(seen)


def keep_all(asked: QuestionContext) -> Answer | None:
    """Answer as if a written record were always kept."""
    return _known_records(asked)


def keep_acked(asked: QuestionContext) -> Answer | None:
    """Answer as if exactly the acknowledged records were kept."""
    known, step = asked.before.known, asked.before.step
    return tuple(one for one in _known_records(asked) if known.acked.get(one, step + 1) <= step)


def keep_committed(asked: QuestionContext) -> Answer | None:
    """Answer as if exactly the records below the leader's high watermark were kept."""
    leader = asked.leader
    return None if leader is None else _below(leader.values(), leader.hw - leader.start)


def keep_majority(asked: QuestionContext) -> Answer | None:
    """Answer as if exactly the records on a majority were kept."""
    logs = [set(one.values()) for one in asked.part.replicas.values()]
    need = len(logs) // 2 + 1
    return tuple(one for one in _known_records(asked) if sum(one in log for log in logs) >= need)


def keep_common(asked: QuestionContext) -> Answer | None:
    """Answer as if exactly the records that every replica has were kept."""
    logs = [set(one.values()) for one in asked.part.replicas.values()]
    return tuple(one for one in _known_records(asked) if all(one in log for log in logs))


def keep_shortest_mark(asked: QuestionContext) -> Answer | None:
    """Answer as if all replicas fell back to the smallest high watermark."""
    mark = min(one.hw for one in asked.part.replicas.values())
    leader = asked.leader or next(iter(asked.part.replicas.values()))
    return _below(leader.values(), mark - leader.start)


def _below(values: tuple[str, ...], count: int) -> tuple[str, ...]:
    return values[: max(0, count)]
