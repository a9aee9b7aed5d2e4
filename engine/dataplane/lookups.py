"""ListOffsets of a fetcher: out of range (data-plane, F-9), or moved to remote storage (R-5)."""

from __future__ import annotations

from engine.dataplane import tier_state
from engine.dataplane.partition_fetch_state import (
    cut_or_fail,
    go_on_fetching,
    on_error,
    restart_at,
)
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.messages import (
    EARLIEST,
    LATEST,
    NO_EPOCH,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from engine.model.state import FetcherThread


def go_on(broker: Process, thread: FetcherThread, out: Effects) -> None:
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


def on_offset(broker: Process, thread: FetcherThread, m: ListOffsetsResponse, out: Effects) -> bool:
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
