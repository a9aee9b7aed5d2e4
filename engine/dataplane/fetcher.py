"""The follower's side: fetcher threads and what they do with answers (data-plane, F-)."""

from __future__ import annotations

from typing import Final

from engine.dataplane import futures, retention, tier_state
from engine.dataplane.fetch_request import (
    accepts,
    build_fetch,
    note_answer,
    ready_parts,
    repeat_fetch,
)
from engine.dataplane.partition_fetch_state import (
    cut_by_answer,
    cut_by_divergence,
    cut_by_stale_answer,
    cut_or_fail,
    delay_last,
    fail_partition,
    fetcher_id,
    go_last,
    go_on_fetching,
    initial_state,
    is_lag_unknown,
    on_error,
    refuses,
    restart_at,
    take_first,
    take_high_watermark,
    unexpected,
    usable_batches,
)
from engine.model.broker import Process
from engine.model.configs import Configs
from engine.model.effects import Effects
from engine.model.errors import NONE, OFFSET_MOVED_TO_TIERED_STORAGE, OFFSET_OUT_OF_RANGE
from engine.model.log import OK
from engine.model.messages import (
    EARLIEST,
    LATEST,
    NO_EPOCH,
    EpochEndRequest,
    EpochEndResponse,
    FetchData,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    Oversized,
)
from engine.model.profiles import FETCH, HW, KIP101
from engine.model.quotas import TOPIC
from engine.model.session_client import SessionClient
from engine.model.state import (
    FETCHING,
    NEVER,
    TRUNCATING,
    FetcherThread,
    PartitionFetchState,
    Replica,
)
from engine.model.timers import FETCHER_WORK

DYNAMIC_SINCE: Final = (1, 1)

# -- which thread, which partitions ---------------------------------------------------------------


def thread_of(broker: Process, tp: int) -> FetcherThread | None:
    """Return the thread that fetches a partition, if it is fetched."""
    for thread in broker.fetchers.values():
        if tp in thread.partitions:
            return thread
    return None


def configure(broker: Process, configs: Configs, out: Effects) -> None:
    """Q-1, F-1.  Apply configurations; the number of fetchers only since 1.1 (KIP-226)."""
    broker.configure(configs)
    if configs.fetchers != broker.num_fetchers and broker.profile.release >= DYNAMIC_SINCE:
        resize(broker, configs.fetchers, out)


def resize(broker: Process, fetchers: int, out: Effects) -> None:
    """F-1.  Move every partition to the thread that is now its own, with its offset and epoch.

    num.replica.fetchers has changed.  Answers to the old threads' requests are ignored.
    """
    moved = [state for thread in broker.fetchers.values() for state in thread.partitions.values()]
    broker.fetchers.clear()
    broker.num_fetchers = fetchers
    for state in moved:
        replica = broker.replicas[state.tp]
        add_partition(broker, replica, state.offset, state.leader_epoch, out)
    if broker.machine.auto_fetch:
        for thread in list(broker.fetchers.values()):
            do_work(broker, thread, out)


def remove_partition(broker: Process, tp: int) -> PartitionFetchState | None:
    """F-3.  Stop fetching and return its state, or None; an empty thread ends."""
    broker.failed.discard(tp)
    thread = thread_of(broker, tp)
    if thread is None:
        return None
    state = thread.partitions.pop(tp)
    if thread.rebuilds.pop(tp, None) is not None:
        thread.lookups.remove(tp)
    if not thread.partitions:
        del broker.fetchers[thread.leader, thread.fetcher]
    return state


def start_fetching(broker: Process, replica: Replica, out: Effects) -> None:
    """F-2.  Fetch from the leader after BecomeFollower in a new epoch.

    The generation says where from: the log's end if epochs can be checked on the way, else the high
    watermark.
    """
    outstanding = _outstanding(broker, replica)
    remove_partition(broker, replica.tp)
    if replica.leader < 0:
        return
    log, generation = replica.log, replica.profile.truncation
    checked = generation == FETCH and log.epochs.latest() >= 0
    # Before 0.11 the role change itself has cut the log to the high watermark (T-0).
    offset = log.leo if checked or generation == HW else log.hw
    thread = add_partition(broker, replica, offset, replica.leader_epoch, out)
    thread.partitions[replica.tp].stale = outstanding
    if broker.machine.auto_fetch:
        do_work(broker, thread, out)


