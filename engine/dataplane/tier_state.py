"""The follower's way past what its leader has only in remote storage (data-plane, R-5).

`AbstractFetcherThread.handleOffsetsMovedToTieredStorage`, `TierStateMachine` (KIP-405; in 3.6 and
3.7 `ReplicaFetcherTierStateMachine`).
"""

from __future__ import annotations

from engine.dataplane.partition_fetch_state import delay_last, go_on_fetching, on_error
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.messages import (
    EARLIEST_LOCAL,
    LATEST,
    EpochEndRequest,
    FetchData,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from engine.model.remote_log import Rebuild, RemoteLog, RemoteSegment
from engine.model.state import FetcherThread, PartitionFetchState, Replica
from engine.model.timers import REMOTE_INDEX

EpochEnd = tuple[int, int, int, int]
"""(partition, error, epoch, end offset) of an OffsetForLeaderEpoch answer."""


def start(
    broker: Process,
    thread: FetcherThread,
    state: PartitionFetchState,
    data: FetchData,
    out: Effects,
) -> None:
    """R-5.1.  Begin to rebuild: what follows our log is no longer on the leader's disk."""
    out.cue("R-5", broker.id, "moved", state.offset, data.log_start, tp=state.tp)
    thread.rebuilds[state.tp] = Rebuild(state.leader_epoch, data.log_start)
    thread.lookups.append(state.tp)


def go_on(broker: Process, thread: FetcherThread, tp: int, out: Effects) -> None:
    """R-5.  Request the leader's local log start, the end of the epoch before it, or its end."""
    rebuild, state = thread.rebuilds[tp], thread.partitions[tp]
    thread.outstanding = broker.next_corr()
    state.asked_epoch = state.leader_epoch
    if rebuild.local_start >= 0 and not rebuild.built:
        thread.requested = frozenset((tp,))
        ask = [(tp, rebuild.epoch - 1, state.leader_epoch)]
        out.send(EpochEndRequest(broker.id, thread.leader, thread.outstanding, ask))
        return
    timestamp = LATEST if rebuild.built else EARLIEST_LOCAL
    out.send(
        ListOffsetsRequest(
            broker.id, thread.leader, thread.outstanding, tp, timestamp, state.leader_epoch
        )
    )


def on_offset(
    broker: Process,
    thread: FetcherThread,
    state: PartitionFetchState,
    m: ListOffsetsResponse,
    out: Effects,
) -> bool:
    """R-5.2, R-5.5.  Take the leader's local log start, or its end; True: the loop goes on."""
    rebuild = thread.rebuilds[m.tp]
    if m.error:
        _end(thread, m.tp)
        on_error(broker, thread, state, m.error, out)
    elif m.timestamp == LATEST:
        _end(thread, m.tp)
        replica = broker.replicas[m.tp]
        go_on_fetching(broker, replica, state, out)
        state.lag = max(0, m.offset - replica.log.leo)
    else:
        rebuild.local_start, rebuild.epoch = m.offset, m.leader_epoch
        if m.leader_epoch == 0:  # no earlier epoch can hold the offset before it
            _build(broker, thread, state, 0, out)
    return True


def on_epoch_end(broker: Process, thread: FetcherThread, answer: EpochEnd, out: Effects) -> None:
    """R-5.3.  Find the epoch of the offset before the leader's local log start, and rebuild."""
    tp, error, epoch, end = answer
    state, rebuild = thread.partitions[tp], thread.rebuilds[tp]
    if error:
        _end(thread, tp)
        on_error(broker, thread, state, error, out)
        return
    target = epoch if end > rebuild.local_start - 1 else rebuild.epoch
    _build(broker, thread, state, target, out)


def _end(thread: FetcherThread, tp: int) -> None:
    del thread.rebuilds[tp]
    thread.lookups.remove(tp)


def _build(
    broker: Process, thread: FetcherThread, state: PartitionFetchState, epoch: int, out: Effects
) -> None:
    """R-5.4.  Begin the log after a remote segment (`buildRemoteLogAuxState`).

    The metadata says which segment; only then the log is truncated, and only after that the epochs
    and the producers are read from the store.  An error leaves an empty log, and a later fetch
    tries it all again.
    """
    tp = state.tp
    rebuild, store = thread.rebuilds[tp], broker.machine.store
    remote = RemoteLog() if store is None else store.log_of(tp)
    segment = remote.segment_at(epoch, rebuild.local_start - 1)
    if segment is None:
        out.cue("R-5.missing", broker.id, "segment", epoch, rebuild.local_start - 1, tp=tp)
        _end(thread, tp)
        delay_last(broker, thread, state, out)
        return
    _begin_after(broker.replicas[tp], segment, rebuild.leader_start, out)
    rebuild.segment = segment
    if store is not None and store.slow_ms:
        thread.outstanding = broker.next_corr()
        data = (thread.leader, thread.fetcher, thread.outstanding, tp)
        out.timer(broker.id, store.slow_ms, REMOTE_INDEX, data)
        out.cue("R-5.waits", broker.id, "index", segment.base, segment.end, tp=tp)
        return
    read_index(broker, thread, tp, out)


def read_index(broker: Process, thread: FetcherThread, tp: int, out: Effects) -> None:
    """R-5.4.  Take epochs and producers of the segment from the store, if it works."""
    rebuild, store = thread.rebuilds[tp], broker.machine.store
    segment = rebuild.segment
    assert segment is not None
    if store is None or not store.up:
        out.cue("R-5.failed", broker.id, "index", segment.base, segment.end, tp=tp)
        _end(thread, tp)
        delay_last(broker, thread, thread.partitions[tp], out)
        return
    _restore(broker.replicas[tp], segment, store.log_of(tp))
    rebuild.built = True
    out.touch(broker.id, tp)
    out.cue("R-5.built", broker.id, "epochs", segment.base, segment.end, tp=tp)


def _begin_after(replica: Replica, segment: RemoteSegment, log_start: int, out: Effects) -> None:
    """R-5.4, L-15.  Drop everything; the log ends and is local from the segment's end on."""
    log = replica.log
    before, local_start = log.leo, log.known_local_start()
    cut = log.truncate_fully(segment.end, log_start)
    log.local_start = log.flushed = segment.end
    if replica.profile.local_start_stays:
        log.believed_start = local_start
    disk = replica.disk
    disk.recovery_checkpoint = min(disk.recovery_checkpoint, log.leo)
    disk.log_start_checkpoint = min(disk.log_start_checkpoint, log.log_start)
    out.touch(replica.broker, replica.tp)
    out.cue("R-5.cut", replica.broker, "leo", before, segment.end, tp=replica.tp)
    if out.cues is not None and cut:
        out.cue("L-14", replica.broker, "cut", replica.tp, tuple(cut), tp=replica.tp)


def _restore(replica: Replica, segment: RemoteSegment, remote: RemoteLog) -> None:
    """R-5.4.  Take epochs and producers from the segment; the observer gets the remote batches."""
    log = replica.log
    log.epochs.epochs = [epoch for epoch, _ in segment.checkpoint]
    log.epochs.starts = [start for _, start in segment.checkpoint]
    log.producers = segment.producers.copy()
    log.batches = remote.lineage(log.epochs, log.log_start, log.local_start)
    log.bases = [batch.base for batch in log.batches]
