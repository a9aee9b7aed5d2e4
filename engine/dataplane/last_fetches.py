"""The leader's memory of its followers' fetches: which partitions a fetch has to visit (S-1)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.broker import Process
from engine.model.last_fetch import LastFetch
from engine.model.messages import FetchData, FetchPartition, FetchRequest, Oversized
from engine.model.state import RemoteReplica


def recall(broker: Process, m: FetchRequest, now: int) -> LastFetch | None:
    """S-1.  Return the follower's last fetch, updated by this one; None: visit every partition."""
    changes, last = m.changes, None
    if changes is not None and changes.after and broker.quotas is None:
        last = broker.last_fetches.pop((m.src, changes.after), None)
    if changes is None or last is None:
        _forget(broker, m)
        return None
    last.update(changes)
    for tp in last.unsettled:
        replica = broker.replicas.get(tp)
        remote = None if replica is None else replica.remote.get(m.replica)
        if remote is not None:
            remote.unsettle()
    last.fetched_ms = now
    return last


def _forget(broker: Process, m: FetchRequest) -> None:
    """Forget what is remembered of fetches of the same partitions by this follower."""
    tps = {fp.tp for fp in m.partitions}
    for key, last in list(broker.last_fetches.items()):
        if last.follower == m.replica and not tps.isdisjoint(last.parts):
            last.is_valid = False
            del broker.last_fetches[key]


def remember(
    broker: Process,
    m: FetchRequest,
    last: LastFetch | None,
    parts: Sequence[FetchPartition],
    answer: Sequence[FetchData],
    now: int,
) -> LastFetch:
    """S-1.  Note the answers to the parts that were visited, and which of them are settled."""
    if last is None:
        last = LastFetch(m.replica, parts, now)
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
