"""Facts of voters as they lie on disks and in logs, without a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.kafka.batches import Header, RecordBatch
from app.lab.cluster import Tools, free_block
from app.lab.configuration import Ports
from app.lab.disk import METADATA
from app.lab.moves import why_not
from app.lab.processes import Processes
from app.lab.quorum import QuorumCluster, VoterLog
from app.lab.releases import release_of
from app.lab.voter_moves import voter_deed
from engine.moves import moves, verbs  # noqa: F401
from engine.scenarios import file

REGISTRATION = bytes([1, 27, 0])
"""Frame, kind and version of a RegisterControllerRecord."""
NO_OP = bytes([1, 20, 0])


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[QuorumCluster]:
    """Three voters of which 102 leads epoch 7, and has lost two followers."""
    with Processes() as processes:
        tools = Tools(Path("java"), Path("jars"), Path("archive"))
        base = free_block(Ports.needed(3, 3))
        made = QuorumCluster(release_of("4.1.1"), [1, 2, 3], tools, processes, base, 3)
        states = {101: "FollowerState", 102: "Leader", 103: "CandidateState"}
        monkeypatch.setattr(processes, "alive", lambda name: name != "103")
        monkeypatch.setattr(made, "mark", lambda voter: 12)
        for voter, state in states.items():
            place = made.log_directory(voter) / METADATA
            place.mkdir(parents=True)
            leader = -1 if voter == 103 else 102
            kept = {"leaderId": leader, "leaderEpoch": 7, "votedId": 103 if leader < 0 else -1}
            (place / "quorum-state").write_text(json.dumps(kept))
            lines = f"Completed transition to Unattached(epoch=6)\nCompleted transition to {state}("
            made.server_log(voter).write_text(lines)
            made._logged[voter] = 0
        yield made
        made.close()


def test_voters_are_named_in_the_order_in_which_they_lead(cluster: QuorumCluster) -> None:
    assert cluster.leader() == 102
    cluster.named = [102, 101, 103]
    cluster.began.epoch = 6
    found = cluster.voter_facts()
    assert [(one["state"], one["epoch"], one["leader"], one["vote"]) for one in found.values()] == [
        ("leader", 1, "C1", ""),
        ("follower", 1, "C1", ""),
        ("down", 1, "", "C3"),
    ]
    assert [one["hw"] for one in found.values()] == [12, None, None]
    assert cluster.who("102") == "Controller C1" and cluster.who("2") == "Broker 2"


def test_moves_name_voters_at_both_ends_of_a_link(cluster: QuorumCluster) -> None:
    cluster.named = [102, 101, 103]
    brokers = file.find("S84").brokers
    link = moves.parse("cut C1 C3", brokers).args
    assert [cluster.end_of(link[end]) for end in ("a", "b")] == [-102, -103]
    link = moves.parse("cut 1 C2", brokers).args
    assert [cluster.end_of(link[end]) for end in ("a", "b")] == [1, -101]
    assert cluster.voter_of(moves.parse("kill K", brokers).args["broker"]) == 102
    assert voter_deed(cluster, moves.parse("kill 1", brokers)) is None
    for line in ("kill C2", "shutdown C2", "restart C2", "pause C2", "resume C2", "wipe C2"):
        assert voter_deed(cluster, moves.parse(line, brokers)) is not None
        assert why_not(moves.parse(line, brokers), False, 3) == ""


def test_a_start_forgets_the_state_that_was_logged_before(
    cluster: QuorumCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_java", lambda *_: "")
    cluster.start(101)
    assert cluster.voter_facts()["C1"]["state"] == ""
    with cluster.server_log(101).open("a") as log:
        log.write("\nCompleted transition to ProspectiveState(epoch=7)")
    assert cluster.voter_facts()["C1"]["state"] == "electing"


def batch(base: int, epoch: int, *values: bytes, control: bool = False) -> RecordBatch:
    header = Header(base, base + len(values) - 1, epoch, len(values), 0, False, control, 0, 0)
    return RecordBatch(header, tuple(enumerate(values, base)))


def test_registrations_of_controllers_do_not_count() -> None:
    log = VoterLog()
    log.add(batch(0, 1, NO_OP, REGISTRATION))
    log.add(batch(2, 1, NO_OP))
    log.add(batch(3, 2, b"\0\0\0\2", control=True))
    log.add(batch(4, 2, REGISTRATION, NO_OP))
    assert (log.end, log.epochs, log.registrations) == (6, [(1, 0), (2, 3)], [1, 4])
    assert [log.counted(offset) for offset in range(7)] == [0, 1, 1, 2, 3, 3, 4]