def _outstanding(broker: Process, replica: Replica) -> tuple[int, int]:
    """F-6.  Return number and offset of the fetch whose answer still counts in a new epoch."""
    if broker.profile.stale_answer_cuts:
        thread = thread_of(broker, replica.tp)
        if thread is not None and thread.leader == replica.leader:
            return thread.outstanding, thread.partitions[replica.tp].asked
    return 0, -1


def add_partition(
    broker: Process, replica: Replica, offset: int, leader_epoch: int, out: Effects
) -> FetcherThread:
    """F-2.  Follow a partition from `offset`; nothing changes if it is followed in this epoch.

    A negative offset is none at all: it is looked up as after an out-of-range answer (F-9).
    """
    tp = replica.tp
    broker.failed.discard(tp)
    topic, number = broker.machine.topics.get(tp, (TOPIC, tp))
    key = (replica.leader, fetcher_id(topic, number, broker.num_fetchers))
    if broker.num_fetchers > 1:
        out.cue("F-1", broker.id, f"fetcher {tp}", replica.leader, key[1], tp=tp)
    thread = broker.fetchers.get(key)
    if thread is None:
        thread = broker.fetchers[key] = FetcherThread(*key)
        if broker.sessions is not None:
            thread.session = SessionClient()
    partition = thread.partitions.get(tp)
    if partition is None or partition.leader_epoch != leader_epoch:
        thread.forget_sent()
        state = thread.partitions[tp] = initial_state(replica, offset, leader_epoch)
        if offset < 0:
            thread.lookups.append(tp)
        out.cue("F-2", broker.id, "fetch from", state.state, state.offset, tp=replica.tp)
    return thread


# -- the loop -------------------------------------------------------------------------------------


def do_work(broker: Process, thread: FetcherThread, out: Effects) -> None:
    """F-4.  Run maybeTruncate, then maybeFetch; at most one request is outstanding."""
    if thread.outstanding or thread.dead:
        return
    if thread.lookups:
        thread.forget_sent()
        follow_up_lookup(broker, thread, out)
        return
    if not maybe_truncate(broker, thread, out):
        maybe_fetch(broker, thread, out)


def maybe_truncate(broker: Process, thread: FetcherThread, out: Effects) -> bool:
    """F-4, T-0 fallback.  Request the ends of the own latest epochs; True if a request is out."""
    for state in thread.to_visit():
        if state.state == TRUNCATING:
            break
    else:
        return False
    thread.forget_sent()
    ask = []
    for state in list(thread.partitions.values()):
        if state.state != TRUNCATING or state.delay_until > out.now:
            continue
        replica = broker.replicas[state.tp]
        latest = replica.log.epochs.latest()
        if latest >= 0 and replica.profile.truncation >= KIP101:
            epoch = state.leader_epoch if replica.profile.fetch_epoch_check else NO_EPOCH
            ask.append((state.tp, latest, epoch))
            state.asked_epoch = state.leader_epoch
        elif cut_or_fail(broker, thread, state, state.offset, "T-0", out):
            go_on_fetching(broker, replica, state, out)
    if not ask:
        return False
    thread.outstanding = broker.next_corr()
    thread.requested = frozenset(tp for tp, _, _ in ask)
    out.send(EpochEndRequest(broker.id, thread.leader, thread.outstanding, ask))
    return True


def maybe_fetch(broker: Process, thread: FetcherThread, out: Effects) -> bool:
    """F-5.  Send one Fetch for every partition that is ready; True if it went out."""
    request = None if thread.sent is None else repeat_fetch(broker, thread, thread.sent, out.now)
    if request is None:
        request = build_fetch(broker, thread, ready_parts(broker, thread, out))
    if request is None:
        _sleep_until_ready(broker, thread, out)
        return False
    if out.cues is not None:
        late = tuple(s.tp for s in thread.partitions.values() if s.delay_until > out.now)
        if late:
            out.cue("F-5.delayed", broker.id, "left out", None, late)
    out.send(request)
    return True


