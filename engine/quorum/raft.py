"""Rules of the voters (KIP-595): elections, epochs, replication of the metadata log (10.1).

`org.apache.kafka.raft.KafkaRaftClient` and the states of `QuorumState`.  A function gets the quorum
and the voter that acts; voters learn of each other by messages only.
"""

from __future__ import annotations

from typing import Final

from engine.model.configs import Configs
from engine.model.effects import Effects
from engine.model.errors import (
    FENCED_LEADER_EPOCH,
    NONE,
    NOT_LEADER_OR_FOLLOWER,
    UNKNOWN_LEADER_EPOCH,
)
from engine.model.messages import BEGIN_EPOCH, END_EPOCH, QUORUM_FETCH, VOTE, Broken
from engine.model.profiles import Profile
from engine.model.quorum import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    NO_VOTER,
    R_LEADER_CHANGE,
    RESIGNED,
    STATE_NAMES,
    UNATTACHED,
    VOTED,
    Quorum,
    Voter,
    VoterProgress,
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
from engine.model.timers import BEGIN_EPOCH_TICK, QUORUM_TIMEOUT, VOTER_FETCH, VOTER_RESEND
from engine.quorum import replication

BACKOFF_BASE_MS: Final = 50
"""`RETRY_BACKOFF_BASE_MS`: unit of the random back-off between two elections."""

RESEND_MS: Final = 500
"""Pause after a broken connection, between `reconnect.backoff.ms` and its maximum."""

CHECK_QUORUM_SHARE: Final = (3, 2)
"""A leader waits for its majority one and a half fetch timeouts (`CHECK_QUORUM_TIMEOUT_FACTOR`)."""


Response = VoteResponse | BeginQuorumEpochResponse | EndQuorumEpochResponse | QuorumFetchResponse


class Rules:
    """The quorum, the release and the settings that a voter acts by."""

    __slots__ = ("backoff_max_ms", "election_ms", "fetch_ms", "profile", "quorum")

    def __init__(self, quorum: Quorum, profile: Profile, configs: Configs) -> None:
        self.quorum = quorum
        self.profile = profile
        values = configs.values
        self.fetch_ms = int(values["controller.quorum.fetch.timeout.ms"])
        self.election_ms = int(values["controller.quorum.election.timeout.ms"])
        self.backoff_max_ms = int(values["controller.quorum.election.backoff.max.ms"])

    def random_election_ms(self) -> int:
        """Return an election timeout (`QuorumState.randomElectionTimeoutMs`)."""
        return self.election_ms + self.quorum.chance.below(self.election_ms)


# -- transitions ------------------------------------------------------------------------------


def _become(v: Voter, state: int, out: Effects) -> None:
    if v.state == LEADER and state != LEADER:
        replication.stop_leading(v)
    rule = "CP-RAFT-VOTE" if state in (UNATTACHED, VOTED, CANDIDATE) else "CP-RAFT-EPOCH"
    out.cue(f"{rule}.{STATE_NAMES[state]}", v.id, "state", STATE_NAMES[v.state], STATE_NAMES[state])
    v.state = state
    v.waits = False
    v.granted = v.rejected = ()
    v.since, v.fetching = v.corr, 0


def _enter_epoch(v: Voter, epoch: int, voted_for: int, leader: int) -> None:
    """Write the quorum-state file (`QuorumStateStore`) before anything else follows from it."""
    v.epoch, v.voted_for, v.leader = epoch, voted_for, leader


def _wait_until(v: Voter, deadline: int, out: Effects) -> None:
    """Set the deadline of the state; the pending timer looks again when it fires too early."""
    v.deadline = deadline
    if v.check_at < out.now or deadline < v.check_at:
        v.check_at = deadline
        out.timer(v.id, deadline - out.now, QUORUM_TIMEOUT, deadline)


def become_unattached(rules: Rules, v: Voter, epoch: int, out: Effects) -> None:
    """CP-RAFT-VOTE.  Enter a newer epoch whose leader is unknown (`transitionToUnattached`).

    A voter without a leader keeps the rest of its election timeout, so that a candidate which
    cannot win does not keep it from its own election.  A back-off ends.
    """
    deadline = v.election_ends if v.state == CANDIDATE else v.deadline
    if v.state not in (CANDIDATE, VOTED, UNATTACHED):
        deadline = out.now + rules.random_election_ms()
    _become(v, UNATTACHED, out)
    _enter_epoch(v, epoch, NO_VOTER, NO_VOTER)
    _wait_until(v, max(deadline, out.now), out)


def become_follower(rules: Rules, v: Voter, epoch: int, leader: int, out: Effects) -> None:
    """CP-RAFT-EPOCH.  Follow a leader and fetch from it (`transitionToFollower`)."""
    voted_for = v.voted_for if epoch == v.epoch else NO_VOTER
    _become(v, FOLLOWER, out)
    _enter_epoch(v, epoch, voted_for, leader)
    v.attempt = 0
    _wait_until(v, out.now + rules.fetch_ms, out)
    send_fetch(v, out)


