"""The produce path (data-plane, L-3, P-)."""

from __future__ import annotations

from engine.dataplane import futures
from engine.dataplane.purgatory import after_append, wait_for_hw
from engine.dataplane.reading import not_hosted
from engine.dataplane.watermark import maybe_increment_hw
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import (
    INVALID_REQUIRED_ACKS,
    MESSAGE_TOO_LARGE,
    NONE,
    NOT_ENOUGH_REPLICAS,
    NOT_LEADER_OR_FOLLOWER,
    OUT_OF_ORDER_SEQUENCE_NUMBER,
    UNKNOWN_PRODUCER_ID,
)
from engine.model.log import Batch
from engine.model.messages import ProduceRequest, ProduceResponse
from engine.model.profiles import Profile
from engine.model.state import LEADER, DelayedProduce, Replica

ALL = -1


def on_produce_request(broker: Process, m: ProduceRequest, out: Effects) -> None:
    """P-2, P-3.  Append; then answer for acks=1, and wait for HW for acks=all."""
    replica = broker.replicas.get(m.tp)
    error = refusal(broker, m)
    if error or replica is None:
        out.cue("L-3.refused", broker.id, "error", m.values, error, tp=m.tp)
        if m.acks != 0:
            out.send(ProduceResponse(broker.id, m.src, m.corr, m.tp, error, -1, m.values))
        return
    error, base, end, _ = append_once(broker, replica, m, out)
    start = replica.log.log_start
    if error:
        out.cue("P-7.refused", broker.id, "error", m.values, error, tp=replica.tp)
        if m.acks != 0:
            out.send(ProduceResponse(broker.id, m.src, m.corr, m.tp, error, -1, m.values, start))
    elif m.acks == ALL:
        wait_for_hw(broker, replica, DelayedProduce(m, base, end, out.now + m.timeout), out)
    elif m.acks == 1:
        out.cue("P-2", broker.id, "ack", m.values, NONE, tp=replica.tp)
        out.send(ProduceResponse(broker.id, m.src, m.corr, m.tp, NONE, base, m.values, start))


def refusal(broker: Process, m: ProduceRequest) -> int:
    """P-1, P-5, L-3.1 - L-3.3.  Return why nothing may be written, or NONE."""
    if m.acks not in (ALL, 0, 1):
        return INVALID_REQUIRED_ACKS
    replica = broker.replicas.get(m.tp)
    if replica is None:
        return not_hosted(broker, m.tp)
    if replica.role != LEADER:
        return NOT_LEADER_OR_FOLLOWER
    if m.acks == ALL and len(replica.isr) < replica.min_isr():
        return NOT_ENOUGH_REPLICAS
    if len(m.values) > replica.configs.message_max_records:
        return MESSAGE_TOO_LARGE
    return NONE


def append_once(
    broker: Process, replica: Replica, m: ProduceRequest, out: Effects
) -> tuple[int, int, int, bool]:
    """L-3.8, P-7.  Return (error, base, end, whether it was a duplicate) of the batch in the log.

    A duplicate writes nothing and is acknowledged with the offsets of the original, which with
    acks=all may still have to wait for the high watermark.
    """
    if m.producer >= 0 and replica.profile.idempotent_producer:
        error, written = replica.log.producers.check(
            m.producer,
            m.producer_epoch,
            m.sequence,
            len(m.values),
            unknown_producer(replica.profile),
        )
        if error:
            return error, -1, -1, False
        if written is not None:
            out.cue("P-7", broker.id, "duplicate", m.values, written[2], tp=replica.tp)
            return NONE, written[2], written[3] + 1, True
    batch = append_as_leader(broker, replica, m, out)
    return NONE, batch.base, batch.end, False


def unknown_producer(profile: Profile) -> int:
    """P-7.  Return the error for a producer unknown to the log whose number is not 0."""
    if profile.unknown_producer_error:
        return UNKNOWN_PRODUCER_ID
    return OUT_OF_ORDER_SEQUENCE_NUMBER if profile.unknown_producer_starts_at_zero else NONE


def append_as_leader(broker: Process, replica: Replica, m: ProduceRequest, out: Effects) -> Batch:
    """L-3.4 - L-3.12, H-3.  Append at LEO in the current epoch, try HW, wake waiting requests."""
    log = replica.log
    before = log.leo
    batch = Batch(
        before,
        replica.leader_epoch,
        m.values,
        max(m.times) if m.times else out.now,
        m.producer,
        m.producer_epoch,
        m.sequence,
        m.times,
    )
    log.append(batch)
    replica.unsettle()
    out.touch(broker.id, replica.tp)
    if log.leo - log.flushed >= broker.configs.flush_messages:
        log.flush(log.leo)
    if out.cues is not None:
        out.cue("L-3", broker.id, "leo", before, log.leo, tp=replica.tp)
    moved = maybe_increment_hw(broker, replica, out)
    after_append(broker, replica, moved, out)
    if broker.machine.futures:
        futures.wake(broker, out)
    return batch
