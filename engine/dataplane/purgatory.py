"""Requests that wait for a condition (data-plane specification, P-4, S-6)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.dataplane.limits import budget_of
from engine.dataplane.reading import (
    agrees_at_once,
    divergence,
    error_before_read,
    held_back,
    read_partition,
    tells_divergence,
)
from engine.dataplane.session_serving import answer_in_session
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import (
    KAFKA_STORAGE_ERROR,
    NONE,
    NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    NOT_LEADER_OR_FOLLOWER,
    REQUEST_TIMED_OUT,
)
from engine.model.group_messages import CoordinatorAppend
from engine.model.last_fetch import LastFetch
from engine.model.messages import (
    FetchData,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    ProduceResponse,
)
from engine.model.session_messages import SessionRead
from engine.model.state import LEADER, NEVER, DelayedFetch, DelayedProduce, Replica
from engine.model.timers import PURGATORY

UNDECIDED = -2
"""No wire code: the produce goes on waiting."""

# -- produce --------------------------------------------------------------------------------------


def wait_for_hw(broker: Process, replica: Replica, waiting: DelayedProduce, out: Effects) -> None:
    """P-3.  Park an acks=all produce unless it can be answered at once."""
    if not complete_produce(broker, replica, waiting, out):
        replica.waiting.append(waiting)
        _arm(broker, waiting.deadline, out)
        if out.cues is not None:
            out.cue("P-4", broker.id, "waiting", None, waiting.required, tp=replica.tp)


def complete_produce(
    broker: Process, replica: Replica, waiting: DelayedProduce, out: Effects
) -> bool:
    """P-4, P-5.  Answer a waiting produce if its fate is decided; True if it was."""
    error = fate(broker, replica, waiting.required)
    if error == UNDECIDED:
        return False
    answer_produce(broker, waiting, error, out)
    return True


def fate(broker: Process, replica: Replica, required: int) -> int:
    """P-4, P-5.  Return the state of a produce that waits for HW to reach `required`."""
    if replica.tp in broker.offline:
        return KAFKA_STORAGE_ERROR
    if replica.role != LEADER:
        return NOT_LEADER_OR_FOLLOWER
    if replica.log.hw < required:
        return UNDECIDED
    return NONE if has_enough_in_sync(replica) else NOT_ENOUGH_REPLICAS_AFTER_APPEND


def has_enough_in_sync(replica: Replica) -> bool:
    """P-4, CP-MINISR.  Check whether the maximal ISR is large enough to acknowledge."""
    return replica.min_isr() <= len(replica.maximal_isr)


def answer_produce(broker: Process, waiting: DelayedProduce, error: int, out: Effects) -> None:
    m = waiting.request
    if out.cues is not None:
        out.cue("P-4.answer", broker.id, "ack", m.values, error, tp=m.tp)
    base = waiting.base if error == NONE else -1
    if isinstance(m, CoordinatorAppend):
        for response in m.responses(error, base, broker.profile):
            out.send(response)
        return
    replica = broker.replicas.get(m.tp)
    start = -1 if replica is None or replica.role != LEADER else replica.log.log_start
    out.send(ProduceResponse(broker.id, m.src, m.corr, m.tp, error, base, m.values, start))


def wake_produce(broker: Process, replica: Replica, out: Effects) -> None:
    """P-4, H-6.  Look again at the produces that wait on this partition, the oldest first.

    Each needs a higher offset than the one before it, so the first that waits on ends the search,
    unless some are left of an earlier time as leader (KAFKA-2960).
    """
    waiting = replica.waiting
    if replica.profile.waiting_outlives_leading:
        replica.waiting = [
            produce for produce in waiting if not complete_produce(broker, replica, produce, out)
        ]
        return
    done = 0
    while done < len(waiting) and complete_produce(broker, replica, waiting[done], out):
        done += 1
    if done:
        replica.waiting = waiting[done:]


# -- fetch ----------------------------------------------------------------------------------------


def park_fetch(broker: Process, m: FetchRequest, last: LastFetch | None, out: Effects) -> None:
    """S-5.  Park a Fetch without news.

    In 2.4 and 2.5 it does not, while there is a larger high watermark to send (H-5).
    """
    parked = DelayedFetch(m, out.now + m.max_wait, last)
    wants_more = m.min_bytes > 1
    if wants_more:
        parked.segments = tuple(broker.replicas[fp.tp].log.segments[-1] for fp in m.partitions)
    broker.parked.append(parked)
    if broker.profile.hw_sent_at_once and owes_mark(broker, m):
        complete_fetch(broker, parked, out)
        return
    _arm(broker, parked.deadline, out)
    if out.cues is not None:
        out.cue("S-5", broker.id, "parked", None, m.src)
        if wants_more:
            tell_short(broker, m, out)


def wake_fetch(broker: Process, replica: Replica, out: Effects) -> None:
    """S-6.  Look again at every Fetch that waits on this partition."""
    for parked in parked_on(broker, replica.tp):
        last = parked.last
        parts = last.to_visit() if last is not None and last.is_valid else None
        if fetch_is_ready(broker, parked.request, out.now, parked.segments, parts):
            complete_fetch(broker, parked, out)
        elif parked.request.min_bytes > 1 and out.cues is not None:
            tell_short(broker, parked.request, out)


def parked_on(broker: Process, tp: int) -> list[DelayedFetch]:
    """S-6.  Return the fetches that wait on a partition."""
    return [parked for parked in broker.parked if tp in parked.tps]


def fetch_is_ready(
    broker: Process,
    m: FetchRequest,
    now: int,
    segments: Sequence[int] = (),
    parts: Sequence[FetchPartition] | None = None,
) -> bool:
    """S-6.  Check: A - E role or epoch changed, F truncated, G enough bytes, H divergence.

    What the leader's quota holds back does not count as bytes (Q-2).  `segments` are those in which
    the partitions ended when the fetch began to wait, kept where one byte is not enough: bytes are
    counted within a segment only, so once the log has gone on in another one, all is answered.
    `parts` are those to look at, if not all: while it waits, settled ones have no reason.
    """
    available = 0
    if parts is None:
        parts = m.partitions
    # Any reason is as good: the partition that got records last is last (F-7), and likely the next.
    for index in range(len(parts) - 1, -1, -1):
        fp = parts[index]
        if error_before_read(broker, m, fp):
            return True
        log = broker.replicas[fp.tp].log
        bound = log.leo if m.replica >= 0 else log.hw
        if fp.offset > bound:
            return True
        if broker.quotas is None or not held_back(broker, m, fp.tp, now, waiting=True):
            if segments and fp.offset < bound and segments[index] < log.segment_of(bound - 1):
                return True
            available += _available(broker, m, bound - fp.offset)
            if available >= m.min_bytes:
                return True
        if fp.last_epoch >= 0 and tells_divergence(broker.profile) and not agrees_at_once(log, fp):
            error, diverging = divergence(log, fp, broker.profile.diverges_below_start)
            if error or diverging is not None:
                return True
    return broker.profile.hw_sent_at_once and owes_mark(broker, m)


def tell_short(broker: Process, m: FetchRequest, out: Effects) -> None:
    """S-5.  Report the bytes available for a fetch that wants more."""
    there = 0
    for fp in m.partitions:
        log = broker.replicas[fp.tp].log
        there += _available(broker, m, (log.leo if m.replica >= 0 else log.hw) - fp.offset)
    out.cue("S-5.min_bytes", broker.id, "bytes", there, m.min_bytes, about=m.src)


def _available(broker: Process, m: FetchRequest, records: int) -> int:
    """S-6 G.  Return the bytes of a partition that count: no more than the fetch may get of it."""
    size = min(records, m.max_records) * broker.configs.record_bytes
    return size if m.limits is None else min(size, m.limits.partition)


def owes_mark(broker: Process, m: FetchRequest) -> bool:
    """H-5.3.  Check whether a high watermark is above the one last sent to this follower."""
    for fp in m.partitions:
        replica = broker.replicas[fp.tp]
        remote = replica.remote.get(m.replica)
        if remote is not None and replica.log.hw > remote.last_sent_hw:
            return True
    return False


def note_marks(broker: Process, m: FetchRequest, answer: Sequence[FetchData]) -> None:
    """H-5.3.  Note the marks that a follower is sent."""
    for data in answer:
        replica = broker.replicas.get(data.tp)
        remote = None if replica is None else replica.remote.get(m.replica)
        if remote is not None and not data.error and data.diverging is None:
            remote.last_sent_hw = data.hw


def complete_fetch(broker: Process, parked: DelayedFetch, out: Effects) -> None:
    """S-6.  Read again (without S-4) and answer; expiry comes here too and is no error."""
    m = parked.request
    if parked in broker.parked:
        broker.parked.remove(parked)
    budget = budget_of(broker, m)
    last = parked.last
    if last is None or not last.is_valid:
        data = [read_partition(broker, m, fp, out, budget) for fp in m.partitions]
        answer_fetch(broker, m, None, data, out)
        return
    for fp in last.to_visit():
        last.note(fp.tp, read_partition(broker, m, fp, out, budget))
    answer_fetch(broker, m, last, (), out)


def answer_fetch(
    broker: Process,
    m: FetchRequest,
    last: LastFetch | None,
    data: Sequence[FetchData],
    out: Effects,
) -> None:
    """S-6.  Answer with what was read, `data`, or with what is remembered of this fetch."""
    if last is not None:
        out.send(last.answer(broker.id, m))
        return
    if broker.profile.hw_sent_at_once:
        note_marks(broker, m, data)
    if isinstance(m, SessionRead):
        answer_in_session(broker, m, data, out)
    else:
        out.send(FetchResponse(broker.id, m.src, m.corr, data))


# -- time -----------------------------------------------------------------------------------------


def _arm(broker: Process, deadline: int, out: Effects) -> None:
    """Set the broker's one timer to the earliest deadline: most requests end before theirs."""
    wake = broker.purgatory_wake
    if wake <= out.now or deadline < wake:
        broker.purgatory_wake = deadline
        out.timer(broker.id, deadline - out.now, PURGATORY, deadline)