def become_candidate(rules: Rules, v: Voter, out: Effects) -> None:
    """CP-RAFT-VOTE.  Begin an election in the next epoch, with a vote for oneself."""
    v.retries = v.retries + 1 if v.state == CANDIDATE else 1
    _become(v, CANDIDATE, out)
    _enter_epoch(v, v.epoch + 1, v.id, NO_VOTER)
    v.granted = (v.id,)
    v.election_ends = out.now + rules.random_election_ms()
    _wait_until(v, v.election_ends, out)
    if not _maybe_lead(rules, v, out):
        request_votes(rules, v, out)


def request_votes(rules: Rules, v: Voter, out: Effects) -> None:
    """Send Vote to every other voter (`maybeSendVoteRequests`)."""
    for other in rules.quorum.others(v):
        request_vote(v, other, out)


def request_vote(v: Voter, other: int, out: Effects) -> None:
    corr = v.next_corr()
    out.send(VoteRequest(v.id, other, corr, v.epoch, v.log.last_epoch, v.log.end))


def _maybe_lead(rules: Rules, v: Voter, out: Effects) -> bool:
    """CP-RAFT-EPOCH.  Lead with a majority of the votes; append a LeaderChange record."""
    quorum = rules.quorum
    if len(v.granted) < quorum.majority:
        return False
    _become(v, LEADER, out)
    _enter_epoch(v, v.epoch, v.voted_for, v.id)
    v.progress = {other: VoterProgress() for other in quorum.others(v)}
    v.epoch_start = v.log.end
    replication.begin_leading(quorum, v, [(R_LEADER_CHANGE, v.id)], out)
    announce(v, out)
    set_leader_timers(rules, v, out)
    return True