def _sleep_until_ready(broker: Process, thread: FetcherThread, out: Effects) -> None:
    """F-4.  Wait for the first back-off to end when there is nothing to send.

    If a quota holds a partition back (Q-3), wait for one back-off.
    """
    if not thread.partitions:
        return
    wake = min(state.delay_until for state in thread.partitions.values())
    if wake <= out.now:
        wake = out.now + broker.configs.fetch_backoff_ms
    if thread.waking != wake:
        thread.waking = wake
        key = (thread.leader, thread.fetcher)
        out.timer(broker.id, wake - out.now, FETCHER_WORK, key)


def on_fetcher_timer(broker: Process, key: tuple[int, int], out: Effects) -> bool:
    """F-8.  Go on after a back-off."""
    thread = broker.fetchers.get(key)
    if thread is None or thread.waking > out.now:
        return False
    thread.waking = NEVER
    if not broker.machine.auto_fetch:
        return False
    do_work(broker, thread, out)
    return True


def waiting_thread(broker: Process, leader: int, corr: int) -> FetcherThread | None:
    """Return the thread whose outstanding request this answers; None if it is no longer wanted."""
    for thread in broker.fetchers.values():
        if thread.leader == leader and thread.outstanding == corr:
            return thread
    return None


def _continue(broker: Process, thread: FetcherThread, out: Effects) -> None:
    """F-4.  Run the loop again, or wait for a hand if fetching is manual."""
    if broker.machine.auto_fetch or thread.lookups:
        do_work(broker, thread, out)


# -- answers to Fetch -----------------------------------------------------------------------------


def on_fetch_response(broker: Process, m: FetchResponse, out: Effects) -> None:
    """F-6.  Handle partitions by error code; divergence comes after all of them."""
    thread = waiting_thread(broker, m.src, m.corr)
    if thread is None:
        if broker.profile.stale_answer_cuts:
            cut_by_stale_answer(broker, m, out)
        return
    thread.outstanding = 0
    if thread.session is not None and not accepts(broker.id, thread.session, m, out):
        _continue(broker, thread, out)
        return
    diverging = []
    for data in m.partitions if m.news is None or thread.sent is None else m.news:
        state = thread.partitions.get(data.tp)
        if (
            state is None
            or state.asked != state.offset
            or state.state != FETCHING
            or state.delay_until > out.now
        ):
            continue
        state.asked = -1
        if isinstance(data, Oversized):
            _on_oversized(broker, thread, state, out)
        elif data.error == NONE:
            if data.diverging is not None:
                if broker.profile.mark_before_cut and not take_first(
                    broker, thread, state.tp, data, out
                ):
                    continue
                diverging.append((state, data.diverging))
            else:
                _process_partition_data(broker, thread, state, data, out)
                if thread.dead:
                    return
        elif data.error == OFFSET_OUT_OF_RANGE:
            out.cue("F-9", broker.id, "out of range", state.offset, None, tp=state.tp)
            thread.lookups.append(state.tp)
        elif data.error == OFFSET_MOVED_TO_TIERED_STORAGE:
            tier_state.start(broker, thread, state, data, out)
        else:
            on_error(broker, thread, state, data.error, out)
    for state, (epoch, end) in diverging:
        cut_by_divergence(broker, thread, state, epoch, end, out)
    if thread.sent is not None:
        note_answer(broker, thread, thread.sent, m)
    _continue(broker, thread, out)


