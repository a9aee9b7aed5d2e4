"""CP-ISR-CLOCK: until when a leader takes a follower to have been caught up."""

from __future__ import annotations

import pytest

from engine.dataplane import insync, watermark
from engine.model.effects import Effects
from engine.model.state import NEVER, RemoteReplica
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all

BEFORE, NOW = 1_000, 2_000
"""ms of the follower's last fetch, when the leader's log ended at 5, and of this one, at 8."""


@pytest.mark.parametrize(
    ("offset", "caught_up"), [(4, 0), (5, BEFORE), (7, BEFORE), (8, NOW), (9, NOW)]
)
def test_a_fetch_tells_when_the_follower_last_had_everything(offset: int, caught_up: int) -> None:
    written = "produce a b c d e f g h to 1 acks=1"
    leader = play_all(Run(find("S01"), "K39", 0, (written,))).brokers[1].running
    replica = leader.replicas[0]
    remote = replica.remote[2]
    remote.last_caught_up_ms, remote.last_fetch_ms, remote.last_fetch_leader_leo = 0, BEFORE, 5
    out = Effects()
    out.now = NOW
    insync.update_follower_fetch_state(leader, replica, 2, offset, 0, 8, -1, out)
    assert remote.last_caught_up_ms == caught_up
    assert (remote.leo, remote.last_fetch_ms, remote.last_fetch_leader_leo) == (offset, NOW, 8)


@pytest.mark.parametrize(
    ("leo", "ago", "caught_up"), [(7, 500, True), (7, 501, False), (8, 501, True)]
)
def test_a_follower_may_be_behind_for_the_whole_lag_time(
    leo: int, ago: int, caught_up: bool
) -> None:
    """H-2: the leader's log ends at 8, replica.lag.time.max.ms is 500."""
    remote = RemoteReplica()
    remote.leo, remote.last_caught_up_ms = leo, NOW - ago
    assert watermark.caught_up(remote, 8, NOW, 500) is caught_up


@pytest.mark.parametrize(
    ("profile", "position", "late"),
    [("Z08", 8, []), ("Z08", 5, []), ("Z08", 4, [2]), ("Z09", 0, [])],
)
def test_a_follower_too_many_records_behind_is_late(
    profile: str, position: int, late: list[int]
) -> None:
    """CP-ISR-SHRINK: 0.8 counts records; exactly replica.lag.max.messages is not too many."""
    moves = ("set replica.lag.max.messages=3", "produce a b c d e f g h to 1 acks=1")
    scenario = Scenario.from_dict({"title": "x", "brokers": 2})
    if profile != "Z08":
        moves = moves[1:]
    replica = play_all(Run(scenario, profile, 0, moves)).brokers[1].replicas[0]
    remote = replica.remote[2]
    remote.leo, remote.last_caught_up_ms = position, NOW
    assert insync.out_of_sync(replica, NOW) == late


@pytest.mark.parametrize(
    ("led", "member", "known"),
    [
        (False, True, (-1, -1, -1, NEVER, -1)),
        (False, False, (-1, -1, -1, NEVER, -1)),
        (True, True, (6, 1, 8, NOW, 5)),
        (True, False, (6, 1, 8, NEVER, 5)),
    ],
)
def test_follower_state_when_a_leader_epoch_begins(
    led: bool, member: bool, known: tuple[int, ...]
) -> None:
    """H-8.3: nothing, unless it has led before; members count as caught up now, others never."""
    written = "produce a b c d e f g h to 1 acks=1"
    replica = play_all(Run(find("S01"), "K39", 0, (written,))).brokers[1].replicas[0]
    replica.isr = (1, 2) if member else (1,)
    remote = replica.remote[2]
    remote.leo, remote.log_start, remote.broker_epoch = 6, 1, 5
    remote.last_fetch_leader_leo, remote.last_fetch_ms = 7, BEFORE
    insync.reset_follower_clocks(replica, led, NOW)
    found = (remote.leo, remote.log_start, remote.last_fetch_leader_leo, remote.last_fetch_ms)
    assert (*found, remote.broker_epoch) == known
    assert remote.last_caught_up_ms == (NOW if member else NEVER)