def set_leader_timers(rules: Rules, v: Voter, out: Effects) -> None:
    """Set the timers of a leader that begins: its announcements, and the look at its majority."""
    if rules.profile.begin_epoch_repeated:
        out.timer(v.id, rules.fetch_ms // 2, BEGIN_EPOCH_TICK, v.epoch)
    times, parts = CHECK_QUORUM_SHARE
    checks = rules.profile.leader_checks_quorum and len(v.progress) > 0
    v.check_ms, v.fetched = rules.fetch_ms * times // parts if checks else 0, ()
    if v.check_ms:
        _wait_until(v, out.now + v.check_ms, out)


def announce(v: Voter, out: Effects) -> None:
    """Send BeginQuorumEpoch to every other voter."""
    for other in v.progress:
        out.send(BeginQuorumEpochRequest(v.id, other, v.next_corr(), v.epoch))


def on_begin_epoch_tick(rules: Rules, v: Voter, epoch: int, out: Effects) -> bool:
    """Announce the epoch again every half fetch timeout, as long as it lasts (KAFKA-16536)."""
    if not v.alive or v.state != LEADER or v.epoch != epoch:
        return False
    announce(v, out)
    out.timer(v.id, rules.fetch_ms // 2, BEGIN_EPOCH_TICK, epoch)
    return True


def resign(rules: Rules, v: Voter, out: Effects) -> None:
    """CP-RAFT-EPOCH.  Give the leadership up, and propose successors (`transitionToResigned`)."""
    v.successors = tuple(sorted(v.progress, key=lambda other: -v.progress[other].end))
    _become(v, RESIGNED, out)
    _wait_until(v, out.now + rules.random_election_ms(), out)
    end_epoch(rules, v, out)


def end_epoch(rules: Rules, v: Voter, out: Effects) -> None:
    """Send EndQuorumEpoch to every other voter."""
    for other in rules.quorum.others(v):
        out.send(EndQuorumEpochRequest(v.id, other, v.next_corr(), v.epoch, v.successors))


def start(rules: Rules, v: Voter, out: Effects) -> None:
    """Start in the state that the quorum-state file tells (`QuorumState.initialize`).

    A former leader is resigned: it appends nothing more in its epoch.
    """
    v.alive, v.hw, v.check_at = True, -1, NEVER
    v.progress, v.parked, v.controller = {}, {}, None
    v.granted = v.rejected = ()
    v.waits, v.fetching, v.attempt, v.retries, v.since = False, 0, 0, 1, v.corr
    wait = rules.random_election_ms()
    v.election_ends = out.now + wait
    if v.leader == v.id:
        v.state, v.successors = RESIGNED, ()
        end_epoch(rules, v, out)
    elif v.voted_for == v.id and v.leader == NO_VOTER:
        v.state, v.granted = CANDIDATE, (v.id,)
        request_votes(rules, v, out)
    elif v.leader != NO_VOTER:
        v.state, wait = FOLLOWER, rules.fetch_ms
        send_fetch(v, out)
    else:
        v.state = VOTED if v.voted_for != NO_VOTER else UNATTACHED
    _wait_until(v, out.now + wait, out)


# -- time -------------------------------------------------------------------------------------


def on_timeout(rules: Rules, v: Voter, due: int, out: Effects) -> bool:
    """Act when the deadline of the state is over (`pollCurrentState`)."""
    if not v.alive or due != v.check_at:
        return False
    v.check_at = NEVER
    if v.deadline > out.now:
        _wait_until(v, v.deadline, out)
        return False
    if v.state == LEADER:
        if not v.check_ms:
            return False
        out.cue("CP-RAFT-EPOCH.check", v.id, "leader", v.id, None)
        resign(rules, v, out)
    elif v.state == CANDIDATE and not v.waits:
        _back_off(rules, v, out)
    else:
        become_candidate(rules, v, out)
    return True


def _back_off(rules: Rules, v: Voter, out: Effects) -> None:
    """Wait a random time before the next election (`binaryExponentialElectionBackoffMs`)."""
    units = rules.quorum.chance.below(2 << min(20, v.retries - 1))
    v.waits = True
    _wait_until(v, out.now + min(BACKOFF_BASE_MS * units, rules.backoff_max_ms), out)


# -- epochs in messages --------------------------------------------------------------


def _learn(rules: Rules, v: Voter, epoch: int, leader: int, out: Effects) -> None:
    """Follow a newer epoch, or the leader of this one if it was unknown (`maybeTransition`)."""
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
        error = NONE
        if m.epoch > v.epoch:
            become_unattached(rules, v, m.epoch, out)
        granted = _can_grant(v, m)
        out.cue("CP-RAFT-VOTE.answer", v.id, "vote", m.src, granted)
        if granted and v.state == UNATTACHED:
            _become(v, VOTED, out)
            _enter_epoch(v, m.epoch, m.src, NO_VOTER)
            _wait_until(v, out.now + rules.random_election_ms(), out)
    out.send(VoteResponse(v.id, m.src, m.corr, error, v.epoch, v.leader, granted))


def _can_grant(v: Voter, m: VoteRequest) -> bool:
    if v.state == VOTED:
        return v.voted_for == m.src
    return v.state == UNATTACHED and (m.last_epoch, m.end) >= (v.log.last_epoch, v.log.end)


def on_vote_response(rules: Rules, v: Voter, m: VoteResponse, out: Effects) -> None:
    """CP-RAFT-VOTE.  Count the vote; after a majority of refusals wait and try again."""
    if not _is_usable(rules, v, m, out) or v.state != CANDIDATE:
        return
    if m.granted:
        v.granted += (m.src,) if m.src not in v.granted else ()
        _maybe_lead(rules, v, out)
    else:
        v.rejected += (m.src,) if m.src not in v.rejected else ()
        left = len(rules.quorum.voters) - len(v.rejected)
        if left < rules.quorum.majority and not v.waits:
            _back_off(rules, v, out)


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
            _wait_until(v, out.now + _successor_backoff(rules, v, m.successors), out)
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


def send_fetch(v: Voter, out: Effects) -> None:
    """CP-RAFT-FETCH.  Fetch from the leader what follows the own end."""
    v.fetching = v.next_corr()
    log = v.log
    out.send(QuorumFetchRequest(v.id, v.leader, v.fetching, v.epoch, log.end, log.last_epoch, v.hw))


def on_fetch(rules: Rules, v: Voter, m: QuorumFetchRequest, out: Effects) -> None:
    """CP-RAFT-FETCH.  Answer a voter's fetch, or park it (`handleFetchRequest`)."""
    error = NONE
    if m.epoch < v.epoch:
        error = FENCED_LEADER_EPOCH
    elif m.epoch > v.epoch:
        error = UNKNOWN_LEADER_EPOCH
    elif v.state != LEADER:
        error = NOT_LEADER_OR_FOLLOWER
    if error:
        out.send(QuorumFetchResponse(v.id, m.src, m.corr, error, v.epoch, v.leader, v.hw))
        return
    replication.serve(rules.quorum, v, m, rules.profile.quorum_mark_at_once, out)


def on_fetch_response(rules: Rules, v: Voter, m: QuorumFetchResponse, out: Effects) -> None:
    """CP-RAFT-FETCH.  Append, or truncate where the logs part, and fetch on."""
    if m.corr != v.fetching:
        return
    v.fetching = 0
    usable = _is_usable(rules, v, m, out)
    if v.state != FOLLOWER or v.fetching:
        return
    if not usable:
        retry_fetch(v, out)
        return
    v.attempt = 0
    replication.take(v, m, out)
    _wait_until(v, out.now + rules.fetch_ms, out)
    send_fetch(v, out)


def retry_fetch(v: Voter, out: Effects) -> None:
    """Fetch again after a pause that doubles (`reconnect.backoff.ms` to its maximum)."""
    out.timer(v.id, min(BACKOFF_BASE_MS << min(v.attempt, 5), 1_000), VOTER_FETCH, v.epoch)
    v.attempt += 1


def on_fetch_timer(v: Voter, epoch: int, out: Effects) -> bool:
    if not v.alive or v.state != FOLLOWER or v.epoch != epoch or v.fetching:
        return False
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
        if v.state != CANDIDATE or v.waits or other in v.granted + v.rejected:
            return False
        request_vote(v, other, out)
        return True
    if v.state != LEADER or v.progress[other].acknowledged or rules.profile.begin_epoch_repeated:
        return False
    out.send(BeginQuorumEpochRequest(v.id, other, v.next_corr(), v.epoch))
    return True