def _process_partition_data(
    broker: Process,
    thread: FetcherThread,
    state: PartitionFetchState,
    data: FetchData,
    out: Effects,
) -> None:
    """F-7, H-6.  Check the offset, append, update HW, log start and fetch state."""
    replica = broker.replicas[state.tp]
    log = replica.log
    if state.offset != log.leo or (data.batches and state.tp in broker.spoiled):
        broker.spoiled.discard(state.tp)
        out.cue("F-7", broker.id, f"unexpected {state.tp}", state.offset, log.leo, tp=state.tp)
        unexpected(broker, thread, state.tp, out)
        return
    batches = usable_batches(replica, state, data.batches) if data.batches else ()
    if batches and refuses(replica, batches):
        out.cue("F-7", broker.id, f"unexpected {state.tp}", batches[0].base, log.leo, tp=state.tp)
        unexpected(broker, thread, state.tp, out)
        return
    if batches:
        before = log.leo
        out.touch(broker.id, state.tp)
        try:
            appended = log.append_follower(batches) == OK
        except OSError:  # L-16
            appended = False
        if not appended:
            fail_partition(broker, thread, state.tp, out)
            return
        if out.cues is not None:
            out.cue("L-4", broker.id, "leo", before, log.leo, tp=replica.tp)
        if broker.quotas is not None:
            broker.quotas.count_appended(state.tp, log.leo - before, out.now)
        if log.leo - log.flushed >= broker.configs.flush_messages:
            log.flush(log.leo)
        if broker.machine.futures:
            futures.wake(broker, out)
    take_high_watermark(broker, state.tp, data.hw, out)
    if data.log_start > log.log_start and broker.profile.delete_records:
        if data.log_start > log.hw:
            fail_partition(broker, thread, state.tp, out)
            return
        out.cue("L-7", broker.id, "log start", log.log_start, data.log_start, tp=replica.tp)
        log.raise_log_start(data.log_start)
        retention.arm_checkpoint(broker, log, out)
    if batches or (state.lag is None and not is_lag_unknown(broker)):
        state.offset = log.leo
        state.lag = max(0, data.hw - log.leo)
        if batches:
            state.last_epoch = batches[-1].epoch
            go_last(broker, thread, state.tp)
            if state.lag and len(thread.partitions) > 1 and broker.profile.fair_order:
                out.cue("F-7.last", broker.id, f"lag {state.tp}", log.leo, data.hw, tp=state.tp)


def _on_oversized(
    broker: Process, thread: FetcherThread, state: PartitionFetchState, out: Effects
) -> None:
    """F-7, before KIP-74.  Retry later after an answer with only a part of a batch.

    The partition makes no progress until replica.fetch.max.bytes is raised.  Kafka retries at the
    network's pace; here the follower backs off, as a loop without delays has no pace.
    """
    out.cue("F-7.oversized", broker.id, f"partition {state.tp}", state.offset, None, tp=state.tp)
    delay_last(broker, thread, state, out)


# -- failures -------------------------------------------------------------------------------------


def on_request_broken(broker: Process, leader: int, corr: int, out: Effects) -> None:
    """F-6.  Back off with every partition of the thread after a transport error."""
    thread = waiting_thread(broker, leader, corr)
    if thread is None:
        return
    thread.outstanding = 0
    if thread.session is not None:
        thread.session.fail()
    thread.lookups.clear()
    thread.rebuilds.clear()
    for state in list(thread.partitions.values()):
        state.asked = -1
        delay_last(broker, thread, state, out)
    out.cue("F-8", broker.id, "connection", leader, None)
    _sleep_until_ready(broker, thread, out)


# -- answers to OffsetForLeaderEpoch --------------------------------------------------------------


def on_epoch_end_response(broker: Process, m: EpochEndResponse, out: Effects) -> None:
    """T-1, T-2, T-3, follower's side.  Truncate.  Raises RuntimeError for a stray answer.

    An answer to a request of an older leader epoch is ignored; 2.1.0 takes it
    (`AbstractFetcherThread.maybeTruncate` at 2.1.0, KAFKA-7786).
    """
    late = broker.profile.late_refusal_stops
    thread = waiting_thread(broker, m.src, m.corr)
    if thread is None:
        return
    thread.outstanding = 0
    for tp, *_ in m.partitions:
        if tp not in thread.requested:
            raise RuntimeError(f"the leader answers for partition {tp}, which was not asked for")
    for tp, error, epoch, end in m.partitions:
        if tp in thread.rebuilds:
            tier_state.on_epoch_end(broker, thread, (tp, error, epoch, end), out)
            continue
        state = thread.partitions.get(tp)
        if state is None or (state.asked_epoch != state.leader_epoch and not late):
            continue
        if error:
            on_error(broker, thread, state, error, out)
        else:
            cut_by_answer(broker, thread, state, epoch, end, out)
    _continue(broker, thread, out)


