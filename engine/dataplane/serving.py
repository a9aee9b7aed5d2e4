"""The leader's side of Fetch, OffsetForLeaderEpoch and ListOffsets (S-, T-3, C-5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.dataplane.insync import forget_position, update_follower_fetch_state
from engine.dataplane.limits import budget_of
from engine.dataplane.purgatory import answer_fetch, park_fetch
from engine.dataplane.reading import access_error, not_hosted, read_partition
from engine.dataplane.session_serving import take_context
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import NONE, OFFSET_NOT_AVAILABLE, UNKNOWN_SERVER_ERROR
from engine.model.last_fetch import LastFetch
from engine.model.log import Log
from engine.model.messages import (
    EARLIEST,
    EARLIEST_LOCAL,
    LATEST,
    NO_EPOCH,
    EpochEndRequest,
    EpochEndResponse,
    FetchData,
    FetchPartition,
    FetchRequest,
    ListOffsetsRequest,
    ListOffsetsResponse,
    Oversized,
    Redirection,
)
from engine.model.session_messages import SessionFetch
from engine.model.state import RemoteReplica, Replica


def on_fetch_request(broker: Process, m: FetchRequest, out: Effects) -> None:
    """S-1, S-2, S-4, S-5.  Read, record the follower's position, and answer or wait for bytes."""
    if isinstance(m, SessionFetch):
        read = take_context(broker, m, out)
        if read is None:
            return
        m = read
    last = recall_last_fetch(broker, m, out.now) if broker.last_fetches else None
    parts = m.partitions if last is None else last.to_visit()
    answer = []
    available = 0
    at_once = m.max_wait <= 0 or not m.partitions
    later: list[FetchPartition | None] = []
    budget = budget_of(broker, m)
    for fp in parts:
        data = read_partition(broker, m, fp, out, budget)
        if data.error or data.diverging is not None or isinstance(data, Oversized):
            at_once = True
        noted = None
        if not data.error and (data.diverging is None or _counts_diverging(broker, fp)):
            for batch in data.batches:
                available += batch.end - batch.base
            if m.replica >= 0 and broker.profile.position_noted_per_partition:
                data = _note_position(broker, m, fp, data, out)
            elif m.replica >= 0:
                noted = fp
        if data.error:
            at_once = True
            if m.replica >= 0 and broker.profile.error_counts_as_position:
                _forget_position(broker, fp.tp, m.replica, out)
        answer.append(data)
        later.append(noted)
    if not broker.profile.position_noted_per_partition:
        answer = _note_positions(broker, m, later, answer, out)
        available = sum(batch.end - batch.base for data in answer for batch in data.batches)
        at_once = at_once or any(data.error for data in answer)
    available *= broker.configs.record_bytes
    if m.changes is not None and broker.quotas is None:
        last = remember_last_fetch(broker, m, last, parts, answer, out.now)
    if not at_once and available < m.min_bytes and not (m.rack and _redirects(answer)):
        park_fetch(broker, m, last, out)
    else:
        answer_fetch(broker, m, last, answer, out)


def _note_positions(
    broker: Process,
    m: FetchRequest,
    later: list[FetchPartition | None],
    answer: list[FetchData],
    out: Effects,
) -> list[FetchData]:
    """S-4, before 3.3.  Record the positions in order, once all partitions are read.

    If the sender is no replica of a partition: from 0.8.1 to 0.11 the whole request gets an error,
    though the positions recorded before it stay (`NotAssignedReplicaException`, KAFKA-5758); from
    1.0 on that partition is answered without records
    (`ReplicaManager.updateFollowerLogReadResults`, `LogReadResult.withEmptyFetchInfo`).
    """
    for index, position in enumerate(later):
        if position is None:
            continue
        replica, data = broker.replicas[position.tp], answer[index]
        if m.replica in replica.assignment:
            answer[index] = _note_position(broker, m, position, data, out)
        elif broker.profile.stranger_spoils_fetch:
            out.cue("S-4.stranger", broker.id, "error", m.replica, None, tp=position.tp)
            return [FetchData(part.tp, UNKNOWN_SERVER_ERROR, -1, -1, ()) for part in answer]
        elif not data.error:
            answer[index] = FetchData(position.tp, NONE, data.hw, data.log_start, ())
    return answer


