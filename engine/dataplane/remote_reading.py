"""Reads below the local log start (data-plane, R-6; `ReplicaManager.handleOffsetOutOfRangeError`).

A follower is sent away (R-5), a consumer gets the records from remote storage.
"""

from __future__ import annotations

from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import (
    NONE,
    OFFSET_MOVED_TO_TIERED_STORAGE,
    OFFSET_OUT_OF_RANGE,
    UNKNOWN_SERVER_ERROR,
)
from engine.model.messages import FetchData, FetchPartition, FetchRequest


def read_below_local_start(
    broker: Process, m: FetchRequest, fp: FetchPartition, out: Effects
) -> FetchData:
    """R-6.  Answer a fetch of an offset that no local segment holds.

    `RemoteLogManager.read` finds the segment by the epoch of the offset; where there is none, the
    offset is out of range.  An error of the store is no error that a client knows.  A broker that
    does not know its local log start looks nowhere else (KAFKA-15695).
    """
    log, store = broker.replicas[fp.tp].log, broker.machine.store
    if store is None or not log.log_start <= fp.offset < log.known_local_start():
        return FetchData(fp.tp, OFFSET_OUT_OF_RANGE, log.hw, log.log_start, ())
    if m.replica >= 0:
        out.cue("R-6.moved", broker.id, "moved", fp.offset, log.local_start, tp=fp.tp)
        return FetchData(fp.tp, OFFSET_MOVED_TO_TIERED_STORAGE, log.hw, log.log_start, ())
    segment = store.log_of(fp.tp).segment_at(log.epochs.epoch_for_offset(fp.offset), fp.offset)
    if segment is None:
        out.cue("R-6.missing", broker.id, "remote read", fp.offset, None, tp=fp.tp)
        return FetchData(fp.tp, OFFSET_OUT_OF_RANGE, log.hw, log.log_start, ())
    if not store.up:
        out.cue("R-6.failed", broker.id, "remote read", fp.offset, None, tp=fp.tp)
        return FetchData(fp.tp, UNKNOWN_SERVER_ERROR, log.hw, log.log_start, ())
    wanted = [batch for batch in segment.batches if batch.end > fp.offset]
    out.cue("R-6", broker.id, "remote read", fp.offset, segment.end, tp=fp.tp)
    return FetchData(fp.tp, NONE, log.hw, log.log_start, wanted[: m.max_records])