def on_remote_index(broker: Process, data: tuple[int, int, int, int], out: Effects) -> bool:
    """R-5.  Go on after a slow store has answered; the thread has done nothing meanwhile."""
    leader, fetcher, corr, tp = data
    thread = broker.fetchers.get((leader, fetcher))
    if thread is None or thread.outstanding != corr:
        return False
    thread.outstanding = 0
    rebuild = thread.rebuilds.get(tp)
    if rebuild is not None and rebuild.segment is not None:
        tier_state.read_index(broker, thread, tp, out)
    _continue(broker, thread, out)
    return True


# -- answers to ListOffsets ------------------------------------------------------------------------


def on_list_offsets_response(broker: Process, m: ListOffsetsResponse, out: Effects) -> None:
    """F-9, R-5.  Go on with a fetch position that was out of range, or is remote."""
    thread = waiting_thread(broker, m.src, m.corr)
    if thread is None:
        return
    thread.outstanding = 0
    if on_lookup_offset(broker, thread, m, out):
        _continue(broker, thread, out)


def follow_up_lookup(broker: Process, thread: FetcherThread, out: Effects) -> None:
    """F-4.  Send the next request for the partition that is looked up."""
    tp = thread.lookups[0]
    if tp in thread.rebuilds:
        tier_state.go_on(broker, thread, tp, out)
    else:
        look_up(broker, thread, tp, LATEST, out)


def look_up(broker: Process, thread: FetcherThread, tp: int, timestamp: int, out: Effects) -> None:
    """F-9.  Request an offset of the leader."""
    state = thread.partitions.get(tp)
    if state is None:
        thread.lookups.remove(tp)
        return
    thread.outstanding = broker.next_corr()
    state.asked_epoch = state.leader_epoch
    epoch = state.leader_epoch if broker.profile.fetch_epoch_check else NO_EPOCH
    out.send(ListOffsetsRequest(broker.id, thread.leader, thread.outstanding, tp, timestamp, epoch))


def on_lookup_offset(
    broker: Process, thread: FetcherThread, m: ListOffsetsResponse, out: Effects
) -> bool:
    """F-9.  Compare the leader's end, then, unless it is shorter, its start.

    True if the fetcher's loop goes on, false if the next request is out, or the process has ended.
    """
    state = thread.partitions.get(m.tp)
    if state is None or m.tp not in thread.lookups:
        return True
    if m.tp in thread.rebuilds:
        return tier_state.on_offset(broker, thread, state, m, out)
    replica = broker.replicas[m.tp]
    if m.error:
        thread.lookups.remove(m.tp)
        on_error(broker, thread, state, m.error, out)
    elif m.timestamp == LATEST and m.offset < replica.log.leo:
        thread.lookups.remove(m.tp)
        if broker.profile.out_of_range_is_fatal and not replica.configs.unclean:
            out.cue("F-9.halt", broker.id, "halted", replica.log.leo, m.offset, tp=replica.tp)
            broker.halted = True  # up to 2.0.0 (KAFKA-7414): the process exits
            return False
        if cut_or_fail(broker, thread, state, m.offset, "F-9", out):
            go_on_fetching(broker, replica, state, out)
            state.lag = 0
    elif m.timestamp == LATEST:
        state.lag = m.offset  # kept until the start is known, then turned into a lag
        look_up(broker, thread, m.tp, EARLIEST, out)
        return False
    else:
        thread.lookups.remove(m.tp)
        restart_at(broker, replica, state, m.offset, out)
    return True