def _note_position(
    broker: Process, m: FetchRequest, fp: FetchPartition, data: FetchData, out: Effects
) -> FetchData:
    """S-4.  Record the sender's position as its partition is read; return the response.

    Before 3.3 positions are recorded once all partitions are read.  The response may be an error.

    In 1.0.0, 1.0.1 and 1.1.0 the response has the high watermark that this fetch has advanced
    (`LogReadResult.updateLeaderReplicaInfo`, gone in 1.0.2 and 1.1.1, KAFKA-7104).
    """
    replica = broker.replicas[fp.tp]
    error = update_follower_fetch_state(
        broker,
        replica,
        m.replica,
        fp.offset,
        fp.log_start,
        replica.log.leo,
        m.replica_epoch,
        out,
    )
    if error:
        return FetchData(fp.tp, error, -1, -1, ())
    if replica.profile.textbook_response_hw:
        data.hw = replica.log.hw
    return data


def _forget_position(broker: Process, tp: int, follower: int, out: Effects) -> None:
    """S-4, 0.9 - 2.3.  Record position -1 for a fetch that failed (KAFKA-8400)."""
    replica = broker.replicas.get(tp)
    if replica is not None and follower in replica.remote:
        before = replica.remote[follower].leo
        forget_position(replica, follower)
        if before >= 0:
            out.cue("S-4", broker.id, "remote", before, -1, tp=tp, about=follower)


def _redirects(answer: list[FetchData]) -> bool:
    """S-5, C-8.  Return True if the response names another replica; it is then sent at once."""
    return any(isinstance(data, Redirection) for data in answer)


def _counts_diverging(broker: Process, fp: FetchPartition) -> bool:
    """KAFKA-13141, until 2.7.1 and in 2.8.0.  Check if a diverging fetch counts as position."""
    return not broker.replicas[fp.tp].profile.diverging_skips_follower_update


def epoch_end(broker: Process, tp: int, epoch: int, leader_epoch: int) -> tuple[int, int, int]:
    """Answer OffsetForLeaderEpoch for one partition: (error, epoch, end offset).

    After the comparison of T-3 only the leader answers.
    """
    replica = broker.replicas.get(tp)
    if replica is None:
        return not_hosted(broker, tp), -1, -1
    error = access_error(replica, leader_epoch, leader_only=True)
    if error:
        return error, -1, -1
    return (NONE, *replica.log.end_offset_for_epoch(epoch))


def on_epoch_end_request(broker: Process, m: EpochEndRequest, out: Effects) -> None:
    """T-1, T-2, T-3, leader's side.  Answer with the end offset of the requested epoch."""
    answers = []
    for tp, epoch, leader_epoch in m.partitions:
        error, end_epoch, end = epoch_end(broker, tp, epoch, leader_epoch)
        out.cue("E-5", broker.id, "end", epoch, (end_epoch, end), tp=tp)
        answers.append((tp, error, end_epoch, end))
    out.send(EpochEndResponse(broker.id, m.src, m.corr, answers))


def on_list_offsets_request(broker: Process, m: ListOffsetsRequest, out: Effects) -> None:
    """F-9, C-5, H-9.  Answer; LATEST is the LEO for a replica, the high watermark for a client."""
    replica = broker.replicas.get(m.tp)
    if replica is None:
        error, offset, epoch = not_hosted(broker, m.tp), -1, NO_EPOCH
    else:
        error, offset, epoch, _ = look_up_offset(replica, m.timestamp, m.src < 0, m.leader_epoch)
        if error == OFFSET_NOT_AVAILABLE:
            out.cue("H-9", broker.id, "error", m.src, error, tp=replica.tp)
    out.send(ListOffsetsResponse(broker.id, m.src, m.corr, m.tp, m.timestamp, error, offset, epoch))


NOTHING: Final = -1

Found = tuple[int, int, int, int]
"""(error, offset, leader epoch, timestamp in ms); -1 for what there is not."""


