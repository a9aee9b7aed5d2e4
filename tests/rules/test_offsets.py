"""C-5, H-9: which offset a client or a replica is told, and when it has to come back."""

from __future__ import annotations

import pytest

from engine.dataplane import serving
from engine.model.errors import NONE, NOT_LEADER_OR_FOLLOWER, OFFSET_NOT_AVAILABLE
from engine.model.log import Batch
from engine.model.messages import EARLIEST, LATEST, NO_EPOCH
from engine.model.state import FOLLOWER, Replica
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all

BACK = (OFFSET_NOT_AVAILABLE, -1)


def new_leader(profile: str) -> Replica:
    """Four records of the times 10 to 40, two of them committed; its epoch begins at offset 3."""
    sim = play_all(Run(Scenario.from_dict({"title": "x", "brokers": 2}), profile, 0, ("settle",)))
    replica = sim.brokers[1].replicas[0]
    for offset in range(4):
        replica.log.append(Batch(offset, 0, ("r",), 10 * (offset + 1)))
    replica.log.hw, replica.epoch_start = 2, 3
    return replica


@pytest.mark.parametrize(
    ("profile", "client", "timestamp", "hw", "found"),
    [
        ("K39", True, LATEST, 2, BACK),
        ("K39", True, 30, 2, BACK),  # it may have been committed
        ("K39", True, 20, 2, (NONE, 1)),  # this one is committed for certain
        ("K39", True, EARLIEST, 2, (NONE, 0)),
        ("K39", True, LATEST, 3, (NONE, 3)),
        ("K39", True, 40, 3, (NONE, -1)),
        ("K39", False, LATEST, 2, (NONE, 4)),
        ("K39", False, 40, 2, (NONE, 3)),
        ("Z20", True, LATEST, 2, (NONE, 2)),
        ("Z20", True, 30, 2, (NONE, -1)),
    ],
)
def test_a_new_leader_tells_clients_to_come_back_until_its_mark_has_risen(
    profile: str, client: bool, timestamp: int, hw: int, found: tuple[int, int]
) -> None:
    """H-9, KIP-207, 2.2: unless what is looked for lies below the mark."""
    replica = new_leader(profile)
    replica.log.hw = hw
    assert serving.look_up_offset(replica, timestamp, client)[:2] == found


def test_a_leader_without_an_epochs_start_tells_what_it_has() -> None:
    """H-9: nothing is waited for where nothing began."""
    replica = new_leader("K39")
    replica.epoch_start = -1
    assert serving.look_up_offset(replica, LATEST, True)[:2] == (NONE, 2)


def test_a_record_without_an_epoch_is_found_all_the_same() -> None:
    """H-9: of the old message format, which names none; what is committed is told."""
    replica = new_leader("K39")
    replica.log.batches[1].epoch = NO_EPOCH
    assert serving.look_up_offset(replica, 20, True) == (NONE, 1, NO_EPOCH, 20)


@pytest.mark.parametrize("client", [True, False])
def test_offsets_are_looked_up_at_the_leader(client: bool) -> None:
    """C-5."""
    replica = new_leader("K39")
    replica.role, replica.epoch_start = FOLLOWER, -1
    assert serving.look_up_offset(replica, EARLIEST, client)[:2] == (NOT_LEADER_OR_FOLLOWER, -1)
