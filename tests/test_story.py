"""Reasons that a step gives hold for its release."""

from __future__ import annotations

import json
import re

import pytest

from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.sim.run import Run


@pytest.mark.parametrize("code", ["R20", "S24"])
@pytest.mark.parametrize(
    ("profile", "why"), [("Z0102", {"why.role"}), ("Z21", {"why.fenced"}), ("K39", {"why.fenced"})]
)
def test_a_refusal_for_the_role_is_not_explained_by_epochs(
    code: str, profile: str, why: set[str]
) -> None:
    """Fetch has current_leader_epoch since 2.1 (KIP-320); before, the role alone decides."""
    replay, seen = Replay(Run(find(code), profile)), set()
    for n in range(replay.total + 1):
        (step,) = replay.steps(n, 1)
        seen.update(one["key"] for one in step["why"])
    assert seen & {"why.role", "why.fenced"} == why


@pytest.mark.parametrize(
    ("code", "profile", "name"),
    [
        ("R20", "Z0102", "NOT_LEADER_FOR_PARTITION"),
        ("S24", "Z20", "NOT_LEADER_FOR_PARTITION"),
        ("S99", "4.4.0", "NOT_LEADER_OR_FOLLOWER"),
    ],
)
def test_errors_have_the_names_of_their_release(code: str, profile: str, name: str) -> None:
    """NOT_LEADER_FOR_PARTITION was renamed in 2.6."""
    replay = Replay(Run(find(code), profile))
    shown = json.dumps(list(replay.each(0, replay.total + 1)))
    assert set(re.findall(r"NOT_LEADER\w+", shown)) == {name}
