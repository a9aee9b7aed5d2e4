"""One voter of a KRaft quorum at a time: its timers, and what it repeats (CP-RAFT)."""

from __future__ import annotations

from typing import Any

from engine.model import configs
from engine.model.effects import Effects
from engine.model.messages import END_EPOCH, Broken
from engine.model.profiles import get_profile
from engine.model.quorum import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    VOTED,
    Quorum,
    Voter,
    VoterProgress,
)
from engine.model.quorum_messages import (
    EndQuorumEpochRequest,
    QuorumFetchRequest,
    VoteRequest,
    VoteResponse,
)
from engine.model.timers import VOTER_RESEND
from engine.quorum import raft, states
from engine.quorum.states import Rules


class Steady:
    """A stream of chance that always draws the largest number."""

    def below(self, limit: int) -> int:
        return limit - 1

    def copy(self) -> Steady:
        return self


class Stage:
    """A quorum whose messages and timers wait until a test delivers them."""

    def __init__(self, voters: int, profile: str = "K39") -> None:
        release = get_profile(profile)
        names = tuple(f"C{n + 1}" for n in range(voters))
        self.quorum = Quorum(names, Steady())
        self.rules = Rules(self.quorum, release, configs.build(release))
        self.voters: list[Voter] = list(self.quorum.voters.values())
        self.out = Effects()

    def sent(self, kind: type) -> list[Any]:
        """Take the messages of a kind that left since."""
        found = [m for m in self.out.sends if isinstance(m, kind)]
        self.out.sends = [m for m in self.out.sends if not isinstance(m, kind)]
        return found

    def expire(self, v: Voter) -> None:
        """Let the deadline of a voter's state pass."""
        self.out.now = v.deadline
        v.check_at = v.deadline
        raft.on_timeout(self.rules, v, v.check_at, self.out)


def test_an_unattached_voter_keeps_the_candidates_timer_not_its_back_off() -> None:
    stage = Stage(3)
    first, second, third = stage.voters
    states.become_candidate(stage.rules, first, stage.out)
    ends = first.deadline
    for other, request in zip((second, third), stage.sent(VoteRequest), strict=True):
        refusal = VoteResponse(other.id, first.id, request.corr, 0, first.epoch, 0, False)
        raft.on_vote_response(stage.rules, first, refusal, stage.out)
    assert first.waits and first.deadline < ends
    newer = VoteRequest(third.id, first.id, 1, first.epoch + 1, 0, 0)
    first.log.append(1, [("NoOp",)])  # a longer log than the candidate has
    raft.on_vote(stage.rules, first, newer, stage.out)
    assert (first.state, first.deadline) == (UNATTACHED, ends)


def lead(stage: Stage) -> Voter:
    """Make the first voter the leader of epoch 1, with a record that all have."""
    first = stage.voters[0]
    for v in stage.voters:
        v.log.append(1, [("LeaderChange",), ("NoOp",)])
        v.epoch, v.leader, v.state = 1, first.id, FOLLOWER
    first.state, first.voted_for = LEADER, first.id
    first.progress = {other: VoterProgress() for other in stage.quorum.others(first)}
    states.set_leader_timers(stage.rules, first, stage.out)
    return first


def fetch(stage: Stage, v: Voter, at: int, end: int = 2, last_epoch: int = 1) -> None:
    stage.out.now = at
    leader = stage.voters[0]
    request = QuorumFetchRequest(v.id, leader.id, v.next_corr(), 1, end, last_epoch, 0)
    raft.on_fetch(stage.rules, leader, request, stage.out)


def test_a_majority_of_five_is_counted_from_the_last_one_on() -> None:
    stage = Stage(5)
    leader = lead(stage)
    _, second, third, *_ = stage.voters
    fetch(stage, second, 100)
    fetch(stage, second, 200)
    assert leader.deadline == 3_000
    fetch(stage, third, 300)
    assert leader.deadline == 3_300
    fetch(stage, third, 400)
    stage.expire(leader)
    assert (leader.state, stage.out.now) == (RESIGNED, 3_300)


def test_a_fetch_that_diverges_counts_for_no_majority() -> None:
    stage = Stage(3)
    leader = lead(stage)
    fetch(stage, stage.voters[1], 100, end=7)
    assert leader.deadline == 3_000 and not leader.progress[stage.voters[1].id].acknowledged
    fetch(stage, stage.voters[1], 200)
    assert leader.deadline == 3_200


def test_a_resigned_leader_repeats_end_quorum_epoch() -> None:
    stage = Stage(3)
    leader = lead(stage)
    fetch(stage, stage.voters[2], 100)
    stage.expire(leader)
    lost = stage.sent(EndQuorumEpochRequest)[0]
    raft.on_broken(
        stage.rules, leader, Broken(lost.dst, leader.id, lost.corr, END_EPOCH), stage.out
    )
    node, delay, kind, data = stage.out.timers[-1]
    assert (node, delay, kind) == (leader.id, raft.RESEND_MS, VOTER_RESEND)
    raft.on_resend(stage.rules, leader, data, stage.out)
    again = stage.sent(EndQuorumEpochRequest)[-1]
    assert (again.dst, again.successors) == (lost.dst, lost.successors)
    assert lost.successors[0] == stage.voters[2].id
    states.become_unattached(stage.rules, leader, 2, stage.out)
    assert not raft.on_resend(stage.rules, leader, data, stage.out)


