"""Rules of a quorum whose voters change (KIP-853, 10.1).

`AddVoterHandler`, `RemoveVoterHandler`, `VoterSet`.
"""

from __future__ import annotations

from engine.model.quorum import LEADER, R_VOTERS, Quorum, Record, Voter
from engine.quorum import replication


def record(members: dict[int, int]) -> Record:
    """Return the VotersRecord of these voters."""
    return R_VOTERS, tuple(members.items())


def is_pending(leader: Voter) -> bool:
    """CP-RAFT-VOTERS.  Check for a change that is not committed, or whose fate is not known yet.

    A new leader knows its high watermark once a record of its epoch is committed, and with it every
    change of a smaller epoch.  With one change at a time each majority shares a voter with the next
    one.
    """
    return leader.log.voter_sets[-1][0] >= replication.known_high_watermark(leader)


def has_caught_up(leader: Voter, v: Voter) -> bool:
    """CP-RAFT-VOTERS.  Check that a node has the log (`LeaderState.isReplicaCaughtUp`).

    So that the high watermark does not wait for it once it counts.
    """
    progress = leader.progress.get(v.id)
    return progress is not None and progress.caught_up and progress.directory == v.directory


def is_removed(quorum: Quorum, v: Voter, now: int) -> bool:
    """CP-RAFT-VOTERS.  Check for a leader that is committed not to be a voter: it resigns.

    `RemoveVoterHandler.highWatermarkUpdated` does so only while the request waits: after
    `controller.quorum.request.timeout.ms` the leader leads on, and is no voter.
    """
    if not quorum.dynamic or v.state != LEADER or quorum.is_voter(v) or now >= v.removal_ends:
        return False
    return v.log.voter_sets[-1][0] < v.hw
