"""States of a voter and the transitions between them (10.1).

`org.apache.kafka.raft.QuorumState`, and what `KafkaRaftClient` sends on a transition.  A function
gets the quorum and the voter that acts.
"""

from __future__ import annotations

from typing import Final

from engine.model.configs import Configs
from engine.model.effects import Effects
from engine.model.profiles import Profile
from engine.model.quorum import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    NO_VOTER,
    PROSPECTIVE,
    R_LEADER_CHANGE,
    RESIGNED,
    STATE_NAMES,
    UNATTACHED,
    VOTED,
    Quorum,
    Voter,
    VoterProgress,
    majority,
)
from engine.model.quorum_messages import (
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    QuorumFetchRequest,
    VoteRequest,
)
from engine.model.state import NEVER
from engine.model.timers import BEGIN_EPOCH_TICK, QUORUM_TIMEOUT, VOTER_STOP
from engine.quorum import replication

BACKOFF_BASE_MS: Final = 50
"""`RETRY_BACKOFF_BASE_MS`: unit of the random back-off between two elections."""

CHECK_QUORUM_SHARE: Final = (3, 2)
"""A leader waits for its majority one and a half fetch timeouts (`CHECK_QUORUM_TIMEOUT_FACTOR`)."""


STOP_MS: Final = 5_000
"""A graceful shutdown ends after so long without another leader (`KafkaRaftClientDriver`)."""


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


def become(v: Voter, state: int, out: Effects, cue: str = "") -> None:
    if v.state == LEADER and state != LEADER:
        replication.stop_leading(v)
    rule = "CP-RAFT-VOTE" if state in (UNATTACHED, VOTED, CANDIDATE) else "CP-RAFT-EPOCH"
    names = STATE_NAMES[v.state], STATE_NAMES[state]
    out.cue(cue or f"{rule}.{names[1]}", v.id, "state", *names)
    v.state = state
    v.waits = False
    v.granted = v.rejected = ()
    v.since, v.fetching = v.corr, 0


def enter_epoch(v: Voter, epoch: int, voted_for: int, leader: int) -> None:
    """Write the quorum-state file (`QuorumStateStore`) before anything else follows from it."""
    v.epoch, v.voted_for, v.leader = epoch, voted_for, leader


def wait_until(v: Voter, deadline: int, out: Effects) -> None:
    """Set the deadline of the state; the pending timer looks again when it fires too early."""
    v.deadline = deadline
    if v.check_at < out.now or deadline < v.check_at:
        v.check_at = deadline
        out.timer(v.id, deadline - out.now, QUORUM_TIMEOUT, deadline)


def become_unattached(rules: Rules, v: Voter, epoch: int, out: Effects) -> None:
    """CP-RAFT-VOTE.  Enter an epoch whose leader is unknown (`transitionToUnattached`).

    A newer one, or after a lost pre-vote the own one again, with the vote given in it.  A voter
    without a leader keeps the rest of its election timeout, so that a candidate which cannot win
    does not keep it from its own election.  A back-off ends.
    """
    deadline = v.election_ends if v.state == CANDIDATE else v.deadline
    if not _keeps_timeout(rules, v):
        deadline = out.now + rules.random_election_ms()
    if epoch > v.epoch:
        become(v, UNATTACHED, out)
        enter_epoch(v, epoch, NO_VOTER, NO_VOTER)
    else:
        become(v, VOTED if v.voted_for else UNATTACHED, out, "CP-RAFT-PREVOTE.lost")
    wait_until(v, max(deadline, out.now), out)
    seek_leader(rules, v, out)


def seek_leader(rules: Rules, v: Voter, out: Effects) -> None:
    """CP-RAFT-VOTERS.  Let a node that is no voter fetch from any other (`maybeSendAnyVoterFetch`).

    The response names epoch and leader.
    """
    if not rules.quorum.is_voter(v):
        others = rules.quorum.others(v)
        _fetch_from(v, others[rules.quorum.chance.below(len(others))], out)


def _keeps_timeout(rules: Rules, v: Voter) -> bool:
    if v.state == PROSPECTIVE:
        return not is_rejected(rules, v)
    return v.state in (CANDIDATE, VOTED, UNATTACHED) or (
        v.state == RESIGNED and rules.profile.pre_vote
    )


def become_follower(rules: Rules, v: Voter, epoch: int, leader: int, out: Effects) -> None:
    """CP-RAFT-EPOCH.  Follow a leader and fetch from it (`transitionToFollower`)."""
    voted_for = v.voted_for if epoch == v.epoch else NO_VOTER
    become(v, FOLLOWER, out)
    enter_epoch(v, epoch, voted_for, leader)
    v.attempt, v.has_fetched = 0, False
    wait_until(v, out.now + rules.fetch_ms, out)
    send_fetch(v, out)


