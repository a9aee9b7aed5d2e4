"""State of one partition in a fetcher, and its transitions (data-plane, F-2, F-8)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.dataplane import futures, truncation, watermark
from engine.dataplane.purgatory import wake_fetch
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import FENCED_LEADER_EPOCH
from engine.model.java_hash import absolute, string_hash, wrapped
from engine.model.log import Batch
from engine.model.messages import NO_EPOCH, FetchData, FetchResponse
from engine.model.profiles import FETCH, HW, KIP101
from engine.model.state import FETCHING, TRUNCATING, FetcherThread, PartitionFetchState, Replica


def fetcher_id(topic: str, partition: int, fetchers: int) -> int:
    """F-1.  Return the fetcher thread of a partition among those towards a broker.

    It is 31 times Java's hash of the topic, plus the partition, in wrapping int32.
    """
    return absolute(wrapped(31 * string_hash(topic) + partition)) % fetchers


def initial_state(replica: Replica, offset: int, leader_epoch: int) -> PartitionFetchState:
    """F-2.  Return the table of starting states, by generation."""
    tp, log, generation = replica.tp, replica.log, replica.profile.truncation
    latest = log.epochs.latest()
    if offset < 0:
        last = latest if generation == FETCH else NO_EPOCH
        return PartitionFetchState(tp, log.leo, leader_epoch, FETCHING, last)
    if generation == FETCH and latest >= 0:
        return PartitionFetchState(tp, offset, leader_epoch, FETCHING, latest)
    if generation == HW and offset == log.leo:
        return PartitionFetchState(tp, offset, leader_epoch, FETCHING, NO_EPOCH)
    return PartitionFetchState(tp, offset, leader_epoch, TRUNCATING, NO_EPOCH)


def lag_of(broker: Process, tp: int) -> int | None:
    """Q-3, F-7.  Return a broker's believed lag in a partition; None before its first answer."""
    for thread in broker.fetchers.values():
        state = thread.partitions.get(tp)
        if state is not None:
            return state.lag
    return None


def is_lag_unknown(broker: Process) -> bool:
    """Q-3.  Check whether an answer without records leaves the lag unknown, from 2.5 to 3.5.0.

    `AbstractFetcherThread.processFetchRequest` at 3.5.0 (KAFKA-15080).  Only quotas ask for it.
    """
    return broker.quotas is not None and broker.profile.idle_lag_unknown


def set_topic_ids(broker: Process, topic_ids: dict[int, str]) -> None:
    """Note assigned topic ids: the fetchers' requests name them from now on."""
    for thread in broker.fetchers.values():
        for state in thread.partitions.values():
            if state.tp in topic_ids:
                state.topic_id = topic_ids[state.tp]


def usable_batches(
    replica: Replica, state: PartitionFetchState, batches: Sequence[Batch]
) -> Sequence[Batch]:
    """L-4.2.  Drop batches from the first of a newer epoch than the request's (KAFKA-18723)."""
    if replica.profile.drops_newer_epoch_batches:
        for at, batch in enumerate(batches):
            if batch.epoch > state.asked_epoch:
                return batches[:at]
    return batches


def refuses(replica: Replica, batches: Sequence[Batch]) -> bool:
    """L-4.  Check whether the follower's log throws at these batches, which ends its fetcher.

    KAFKA-6003: in 0.11.0.0 and 0.11.0.1 the sequence number of a producer without an entry has to
    be 0 (`ProducerAppendInfo.validateAppend`).  KAFKA-6975: until 1.0.1, and in 1.1.0, a log that
    begins inside a batch refuses it (`Partition.appendRecordsToFollower` at 1.0.2).
    """
    profile, log = replica.profile, replica.log
    if profile.refuses_straddling_batch and batches[0].base < log.leo:
        return True
    if not profile.follower_checks_sequences:
        return False
    producers = set(log.producers.entries)
    for batch in batches:
        if batch.producer >= 0 and batch.producer not in producers:
            if batch.sequence != 0:
                return True
            producers.add(batch.producer)
    return False


