"""A disk that writes slower than data arrives (control-plane 8.6)."""

from __future__ import annotations

from typing import Any, Final

from engine.dataplane import fetcher, produce, serving
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.messages import FETCH, PRODUCE, FetchRequest, FetchResponse, ProduceRequest
from engine.model.state import LEADER
from engine.model.timers import DISK_WRITE

MICROSECONDS: Final = 1_000_000


def on_fetch_response(broker: Process, m: FetchResponse, out: Effects) -> None:
    """F-7 behind a slow disk.  Go on once the fetched records are written."""
    thread = fetcher.waiting_thread(broker, m.src, m.corr)
    count = sum(batch.end - batch.base for data in m.partitions for batch in data.batches)
    if thread is None or not _writes(broker, m, count, out):
        fetcher.on_fetch_response(broker, m, out)


def on_produce_request(broker: Process, m: ProduceRequest, out: Effects) -> None:
    """P-3 behind a slow disk.  Delay a produce; a refused one is not written and needs no time."""
    if produce.refusal(broker, m) or not _writes(broker, m, len(m.values), out):
        produce.on_produce_request(broker, m, out)


def on_fetch_request(broker: Process, m: FetchRequest, out: Effects) -> None:
    """S-2 behind a disk that reads slowly (KAFKA-8733).  Delay the fetch until the disk has read.

    Until then the fetch counts for nothing: a follower may leave the ISR while its request is being
    served.  What is appended while a fetch waits is still in memory and answers it at once.
    """
    count = 0
    if broker.machine.read_rate and m.replica >= 0:
        for fp in m.partitions:
            replica = broker.replicas.get(fp.tp)
            if replica is not None and replica.role == LEADER:
                there = max(0, replica.log.leo - fp.offset)
                count += min(there, broker.configs.fetch_max_records)
    if count:
        _busy(broker, m, count, broker.machine.read_rate, "CP-8.6.reads", out)
    else:
        serving.on_fetch_request(broker, m, out)


def on_written(broker: Process, m: Any, out: Effects) -> bool:
    """Handle a message once the disk has written what it brought or read what it asks for."""
    if m.kind == PRODUCE:
        produce.on_produce_request(broker, m, out)
    elif m.kind == FETCH:
        serving.on_fetch_request(broker, m, out)
    else:
        fetcher.on_fetch_response(broker, m, out)
    return True


def _writes(broker: Process, m: Any, count: int, out: Effects) -> bool:
    """8.6.  Queue a write; False if it costs no time.

    The disk knows nothing of heartbeats, so the broker stays alive for the controller.
    """
    if not count or not broker.machine.disk_rate:
        return False
    _busy(broker, m, count, broker.machine.disk_rate, "CP-8.6.writes", out)
    return True


def _busy(broker: Process, m: Any, count: int, rate: float, rule: str, out: Effects) -> None:
    """Queue `m` behind the disk's other work; it is handled when its own is done."""
    begins = max(out.now * 1_000, broker.disk_free_us)
    broker.disk_free_us = begins + round(count * MICROSECONDS / rate)
    wait = -(-broker.disk_free_us // 1_000) - out.now
    out.cue(rule, broker.id, "disk", count, wait)
    out.timer(broker.id, wait, DISK_WRITE, m)