def test_a_restarted_leader_ends_its_epoch_and_proposes_none() -> None:
    stage = Stage(3)
    leader = lead(stage)
    states.start(stage.rules, leader, stage.out)
    request = stage.sent(EndQuorumEpochRequest)[0]
    assert (leader.state, request.successors) == (RESIGNED, ())
    second = stage.voters[1]
    raft.on_end_epoch(stage.rules, second, request, stage.out)
    assert second.deadline == stage.out.now
    stage.expire(second)
    assert (second.state, second.epoch) == (CANDIDATE, 2)


def test_a_response_to_a_request_of_an_earlier_state_is_ignored() -> None:
    stage = Stage(3)
    first, second, _ = stage.voters
    states.become_candidate(stage.rules, first, stage.out)
    request = stage.sent(VoteRequest)[0]
    states.become_unattached(stage.rules, first, 4, stage.out)
    late = VoteResponse(second.id, first.id, request.corr, 0, 9, second.id, False)
    raft.on_vote_response(stage.rules, first, late, stage.out)
    assert (first.state, first.epoch) == (UNATTACHED, 4)


# -- pre-votes (KIP-996) --------------------------------------------------------------------------


def ask(stage: Stage, v: Voter, other: Voter) -> VoteResponse:
    """Send a pre-vote of a voter to another one and return the response."""
    log = v.log
    request = VoteRequest(v.id, other.id, v.next_corr(), v.epoch, log.last_epoch, log.end, True)
    raft.on_vote(stage.rules, other, request, stage.out)
    response: VoteResponse = stage.sent(VoteResponse)[-1]
    return response


def answer(stage: Stage, v: Voter, granted: bool) -> None:
    """Answer every open Vote of a voter alike."""
    for request in stage.sent(VoteRequest):
        response = VoteResponse(request.dst, v.id, request.corr, 0, v.epoch, v.leader, granted)
        raft.on_vote_response(stage.rules, v, response, stage.out)


def test_a_prospective_voter_stays_in_its_epoch_until_a_majority_would_vote() -> None:
    stage = Stage(3, "K41")
    leader = lead(stage)
    second = stage.voters[1]
    stage.expire(second)
    assert (second.state, second.epoch, second.leader) == (PROSPECTIVE, 1, leader.id)
    assert all(m.pre_vote and m.epoch == 1 for m in stage.out.sends if isinstance(m, VoteRequest))
    answer(stage, second, granted=True)
    assert (second.state, second.epoch, second.voted_for) == (CANDIDATE, 2, second.id)
    assert not any(request.pre_vote for request in stage.sent(VoteRequest))


def test_a_refused_pre_vote_goes_back_to_the_known_leader() -> None:
    stage = Stage(3, "K41")
    leader = lead(stage)
    second = stage.voters[1]
    stage.expire(second)
    answer(stage, second, granted=False)
    assert (second.state, second.epoch, second.leader) == (FOLLOWER, 1, leader.id)


def test_without_a_leader_a_refused_pre_vote_waits_and_keeps_its_vote() -> None:
    stage = Stage(3, "K41")
    second, third = stage.voters[1:]
    vote = VoteRequest(third.id, second.id, 1, 4, 0, 0)
    raft.on_vote(stage.rules, second, vote, stage.out)
    stage.expire(second)
    assert (second.state, second.epoch) == (PROSPECTIVE, 4)
    answer(stage, second, granted=False)
    assert (second.state, second.voted_for) == (VOTED, third.id)
    assert second.deadline > stage.out.now


def test_pre_votes_are_refused_where_a_leader_is_alive() -> None:
    stage = Stage(3, "K41")
    leader = lead(stage)
    second, third = stage.voters[1:]
    assert not ask(stage, second, leader).granted
    assert ask(stage, second, third).granted
    assert (third.state, third.voted_for, third.epoch) == (FOLLOWER, 0, 1)
    third.has_fetched = True
    assert not ask(stage, second, third).granted


def test_a_vote_in_the_own_epoch_lets_a_prospective_voter_begin_again() -> None:
    stage = Stage(3, "K41")
    first, second, third = stage.voters
    first.epoch, first.state = 4, UNATTACHED
    states.become_prospective(stage.rules, first, stage.out)
    ends = first.deadline
    request = stage.sent(VoteRequest)[0]
    refusal = VoteResponse(request.dst, first.id, request.corr, 0, 4, 0, False)
    raft.on_vote_response(stage.rules, first, refusal, stage.out)
    stage.out.now = 10
    raft.on_vote(stage.rules, first, VoteRequest(third.id, first.id, 1, 4, 0, 0), stage.out)
    assert (first.state, first.voted_for, first.rejected) == (PROSPECTIVE, third.id, ())
    assert [m.dst for m in stage.sent(VoteRequest)] == [second.id]
    assert first.deadline == ends + 10


def test_a_resigned_leader_enters_the_next_epoch_unattached_from_4_0_on() -> None:
    for profile, state, epoch in (("K39", CANDIDATE, 2), ("K40", UNATTACHED, 2)):
        stage = Stage(3, profile)
        leader = lead(stage)
        states.resign(stage.rules, leader, stage.out)
        stage.expire(leader)
        assert (leader.state, leader.epoch) == (state, epoch)


def test_a_refused_candidate_waits_differently_in_three_releases() -> None:
    for profile, waits, after in (
        ("K39", True, CANDIDATE),
        ("K40", True, PROSPECTIVE),
        ("K41", False, PROSPECTIVE),
    ):
        stage = Stage(3, profile)
        first = stage.voters[0]
        states.become_candidate(stage.rules, first, stage.out)
        answer(stage, first, granted=False)
        assert first.waits == waits
        assert (first.deadline < first.election_ends) == waits
        stage.expire(first)
        assert first.state == after