def cut_or_fail(
    broker: Process,
    thread: FetcherThread,
    state: PartitionFetchState,
    target: int,
    rule: str,
    out: Effects,
) -> bool:
    """L-14.  Truncate; False if the disk fails (L-16), which fails this partition only (F-8)."""
    try:
        truncation.cut(broker.replicas[state.tp], target, rule, out)
    except OSError:
        fail_partition(broker, thread, state.tp, out)
        return False
    return True


def cut_by_answer(
    broker: Process,
    thread: FetcherThread,
    state: PartitionFetchState,
    epoch: int,
    end: int,
    out: Effects,
) -> None:
    """T-1 or T-2.  Truncate, by generation; not done means that the next round asks again."""
    replica = broker.replicas[state.tp]
    if replica.profile.truncation == KIP101:
        target, done = truncation.target_by_offset(replica.log, end, state.offset)
        rule = "T-1"
    else:
        target, done = truncation.target_by_pair(replica.log, epoch, end, state.offset)
        rule = "T-2"
    if not cut_or_fail(broker, thread, state, target, rule, out):
        return
    if done:
        go_on_fetching(broker, replica, state, out)
    else:
        state.offset = replica.log.leo


def take_high_watermark(broker: Process, tp: int, hw: int, out: Effects) -> None:
    """H-4.  Take the leader's high watermark; consumers may wait for it here."""
    replica = broker.replicas[tp]
    if watermark.follow(replica, hw, out):
        wake_fetch(broker, replica, out)


def take_first(
    broker: Process, thread: FetcherThread, tp: int, data: FetchData, out: Effects
) -> bool:
    """H-4, T-4.  Take the high watermark of an answer that asks to truncate; True: truncate now.

    That is so from 2.8 to 3.4.0 (`AbstractFetcherThread.processFetchRequest` at 3.4.0,
    KAFKA-14704).  A log start above the high watermark, of which only 2.8.0 is told here, makes the
    partition fail (KAFKA-12996).
    """
    take_high_watermark(broker, tp, data.hw, out)
    if data.log_start > broker.replicas[tp].log.hw and broker.profile.diverges_below_start:
        fail_partition(broker, thread, tp, out)
        return False
    return True


def cut_by_stale_answer(broker: Process, m: FetchResponse, out: Effects) -> None:
    """F-6.  Truncate by an answer to a fetch of an older leader epoch, at the same offset.

    Until 3.9.0, and in 4.0.0, the answer is matched with the fetch state by its offset only
    (`AbstractFetcherThread.processFetchRequest` at 3.9.0, KAFKA-18991).
    """
    for thread in list(broker.fetchers.values()):
        for data in m.partitions:
            state = thread.partitions.get(data.tp)
            if (
                state is not None
                and data.diverging is not None
                and thread.leader == m.src
                and state.stale == (m.corr, state.offset)
                and state.state == FETCHING
            ):
                cut_by_divergence(broker, thread, state, *data.diverging, out)


def cut_by_divergence(
    broker: Process,
    thread: FetcherThread,
    state: PartitionFetchState,
    epoch: int,
    end: int,
    out: Effects,
) -> None:
    """T-4.  Cut by T-2's rule and go on fetching; an incomplete match shows at the next Fetch."""
    replica = broker.replicas[state.tp]
    target, _ = truncation.target_by_pair(replica.log, epoch, end, replica.log.hw)
    if cut_or_fail(broker, thread, state, target, "T-4", out):
        go_on_fetching(broker, replica, state, out)


def go_on_fetching(
    broker: Process, replica: Replica, state: PartitionFetchState, out: Effects
) -> None:
    """End the truncation, also for the log that moves to another directory (D-4)."""
    state.state = FETCHING
    state.offset = replica.log.leo
    latest = replica.log.epochs.latest()
    state.last_epoch = latest if replica.profile.truncation == FETCH else NO_EPOCH
    if broker.machine.futures:
        futures.on_truncated(broker, replica.tp, state.offset, out)


