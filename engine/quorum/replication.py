"""Replication of the metadata log from a leader to the other voters and to brokers (10.1).

`LeaderState`, `ReplicatedLog`, `KafkaRaftClient.tryCompleteFetchRequest`.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.effects import Effects
from engine.model.errors import NONE
from engine.model.quorum import (
    LEADER,
    NO_METADATA,
    R_NO_OP,
    ControllerImage,
    MetadataLog,
    MetadataReplica,
    Quorum,
    Record,
    Voter,
    VoterProgress,
    majority,
)
from engine.model.quorum_messages import (
    ObserverFetch,
    ObserverFetchResponse,
    QuorumFetchRequest,
    QuorumFetchResponse,
)
from engine.model.state import MAX_FETCH_WAIT_MS, NEVER
from engine.model.timers import PARKED_FETCH

Batches = Sequence[tuple[int, list[Record]]]


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
    is_idle = all(record[0] == R_NO_OP for record in new)
    image = quorum.images[before, v.log.last_epoch] if is_idle else ControllerImage(k)
    v.log.append(v.epoch, new)
    quorum.images[v.log.end, v.epoch] = image
    out.cue("CP-RAFT-COMMIT.append", v.id, "metadata log", before, v.log.end)
    maybe_commit(quorum, v, out)
    answer_parked(quorum, v, out)


def answer_parked(quorum: Quorum, v: Voter, out: Effects) -> None:
    """CP-RAFT-FETCH.  Answer all fetches that wait (`fetchPurgatory.completeAll`)."""
    parked, v.parked = v.parked, {}
    for request in parked.values():
        count_fetch(quorum, v, request.src, out)
        _answer(v, request, out)


def count_fetch(quorum: Quorum, v: Voter, voter: int, out: Effects) -> None:
    """CP-RAFT-EPOCH.  Begin the time for the next majority once a majority has fetched.

    `LeaderState.updateCheckQuorumForFollowingVoter`; the leader itself is of the majority.
    """
    members = quorum.members(v.log)
    if not v.check_ms or voter not in members:
        return
    if v.progress[voter].directory != members[voter]:
        return
    if voter not in v.fetched:
        v.fetched += (voter,)
    if len(v.fetched) + (v.id in members) >= majority(members):
        v.fetched, v.deadline = (), out.now + v.check_ms


def maybe_commit(quorum: Quorum, v: Voter, out: Effects) -> bool:
    """CP-RAFT-COMMIT.  Move the high watermark to what a majority has, if that is of this epoch.

    `LeaderState.maybeUpdateHighWatermark`; Raft 5.4.2.  A leader that is no voter any more does not
    count itself.
    """
    members = quorum.members(v.log)
    ends = [_end_of(v, node, directory) for node, directory in members.items()]
    high_watermark = sorted(ends, reverse=True)[majority(members) - 1]
    if high_watermark <= v.epoch_start or high_watermark <= v.hw:
        return False
    out.cue("CP-RAFT-COMMIT", v.id, "hw", v.hw, high_watermark)
    v.hw = high_watermark
    needed = min(voter.log.end for voter in quorum.voters.values())  # no voter goes back below that
    for key in [key for key in quorum.images if key[0] < needed and key != NO_METADATA]:
        del quorum.images[key]
    return True


def _end_of(v: Voter, node: int, directory: int) -> int:
    """Return the end that a leader knows of a voter's disk, -1 for none."""
    if node == v.id:
        return v.log.end
    progress = v.progress[node]
    return progress.end if progress.directory == directory else -1


def known_high_watermark(v: Voter) -> int:
    """Return the high watermark in a leader's answers: -1 until a record of its epoch is committed.

    `LeaderState.highWatermark`; what it knew as a follower is not told.
    """
    return v.hw if v.hw > v.epoch_start else -1


