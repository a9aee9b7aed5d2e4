"""Rules of the voters (KIP-595): elections, epochs, replication of the metadata log (10.1).

`org.apache.kafka.raft.KafkaRaftClient` and the states of `QuorumState`.  A function gets the quorum
and the voter that acts; voters learn of each other by messages only.
"""

from __future__ import annotations

from typing import Final

from engine.model.effects import Effects
from engine.model.errors import (
    FENCED_LEADER_EPOCH,
    INVALID_VOTER_KEY,
    NONE,
    NOT_LEADER_OR_FOLLOWER,
    UNKNOWN_LEADER_EPOCH,
)
from engine.model.messages import BEGIN_EPOCH, END_EPOCH, QUORUM_FETCH, VOTE, Broken
from engine.model.quorum import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    NO_VOTER,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    VOTED,
    Voter,
)
from engine.model.quorum_messages import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    QuorumFetchRequest,
    QuorumFetchResponse,
    VoteRequest,
    VoteResponse,
)
from engine.model.state import NEVER
from engine.model.timers import BEGIN_EPOCH_TICK, VOTER_FETCH, VOTER_RESEND
from engine.quorum import replication
from engine.quorum.states import (
    BACKOFF_BASE_MS,
    Rules,
    add_vote,
    announce,
    back_off,
    become_follower,
    become_unattached,
    campaign,
    is_rejected,
    lose_prospects,
    maybe_advance,
    request_vote,
    resign,
    seek_leader,
    send_fetch,
    wait_until,
)

RESEND_MS: Final = 500
"""Pause after a broken connection, between `reconnect.backoff.ms` and its maximum."""

Response = VoteResponse | BeginQuorumEpochResponse | EndQuorumEpochResponse | QuorumFetchResponse


# -- time -------------------------------------------------------------------------------------


def on_timeout(rules: Rules, v: Voter, due: int, out: Effects) -> bool:
    """Act when the deadline of the state is over (`pollCurrentState`)."""
    if not v.alive or due != v.check_at:
        return False
    v.check_at = NEVER
    if v.stop_at != NEVER:
        return False
    if v.deadline > out.now:
        wait_until(v, v.deadline, out)
        return False
    if v.state == LEADER:
        if not v.check_ms:
            return False
        if len(rules.quorum.members(v.log)) == 1:  # `timeUntilCheckQuorumExpires`
            wait_until(v, out.now + v.check_ms, out)
            return False
        out.cue("CP-RAFT-EPOCH.check", v.id, "leader", v.id, None)
        resign(rules, v, out)
    elif v.state == PROSPECTIVE:
        lose_prospects(rules, v, out)
    elif v.state == RESIGNED and (rules.profile.pre_vote or not rules.quorum.is_voter(v)):
        become_unattached(rules, v, v.epoch + 1, out)
    elif not rules.quorum.is_voter(v):
        seek_leader(rules, v, out)
        wait_until(v, out.now + rules.fetch_ms, out)
    elif v.state == CANDIDATE and not v.waits and not rules.profile.pre_vote:
        back_off(rules, v, out)
    else:
        campaign(rules, v, out)
    return True


def on_stop_timer(v: Voter, stop_at: int, out: Effects) -> bool:
    """Let the shutdown end that has lasted long enough (`GracefulShutdown.hasTimedOut`)."""
    return v.alive and v.stop_at == stop_at