def delay(broker: Process, state: PartitionFetchState, out: Effects) -> None:
    """F-8.  Delay by replica.fetch.backoff.ms, unless it waits already; retries have no limit."""
    if state.delay_until <= out.now:
        state.delay_until = out.now + broker.configs.fetch_backoff_ms


def go_last(broker: Process, thread: FetcherThread, tp: int) -> None:
    """F-7, F-8.  Move a partition with records or an error to the queue's end (KIP-74)."""
    if broker.profile.fair_order:
        thread.partitions[tp] = thread.partitions.pop(tp)
        if thread.sent is not None:
            thread.sent.go_last(tp)


def delay_last(
    broker: Process, thread: FetcherThread, state: PartitionFetchState, out: Effects
) -> None:
    """F-8.  Delay a partition and move it to the end of the queue."""
    if state.delay_until <= out.now:
        go_last(broker, thread, state.tp)
    delay(broker, state, out)


def unexpected(broker: Process, thread: FetcherThread, tp: int, out: Effects) -> None:
    """F-8.  Drop the partition after an unexpected error.

    Before KIP-461 the error ended the thread, and with it the fetching of all its partitions,
    whatever is decided about them, until none is left or the process is restarted.
    """
    if broker.profile.failed_partitions:
        fail_partition(broker, thread, tp, out)
        return
    thread.dead = True
    out.cue("F-8.thread", broker.id, "fetcher", None, tuple(thread.partitions), about=thread.leader)


def fail_partition(broker: Process, thread: FetcherThread, tp: int, out: Effects) -> None:
    """F-8.  Fail a partition until the control plane adds it again (KIP-461)."""
    thread.partitions.pop(tp, None)
    if not thread.partitions:
        broker.fetchers.pop((thread.leader, thread.fetcher), None)
    broker.failed.add(tp)
    out.cue("F-8.failed", broker.id, "failed", None, tp, tp=tp)


def restart_at(
    broker: Process, replica: Replica, state: PartitionFetchState, leader_start: int, out: Effects
) -> None:
    """F-9.3.  Drop everything and begin at the leader's start if it lies beyond our end.

    Until 0.9.0.0 everything goes in any case (`ReplicaFetcherThread.handleOffsetOutOfRange` at
    0.8.2.2 and 0.9.0.1, KAFKA-2143).

    2.4.0 leaves the high watermark where it was (`Log.truncateFullyAndStartAt`, KAFKA-9491).

    Where nothing was out of range after all, the same fetch fails again (KAFKA-15608).  Kafka asks
    at the network's pace; here the follower backs off, as a loop without delays has no pace.
    """
    log = replica.log
    leader_end = state.lag or 0
    if leader_start > log.leo or replica.profile.out_of_range_drops_all:
        before, high_watermark = log.leo, log.hw
        cut = log.truncate_fully(leader_start)
        if replica.profile.full_truncation_keeps_hw:
            log.hw = high_watermark
        out.touch(replica.broker, replica.tp)
        out.cue("F-9", replica.broker, "leo", before, leader_start, tp=replica.tp)
        if out.cues is not None and cut:
            out.cue("L-14", replica.broker, "cut", replica.tp, tuple(cut), tp=replica.tp)
    elif state.offset == log.leo:
        delay(broker, state, out)
    go_on_fetching(broker, replica, state, out)
    state.lag = max(0, leader_end - log.leo)


def on_error(
    broker: Process, thread: FetcherThread, state: PartitionFetchState, error: int, out: Effects
) -> None:
    """F-6, F-10.  Fail a partition fenced in its own current epoch; else back off."""
    out.cue("F-8", broker.id, "error", state.offset, error, tp=state.tp)
    if error == FENCED_LEADER_EPOCH:
        epoch = state.asked_epoch if state.asked_epoch >= 0 else state.leader_epoch - 1
        out.cue("F-10", broker.id, "epoch", epoch, None, tp=state.tp)
        if state.asked_epoch == state.leader_epoch or broker.profile.late_refusal_stops:
            fail_partition(broker, thread, state.tp, out)
            return
    delay_last(broker, thread, state, out)