def campaign(rules: Rules, v: Voter, out: Effects) -> None:
    """Begin an election: with a pre-vote from 4.0 on, else in the next epoch at once."""
    if rules.profile.pre_vote:
        become_prospective(rules, v, out)
    else:
        become_candidate(rules, v, out)


def become_prospective(rules: Rules, v: Voter, out: Effects) -> None:
    """CP-RAFT-PREVOTE.  Ask the others for pre-votes, in the own epoch (`ProspectiveState`).

    Leader and vote of the epoch stay; nothing is written.
    """
    v.retries = v.retries + 1 if v.state == CANDIDATE else 1
    become(v, PROSPECTIVE, out, "CP-RAFT-PREVOTE.prospective")
    v.granted = (v.id,)
    wait_until(v, out.now + rules.random_election_ms(), out)
    if not maybe_advance(rules, v, out):
        request_votes(rules, v, out)


def lose_prospects(rules: Rules, v: Voter, out: Effects) -> None:
    """CP-RAFT-PREVOTE.  Follow the known leader again, or wait without one.

    `KafkaRaftClient.prospectiveTransitionAfterElectionLoss`.
    """
    if v.leader == NO_VOTER:
        become_unattached(rules, v, v.epoch, out)
        return
    out.cue("CP-RAFT-PREVOTE.lost", v.id, "state", STATE_NAMES[v.state], STATE_NAMES[FOLLOWER])
    become_follower(rules, v, v.epoch, v.leader, out)


def become_candidate(rules: Rules, v: Voter, out: Effects) -> None:
    """CP-RAFT-VOTE.  Begin an election in the next epoch, with a vote for oneself."""
    if v.state != PROSPECTIVE:
        v.retries = v.retries + 1 if v.state == CANDIDATE else 1
    become(v, CANDIDATE, out)
    enter_epoch(v, v.epoch + 1, v.id, NO_VOTER)
    v.granted = (v.id,)
    v.election_ends = out.now + rules.random_election_ms()
    wait_until(v, v.election_ends, out)
    if not maybe_advance(rules, v, out):
        request_votes(rules, v, out)


def add_vote(rules: Rules, v: Voter, candidate: int, out: Effects) -> None:
    """CP-RAFT-VOTE.  Vote, with a new election timeout; a prospective voter asks afresh.

    `QuorumState.unattachedAddVotedState`, `prospectiveAddVotedState`.
    """
    recorded = v.granted + v.rejected
    if v.state == PROSPECTIVE:
        name = STATE_NAMES[PROSPECTIVE]
        out.cue("CP-RAFT-VOTE.voted", v.id, "state", name, name)
        v.granted, v.rejected = (v.id,), ()
    else:
        become(v, VOTED, out)
    enter_epoch(v, v.epoch, candidate, NO_VOTER)
    wait_until(v, out.now + rules.random_election_ms(), out)
    for other in recorded:
        if other != v.id:
            request_vote(rules, v, other, out)


def request_votes(rules: Rules, v: Voter, out: Effects) -> None:
    """Send Vote to every other voter (`maybeSendVoteRequests`)."""
    for other in rules.quorum.peers(v):
        request_vote(rules, v, other, out)


def request_vote(rules: Rules, v: Voter, other: int, out: Effects) -> None:
    log, pre_vote = v.log, v.state == PROSPECTIVE
    place = v.epoch, log.last_epoch, log.end
    directory = rules.quorum.members(log).get(other, 0)
    out.send(VoteRequest(v.id, other, v.next_corr(), *place, pre_vote, directory))


def is_rejected(rules: Rules, v: Voter) -> bool:
    """Check whether the voters left are no majority (`EpochElection.isVoteRejected`)."""
    members = rules.quorum.members(v.log)
    return len(members) - len(v.rejected) < majority(members)


def maybe_advance(rules: Rules, v: Voter, out: Effects) -> bool:
    """Become candidate or leader with a majority of the votes (`maybeTransitionForward`)."""
    if len(v.granted) < majority(rules.quorum.members(v.log)):
        return False
    if v.state == PROSPECTIVE:
        become_candidate(rules, v, out)
    else:
        become_leader(rules, v, out)
    return True


def become_leader(rules: Rules, v: Voter, out: Effects) -> None:
    """CP-RAFT-EPOCH.  Lead the epoch; append a LeaderChange record (`onBecomeLeader`)."""
    quorum = rules.quorum
    become(v, LEADER, out)
    enter_epoch(v, v.epoch, v.voted_for, v.id)
    v.progress = {other: VoterProgress() for other in quorum.others(v)}
    v.epoch_start = v.log.end
    replication.begin_leading(quorum, v, [(R_LEADER_CHANGE, v.id)], out)
    announce(rules, v, out)
    set_leader_timers(rules, v, out)