def serve(quorum: Quorum, v: Voter, m: QuorumFetchRequest, hw_at_once: bool, out: Effects) -> None:
    """CP-RAFT-FETCH.  Note how far a voter is, then answer the fetch, or park it.

    News is a record; since KIP-1166 (4.1) also a high watermark that the sender does not know.  A
    broker's fetch waits as that of a voter, so until then it learns a high watermark with the next
    record.
    """
    if diverging(v.log, m.last_epoch, m.offset) is None:
        progress = v.progress.get(m.src)
        if progress is not None:
            if progress.directory != m.directory:
                progress = v.progress[m.src] = VoterProgress()
                progress.directory = m.directory
            progress.acknowledged = True
            progress.end = m.offset
            progress.caught_up = progress.caught_up or m.offset == v.log.end
            count_fetch(quorum, v, m.src, out)
            if maybe_commit(quorum, v, out) and hw_at_once:
                answer_parked(quorum, v, out)
        high_watermark = known_high_watermark(v)
        if m.offset == v.log.end and not (hw_at_once and m.hw < high_watermark):
            v.parked[m.src] = m
            out.timer(v.id, MAX_FETCH_WAIT_MS, PARKED_FETCH, (m.src, m.corr, high_watermark))
            return
    _answer(v, m, out)


def _answer(v: Voter, m: QuorumFetchRequest, out: Effects) -> None:
    parts = diverging(v.log, m.last_epoch, m.offset)
    batches = [] if parts else _batches(v.log, m.offset)
    respond(v, m, NONE, known_high_watermark(v), out, batches, parts)


def respond(
    v: Voter,
    m: QuorumFetchRequest,
    error: int,
    high_watermark: int,
    out: Effects,
    batches: Batches = (),
    parts: tuple[int, int] | None = None,
) -> None:
    """Send the response to a fetch of a voter or of a broker."""
    kind = ObserverFetchResponse if isinstance(m, ObserverFetch) else QuorumFetchResponse
    out.send(kind(v.id, m.src, m.corr, error, v.epoch, v.leader, high_watermark, batches, parts))


def _batches(log: MetadataLog, offset: int) -> list[tuple[int, list[Record]]]:
    ends = [start for _, start in log.epochs[1:]] + [log.end]
    return [
        (epoch, log.records[max(start, offset) : end])
        for (epoch, start), end in zip(log.epochs, ends, strict=True)
        if end > offset
    ]


def on_parked_timer(v: Voter, waits: tuple[int, int, int], out: Effects) -> bool:
    """Answer a fetch that found no news in time, as it would have been answered at its arrival."""
    src, corr, high_watermark = waits
    request = v.parked.get(src)
    if not v.alive or v.state != LEADER or request is None or request.corr != corr:
        return False
    del v.parked[src]
    respond(v, request, NONE, high_watermark, out)
    return True


def diverging(log: MetadataLog, epoch: int, offset: int) -> tuple[int, int] | None:
    """Return (epoch, end offset) where a log that ends so differs, else None.

    `ReplicatedLog.validateOffsetAndEpoch`.
    """
    if offset == 0 and epoch == 0:
        return None
    own_epoch, end = log.end_for(epoch)
    return None if own_epoch == epoch and end >= offset else (own_epoch, end)


# -- the follower -------------------------------------------------------------------------------


def take(v: MetadataReplica, m: QuorumFetchResponse, out: Effects) -> bool:
    """CP-RAFT-FETCH.  Append the batches, or truncate where the logs part; take the leader's HW.

    False: the leader lacks what is known to be committed.  The process halts, so that no node acts
    on two histories (`KafkaRaftClient.handleFetchResponse`); a restart forgets the high watermark.
    """
    before = v.log.end
    if m.diverging is not None:
        if m.diverging[1] < v.hw:
            out.cue("CP-RAFT-FETCH.halt", m.dst, "halted", v.hw, m.diverging[1])
            return False
        v.log.truncate(_common_end(v.log, *m.diverging))
        out.cue("CP-RAFT-FETCH.truncate", m.dst, "metadata log", before, v.log.end)
        return True
    for epoch, records in m.batches:
        v.log.append(epoch, list(records))
    if v.log.end > before:
        out.cue("CP-RAFT-FETCH", m.dst, "metadata log", before, v.log.end)
    high_watermark = min(m.hw, v.log.end)
    if high_watermark > v.hw:
        out.cue("CP-RAFT-FETCH.mark", m.dst, "hw", v.hw, high_watermark)
        v.hw = high_watermark
    return True


def _common_end(log: MetadataLog, epoch: int, end: int) -> int:
    """Return the offset to truncate to (`ReplicatedLog.truncateToEndOffset`)."""
    if epoch == 0:
        return min(end, log.end)
    own_epoch, own_end = log.end_for(epoch)
    return min(own_end, end) if own_epoch == epoch else own_end