def on_begin_epoch_tick(rules: Rules, v: Voter, epoch: int, out: Effects) -> bool:
    """Announce the epoch again every half fetch timeout, as long as it lasts (KAFKA-16536)."""
    if not v.alive or v.state != LEADER or v.epoch != epoch:
        return False
    announce(rules, v, out)
    out.timer(v.id, rules.fetch_ms // 2, BEGIN_EPOCH_TICK, epoch)
    return True


# -- epochs in messages --------------------------------------------------------------


def _learn(rules: Rules, v: Voter, epoch: int, leader: int, out: Effects) -> None:
    """Follow a newer epoch, or the leader of this one if it was unknown (`maybeTransition`).

    A voter that is said to lead, and knows nothing of it, has lost its disk: it halts, so that it
    appends nothing in an epoch twice (`QuorumState.transitionToFollower` throws).
    """
    if leader == v.id != v.leader and epoch >= v.epoch:
        out.cue("CP-RAFT-EPOCH.halt", v.id, "halted", None, epoch)
        v.halted = True
        return
    if epoch > v.epoch:
        if leader == NO_VOTER:
            become_unattached(rules, v, epoch, out)
        else:
            become_follower(rules, v, epoch, leader, out)
    elif epoch == v.epoch and leader not in (NO_VOTER, v.id) and v.leader == NO_VOTER:
        become_follower(rules, v, epoch, leader, out)


def _is_usable(rules: Rules, v: Voter, m: Response, out: Effects) -> bool:
    """Check a response after learning from it (`maybeHandleCommonResponse`).

    A transition closes the connections: no response to an earlier request is looked at.
    """
    if m.corr <= v.since or m.epoch < v.epoch or m.error == UNKNOWN_LEADER_EPOCH:
        return False
    before = v.epoch
    _learn(rules, v, m.epoch, m.leader, out)
    return m.error == NONE and v.epoch == before


# -- elections --------------------------------------------------------------------------------


def on_vote(rules: Rules, v: Voter, m: VoteRequest, out: Effects) -> None:
    """CP-RAFT-VOTE.  Grant one vote an epoch, to a candidate whose log is not behind."""
    granted, error = False, FENCED_LEADER_EPOCH
    if m.epoch >= v.epoch:
        error = NONE if m.directory == v.directory else INVALID_VOTER_KEY
        if m.epoch > v.epoch:
            become_unattached(rules, v, m.epoch, out)
        granted = error == NONE and _can_grant(v, m)
        rule = "CP-RAFT-PREVOTE" if m.pre_vote else "CP-RAFT-VOTE"
        out.cue(f"{rule}.answer", v.id, "vote", m.src, granted)
        if granted and not m.pre_vote and v.state in (UNATTACHED, PROSPECTIVE) and not v.voted_for:
            add_vote(rules, v, m.src, out)
    out.send(VoteResponse(v.id, m.src, m.corr, error, v.epoch, v.leader, granted, m.pre_vote))


def _can_grant(v: Voter, m: VoteRequest) -> bool:
    """CP-RAFT-VOTE, CP-RAFT-PREVOTE.  Check a candidate (`EpochState.canGrantVote`).

    To a pre-vote a follower that has fetched from its leader says no; a vote given is no obstacle.
    """
    is_current = (m.last_epoch, m.end) >= (v.log.last_epoch, v.log.end)
    if m.pre_vote:
        is_served = v.state == LEADER or (v.state == FOLLOWER and v.has_fetched)
        return is_current and not is_served
    if v.state not in (UNATTACHED, VOTED, PROSPECTIVE):
        return False
    if v.voted_for != NO_VOTER:
        return v.voted_for == m.src
    return is_current and v.leader == NO_VOTER


def on_vote_response(rules: Rules, v: Voter, m: VoteResponse, out: Effects) -> None:
    """CP-RAFT-VOTE.  Count the vote; after a majority of refusals wait and try again.

    Since 4.1 a candidate waits for the end of its election timeout (KAFKA-18345).
    """
    if not _is_usable(rules, v, m, out) or v.state not in (PROSPECTIVE, CANDIDATE):
        return
    if m.granted:
        v.granted += (m.src,) if m.src not in v.granted else ()
        maybe_advance(rules, v, out)
        return
    v.rejected += (m.src,) if m.src not in v.rejected else ()
    if not is_rejected(rules, v):
        return
    if v.state == PROSPECTIVE:
        lose_prospects(rules, v, out)
    elif rules.profile.election_backoff and not v.waits:
        back_off(rules, v, out)


def on_begin_epoch(rules: Rules, v: Voter, m: BeginQuorumEpochRequest, out: Effects) -> None:
    """CP-RAFT-EPOCH.  Follow the leader that announces itself, unless the epoch is over."""
    error = FENCED_LEADER_EPOCH if m.epoch < v.epoch else NONE
    if not error:
        _learn(rules, v, m.epoch, m.src, out)
    out.send(BeginQuorumEpochResponse(v.id, m.src, m.corr, error, v.epoch, v.leader))


def on_begin_epoch_response(
    rules: Rules, v: Voter, m: BeginQuorumEpochResponse, out: Effects
) -> None:
    """Note that a voter knows its leader; step down if the response has a newer epoch."""
    if _is_usable(rules, v, m, out) and v.state == LEADER:
        v.progress[m.src].acknowledged = True


def on_end_epoch(rules: Rules, v: Voter, m: EndQuorumEpochRequest, out: Effects) -> None:
    """CP-RAFT-EPOCH.  Become a candidate by rank among the successors, the first at once."""
    error = FENCED_LEADER_EPOCH if m.epoch < v.epoch else NONE
    if not error:
        _learn(rules, v, m.epoch, m.src, out)
        if v.state == FOLLOWER and v.leader == m.src:
            wait_until(v, out.now + _successor_backoff(rules, v, m.successors), out)
    out.send(EndQuorumEpochResponse(v.id, m.src, m.corr, error, v.epoch, v.leader))


def _successor_backoff(rules: Rules, v: Voter, successors: tuple[int, ...]) -> int:
    """Return the wait by rank (`endEpochElectionBackoff`): none, where none is proposed."""
    rank = successors.index(v.id) if successors else 0
    if rank == 0:
        return 0
    return (rules.backoff_max_ms >> (len(successors) - 1)) << (rank - 1)


def on_end_epoch_response(rules: Rules, v: Voter, m: EndQuorumEpochResponse, out: Effects) -> None:
    _is_usable(rules, v, m, out)


# -- fetching ---------------------------------------------------------------------------------


def on_fetch(rules: Rules, v: Voter, m: QuorumFetchRequest, out: Effects) -> None:
    """CP-RAFT-FETCH.  Answer a voter's or a broker's fetch, or park it (`handleFetchRequest`)."""
    error = NONE
    if m.epoch < v.epoch:
        error = FENCED_LEADER_EPOCH
    elif m.epoch > v.epoch:
        error = UNKNOWN_LEADER_EPOCH
    elif v.state != LEADER:
        error = NOT_LEADER_OR_FOLLOWER
    if error:
        replication.respond(v, m, error, -1, out)
        return
    replication.serve(rules.quorum, v, m, rules.profile.quorum_mark_at_once, out)


def on_fetch_response(rules: Rules, v: Voter, m: QuorumFetchResponse, out: Effects) -> None:
    """CP-RAFT-FETCH.  Append, or truncate where the logs part, and fetch on."""
    if m.corr != v.fetching:
        return
    v.fetching = 0
    usable = _is_usable(rules, v, m, out)
    if v.fetching:
        return
    if v.state != FOLLOWER:
        retry_fetch(v, out)
        return
    if not usable:
        retry_fetch(v, out)
        return
    v.attempt, v.has_fetched = 0, True
    if not replication.take(v, m, out):
        v.halted = True
        return
    wait_until(v, out.now + rules.fetch_ms, out)
    send_fetch(v, out)


def retry_fetch(v: Voter, out: Effects) -> None:
    """Fetch again after a pause that doubles (`reconnect.backoff.ms` to its maximum)."""
    out.timer(v.id, min(BACKOFF_BASE_MS << min(v.attempt, 5), 1_000), VOTER_FETCH, v.since)
    v.attempt += 1


def on_fetch_timer(rules: Rules, v: Voter, since: int, out: Effects) -> bool:
    if not v.alive or v.since != since or v.fetching:
        return False
    if v.state != FOLLOWER:
        seek_leader(rules, v, out)
        return v.fetching > 0
    send_fetch(v, out)
    return True


def on_broken(rules: Rules, v: Voter, m: Broken, out: Effects) -> None:
    """Send again later what a broken connection lost."""
    if m.request_kind == QUORUM_FETCH:
        if m.corr == v.fetching:
            v.fetching = 0
            retry_fetch(v, out)
    elif m.request_kind in (VOTE, BEGIN_EPOCH, END_EPOCH) and m.corr > v.since:
        out.timer(v.id, RESEND_MS, VOTER_RESEND, (m.request_kind, m.src, v.since))


def on_resend(rules: Rules, v: Voter, lost: tuple[int, int, int], out: Effects) -> bool:
    """Repeat a request while the state lasts that sent it.

    A Vote while its response is missing, BeginQuorumEpoch and EndQuorumEpoch until the voter has
    acknowledged them.
    """
    kind, other, since = lost
    if not v.alive or v.since != since:
        return False
    if kind == END_EPOCH:
        out.send(EndQuorumEpochRequest(v.id, other, v.next_corr(), v.epoch, v.successors))
        return True
    if kind == VOTE:
        if v.state not in (PROSPECTIVE, CANDIDATE) or v.waits or is_rejected(rules, v):
            return False
        if other in v.granted + v.rejected:
            return False
        request_vote(rules, v, other, out)
        return True
    if v.state != LEADER or v.progress[other].acknowledged or rules.profile.begin_epoch_repeated:
        return False
    out.send(BeginQuorumEpochRequest(v.id, other, v.next_corr(), v.epoch))
    return True
