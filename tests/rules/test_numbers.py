"""The numbers of Kafka that no configuration changes, under the names its source has for them."""

from __future__ import annotations

import pytest

from engine.controlplane import election
from engine.dataplane import fetch_request, isr_propagation, retention

NUMBERS = [
    ("ReplicaManager.IsrChangePropagationBlackOut", isr_propagation.QUIET_MS, 5_000),
    ("ReplicaManager.IsrChangePropagationInterval", isr_propagation.LONGEST_MS, 60_000),
    ("ReplicationControlManager.MAX_ELECTIONS_PER_IMBALANCE", election.PREFERRED_PER_PASS, 1_000),
    ("DeleteRecordsRequest.HIGH_WATERMARK", retention.UP_TO_HW, -1),
    ("the last version of Fetch that names topics, not their ids", fetch_request.NAMES_VERSION, 12),
]


@pytest.mark.parametrize(
    ("ours", "kafkas"), [pytest.param(*one, id=name) for name, *one in NUMBERS]
)
def test_a_number_is_kafkas(ours: int, kafkas: int) -> None:
    assert ours == kafkas