def set_leader_timers(rules: Rules, v: Voter, out: Effects) -> None:
    """Set the timers of a leader that begins: its announcements, and the look at its majority."""
    if rules.profile.begin_epoch_repeated:
        out.timer(v.id, rules.fetch_ms // 2, BEGIN_EPOCH_TICK, v.epoch)
    times, parts = CHECK_QUORUM_SHARE
    checks = rules.profile.leader_checks_quorum and len(v.progress) > 0
    v.check_ms, v.fetched = rules.fetch_ms * times // parts if checks else 0, ()
    if v.check_ms:
        wait_until(v, out.now + v.check_ms, out)


def announce(rules: Rules, v: Voter, out: Effects) -> None:
    """Send BeginQuorumEpoch to every other voter."""
    for other in rules.quorum.peers(v):
        out.send(BeginQuorumEpochRequest(v.id, other, v.next_corr(), v.epoch))


def resign(rules: Rules, v: Voter, out: Effects) -> None:
    """CP-RAFT-EPOCH.  Give the leadership up, and propose successors (`transitionToResigned`)."""
    v.successors = tuple(sorted(rules.quorum.peers(v), key=lambda other: -v.progress[other].end))
    become(v, RESIGNED, out)
    wait_until(v, out.now + rules.random_election_ms(), out)
    end_epoch(rules, v, out)


def stop(rules: Rules, v: Voter, out: Effects) -> None:
    """CP-RAFT-EPOCH.  Begin a graceful shutdown; a leader resigns first (`GracefulShutdown`).

    A voter that stops begins no election, and votes and answers as before.
    """
    v.stop_at = out.now + STOP_MS
    out.timer(v.id, STOP_MS, VOTER_STOP, v.stop_at)
    if v.state == LEADER and not may_stop(rules.quorum, v, out.now):
        resign(rules, v, out)


def may_stop(quorum: Quorum, v: Voter, now: int) -> bool:
    """CP-RAFT-EPOCH.  Check whether a shutdown can end (`maybeCompleteShutdown`).

    With another leader, as the only voter, or because it lasted too long.
    """
    knows_another = v.leader not in (NO_VOTER, v.id)
    return knows_another or len(quorum.members(v.log)) == 1 or v.stop_at <= now


def end_epoch(rules: Rules, v: Voter, out: Effects) -> None:
    """Send EndQuorumEpoch to every other voter."""
    for other in rules.quorum.peers(v):
        out.send(EndQuorumEpochRequest(v.id, other, v.next_corr(), v.epoch, v.successors))


def start(rules: Rules, v: Voter, out: Effects) -> None:
    """Start in the state that the quorum-state file tells (`QuorumState.initialize`).

    A former leader is resigned: it appends nothing more in its epoch.
    """
    v.alive, v.hw, v.check_at = True, -1, NEVER
    v.progress, v.parked, v.controller = {}, {}, None
    v.granted = v.rejected = ()
    v.waits, v.fetching, v.attempt, v.retries, v.since = False, 0, 0, 1, v.corr
    v.stop_at = NEVER
    v.has_fetched = False
    wait = rules.random_election_ms()
    v.election_ends = out.now + wait
    if v.leader == v.id:
        v.state, v.successors = RESIGNED, ()
        end_epoch(rules, v, out)
    elif v.voted_for == v.id and v.leader == NO_VOTER and rules.quorum.is_voter(v):
        v.state, v.granted = CANDIDATE, (v.id,)
        request_votes(rules, v, out)
    elif v.leader != NO_VOTER:
        v.state, wait = FOLLOWER, rules.fetch_ms
        send_fetch(v, out)
    else:
        v.state = VOTED if v.voted_for != NO_VOTER else UNATTACHED
        seek_leader(rules, v, out)
    wait_until(v, out.now + wait, out)


def back_off(rules: Rules, v: Voter, out: Effects) -> None:
    """Wait a random time before the next election (`binaryExponentialElectionBackoffMs`)."""
    units = rules.quorum.chance.below(2 << min(20, v.retries - 1))
    v.waits = True
    wait_until(v, out.now + min(BACKOFF_BASE_MS * units, rules.backoff_max_ms), out)


def send_fetch(v: Voter, out: Effects) -> None:
    """CP-RAFT-FETCH.  Fetch from the leader what follows the own end."""
    _fetch_from(v, v.leader, out)


def _fetch_from(v: Voter, other: int, out: Effects) -> None:
    v.fetching = v.next_corr()
    place = v.log.end, v.log.last_epoch, v.hw
    out.send(QuorumFetchRequest(v.id, other, v.fetching, v.epoch, *place, v.directory))