def look_up_offset(
    replica: Replica,
    timestamp: int,
    client: bool,
    leader_epoch: int = NO_EPOCH,
) -> Found:
    """C-5.  Look up LATEST, EARLIEST or the first record not older than `timestamp` (ms).

    A client sees no further than the high watermark, a replica to the log's end.  As long as a new
    leader's high watermark has not reached the start of its epoch, a client gets a retriable error:
    the former leader may have shown it more than this one can yet (H-9; KIP-207, 2.2).
    """
    error = access_error(replica, leader_epoch, leader_only=True)
    if error:
        return error, NOTHING, NO_EPOCH, NOTHING
    log = replica.log
    if timestamp == EARLIEST:
        return NONE, log.log_start, log.epochs.epoch_for_offset(log.log_start), NOTHING
    if timestamp == EARLIEST_LOCAL:  # R-5, KIP-405
        start = log.known_local_start()
        return NONE, start, log.epochs.epoch_for_offset(start), NOTHING
    limit = log.hw if client else log.leo
    lagging = client and replica.profile.offset_not_available and log.hw < replica.epoch_start
    if timestamp == LATEST:
        result: Found = (NONE, limit, replica.leader_epoch, NOTHING)
    else:
        result = first_at(log, timestamp, limit)
        lagging = lagging and result[1] == NOTHING
    return (OFFSET_NOT_AVAILABLE, NOTHING, NO_EPOCH, NOTHING) if lagging else result


def first_at(log: Log, timestamp: int, limit: int) -> Found:
    """C-5.  Return the first record below `limit` whose timestamp is `timestamp` or later."""
    for batch in log.batches:
        times = batch.times or (batch.time,) * len(batch.values)
        for at, time in enumerate(times):
            offset = batch.base + at
            if time >= timestamp and offset >= log.log_start:
                if offset >= limit:
                    return NONE, NOTHING, NO_EPOCH, NOTHING
                return NONE, offset, batch.epoch, time
    return NONE, NOTHING, NO_EPOCH, NOTHING


def recall_last_fetch(broker: Process, m: FetchRequest, now: int) -> LastFetch | None:
    """S-1.  Return the follower's last fetch, updated by this one; None: visit every partition."""
    changes, last = m.changes, None
    if changes is not None and changes.after and broker.quotas is None:
        last = broker.last_fetches.pop((m.src, changes.after), None)
    if changes is None or last is None:
        _forget_last_fetches(broker, m)
        return None
    last.update(changes)
    for tp in last.unsettled:
        replica = broker.replicas.get(tp)
        remote = None if replica is None else replica.remote.get(m.replica)
        if remote is not None:
            remote.unsettle()
    last.fetched_ms = now
    return last


def _forget_last_fetches(broker: Process, m: FetchRequest) -> None:
    """Forget what is remembered of fetches of the same partitions by this follower."""
    tps = {fp.tp for fp in m.partitions}
    for key, last in list(broker.last_fetches.items()):
        if last.follower == m.replica and not tps.isdisjoint(last.parts):
            last.is_valid = False
            del broker.last_fetches[key]


def remember_last_fetch(
    broker: Process,
    m: FetchRequest,
    last: LastFetch | None,
    parts: Sequence[FetchPartition],
    answer: Sequence[FetchData],
    now: int,
) -> LastFetch:
    """S-1.  Note the answers to the parts that were visited, and which of them are settled."""
    if last is None:
        last = LastFetch(m.replica, {fp.tp: fp for fp in parts}, now)
    last.unsettled = set()
    for fp, data in zip(parts, answer, strict=True):
        last.note(fp.tp, data)
        remote = _settled(broker, m.replica, fp, data)
        if remote is None:
            last.unsettled.add(fp.tp)
        else:
            remote.last_fetch = last
    broker.last_fetches[m.src, m.corr] = last
    return last


def _settled(
    broker: Process, follower: int, fp: FetchPartition, data: FetchData
) -> RemoteReplica | None:
    """Return the leader's view of the follower if the same fetch again would change only its times.

    The answer has no records and no error; the follower is in the ISR, and where it says it is.
    """
    if data.error or data.batches or data.diverging is not None or isinstance(data, Oversized):
        return None
    replica = broker.replicas[fp.tp]
    log, remote = replica.log, replica.remote.get(follower)
    if (
        remote is None
        or follower not in replica.isr
        or not remote.leo == fp.offset == log.leo
        or data.hw != log.hw
    ):
        return None
    return remote