def on_purgatory_timer(broker: Process, wake: int, out: Effects) -> bool:
    """P-4, S-6.  Expire whatever is due, then wait for the next deadline."""
    if broker.purgatory_wake != wake:
        return False
    broker.purgatory_wake = NEVER
    now = out.now
    expired = False
    following = [parked.deadline for parked in broker.parked if parked.deadline > now]
    due = [parked for parked in broker.parked if parked.deadline <= now]
    for tp, replica in broker.replicas.items():
        if replica.waiting:
            for waiting in replica.waiting.copy():
                if waiting.deadline <= now:
                    expire_produce(broker, replica, waiting, out)
                    expired = True
                else:
                    following.append(waiting.deadline)
        if due:
            for parked in [parked for parked in due if tp in parked.tps]:
                due.remove(parked)
                complete_fetch(broker, parked, out)
                expired = True
    if following:
        _arm(broker, min(following), out)
    return expired


def expire_produce(
    broker: Process, replica: Replica, waiting: DelayedProduce, out: Effects
) -> None:
    """P-4.  Answer REQUEST_TIMED_OUT; the records stay in the log and may still commit."""
    replica.waiting.remove(waiting)
    answer_produce(broker, waiting, REQUEST_TIMED_OUT, out)


def parked_from(broker: Process, src: int, corr: int = 0) -> DelayedFetch | None:
    """Return the Fetch of node `src` (of that number) that waits on this broker, if there is one.

    One that was sent again meanwhile (a negative `corr`) matches no request: its time runs out.
    """
    fetches = []
    for parked in broker.parked:
        m = parked.request
        if m.src == src and m.corr >= 0 and corr in (0, m.corr):
            fetches.append(parked)
    if len(fetches) < 2:
        return fetches[0] if fetches else None
    return next((fetch for tp in broker.replicas for fetch in fetches if tp in fetch.tps), None)


# -- both -----------------------------------------------------------------------------------------


def after_append(broker: Process, replica: Replica, hw_moved: bool, out: Effects) -> None:
    """L-3.12.  Complete Produce, then Fetch if HW moved; else Fetch only."""
    if hw_moved:
        wake_produce(broker, replica, out)
    wake_fetch(broker, replica, out)


def after_hw(broker: Process, replica: Replica, out: Effects) -> None:
    """S-4, H-6.  Complete Fetch, then Produce after a follower's state moved the high watermark."""
    wake_fetch(broker, replica, out)
    wake_produce(broker, replica, out)


def role_lost(broker: Process, replica: Replica, out: Effects) -> None:
    """CP-MAKE-FOLLOWER 7.  Answer all requests that wait here: this is no leader any more."""
    wake_produce(broker, replica, out)
    wake_fetch(broker, replica, out)
