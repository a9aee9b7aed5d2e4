"""Replication of the metadata log between a leader and the other voters (10.1).

`LeaderState`, `ReplicatedLog`, `KafkaRaftClient.tryCompleteFetchRequest`.
"""

from __future__ import annotations

from typing import Final

from engine.model.effects import Effects
from engine.model.errors import NONE
from engine.model.quorum import LEADER, ControllerImage, MetadataLog, Quorum, Record, Voter
from engine.model.quorum_messages import QuorumFetchRequest, QuorumFetchResponse
from engine.model.state import NEVER
from engine.model.timers import PARKED_FETCH

MAX_FETCH_WAIT_MS: Final = 500
"""`KafkaRaftClient.MAX_FETCH_WAIT_MS`."""


# -- the leader ---------------------------------------------------------------------------------


def begin_leading(quorum: Quorum, v: Voter, records: list[Record], out: Effects) -> None:
    """Begin an epoch: take the state at the log's end, and append the first record of the epoch.

    Nothing was committed in this epoch yet, so the controller is not active.
    """
    k = quorum.images[v.log.end, v.log.last_epoch].controller()
    k.voter = v.id
    k.epoch = v.epoch
    k.alive = False
    k.check_at = NEVER
    k.log = v.log.records + records
    k.committed = max(v.hw, 0)
    v.controller = k
    append_new(quorum, v, out)


def stop_leading(v: Voter) -> None:
    """Forget what only a leader knows; `controller` is left to the caller to wind up."""
    v.progress = {}
    v.epoch_start = -1


def append_new(quorum: Quorum, v: Voter, out: Effects) -> None:
    """CP-RAFT-COMMIT.  Append what the controller has written since, as a batch of this epoch.

    Parked fetches are answered; a quorum of one commits at once.
    """
    k = v.controller
    assert k is not None
    before = v.log.end
    new = k.log[before:]
    v.log.append(v.epoch, new)
    quorum.images[v.log.end, v.epoch] = ControllerImage(k)
    out.cue("CP-RAFT-COMMIT.append", v.id, "metadata log", before, v.log.end)
    maybe_commit(quorum, v, out)
    for voter in list(v.parked):
        request = v.parked.pop(voter)
        assert isinstance(request, QuorumFetchRequest)
        count_fetch(quorum, v, voter, out)
        _answer(v, request, out)


def count_fetch(quorum: Quorum, v: Voter, voter: int, out: Effects) -> None:
    """CP-RAFT-EPOCH.  Begin the time for the next majority once a majority has fetched.

    `LeaderState.updateCheckQuorumForFollowingVoter`; the leader itself is of the majority.
    """
    if not v.check_ms:
        return
    if voter not in v.fetched:
        v.fetched += (voter,)
    if len(v.fetched) >= quorum.majority - 1:
        v.fetched, v.deadline = (), out.now + v.check_ms


def maybe_commit(quorum: Quorum, v: Voter, out: Effects) -> bool:
    """CP-RAFT-COMMIT.  Move the mark to what a majority has, if that is of this epoch.

    `LeaderState.maybeUpdateHighWatermark`; Raft 5.4.2.
    """
    ends = sorted([v.log.end, *(one.end for one in v.progress.values())], reverse=True)
    mark = ends[quorum.majority - 1]
    if mark <= v.epoch_start or mark <= v.hw:
        return False
    out.cue("CP-RAFT-COMMIT", v.id, "hw", v.hw, mark)
    v.hw = mark
    needed = min(one.log.end for one in quorum.voters.values())
    for key in [key for key in quorum.images if key[0] < needed]:
        del quorum.images[key]
    return True


def serve(
    quorum: Quorum, v: Voter, m: QuorumFetchRequest, mark_at_once: bool, out: Effects
) -> None:
    """CP-RAFT-FETCH.  Note how far the voter is, then answer it, or park the fetch.

    News is a record; since KIP-1166 (4.1) also a mark that the voter does not know.
    """
    if diverging(v.log, m.last_epoch, m.offset) is None:
        progress = v.progress[m.src]
        progress.acknowledged = True
        progress.end = m.offset
        count_fetch(quorum, v, m.src, out)
        if maybe_commit(quorum, v, out) and mark_at_once:
            _answer_stale_marks(quorum, v, out)
        if m.offset == v.log.end and not (mark_at_once and m.hw < v.hw):
            v.parked[m.src] = m
            out.timer(v.id, MAX_FETCH_WAIT_MS, PARKED_FETCH, (m.src, m.corr))
            return
    _answer(v, m, out)


def _answer_stale_marks(quorum: Quorum, v: Voter, out: Effects) -> None:
    for voter, request in list(v.parked.items()):
        assert isinstance(request, QuorumFetchRequest)
        if request.hw < v.hw:
            del v.parked[voter]
            count_fetch(quorum, v, voter, out)
            _answer(v, request, out)


def _answer(v: Voter, m: QuorumFetchRequest, out: Effects) -> None:
    parts = diverging(v.log, m.last_epoch, m.offset)
    batches = [] if parts else _batches(v.log, m.offset)
    out.send(QuorumFetchResponse(v.id, m.src, m.corr, NONE, v.epoch, v.id, v.hw, batches, parts))


def _batches(log: MetadataLog, offset: int) -> list[tuple[int, list[Record]]]:
    ends = [start for _, start in log.epochs[1:]] + [log.end]
    return [
        (epoch, log.records[max(start, offset) : end])
        for (epoch, start), end in zip(log.epochs, ends, strict=True)
        if end > offset
    ]


def on_parked_timer(v: Voter, src: int, corr: int, out: Effects) -> bool:
    """Answer a fetch that found no records in time; the answer has the mark."""
    request = v.parked.get(src)
    if not v.alive or v.state != LEADER or request is None or request.corr != corr:
        return False
    del v.parked[src]
    assert isinstance(request, QuorumFetchRequest)
    _answer(v, request, out)
    return True


def diverging(log: MetadataLog, epoch: int, offset: int) -> tuple[int, int] | None:
    """Return (epoch, end offset) where a log that ends so differs, else None.

    `ReplicatedLog.validateOffsetAndEpoch`.
    """
    if offset == 0 and epoch == 0:
        return None
    known, end = log.end_for(epoch)
    return None if known == epoch and end >= offset else (known, end)


# -- the follower -------------------------------------------------------------------------------


def take(v: Voter, m: QuorumFetchResponse, out: Effects) -> None:
    """CP-RAFT-FETCH.  Append the batches, or truncate where the logs part; take the mark over."""
    before = v.log.end
    if m.diverging is not None:
        v.log.truncate(_common_end(v.log, *m.diverging))
        out.cue("CP-RAFT-FETCH.truncate", v.id, "metadata log", before, v.log.end)
        return
    for epoch, records in m.batches:
        v.log.append(epoch, list(records))
    if v.log.end > before:
        out.cue("CP-RAFT-FETCH", v.id, "metadata log", before, v.log.end)
    mark = min(m.hw, v.log.end)
    if mark > v.hw:
        out.cue("CP-RAFT-FETCH.mark", v.id, "hw", v.hw, mark)
        v.hw = mark


def _common_end(log: MetadataLog, epoch: int, end: int) -> int:
    """Return the offset to truncate to (`ReplicatedLog.truncateToEndOffset`)."""
    if epoch == 0:
        return min(end, log.end)
    known, own_end = log.end_for(epoch)
    return min(own_end, end) if known == epoch else own_end
