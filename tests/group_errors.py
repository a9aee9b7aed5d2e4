"""Wrong rules of a group's coordinator: each breaks a promise to the group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engine.groups import coordinator, reconciliation
from engine.model.errors import NONE, UNKNOWN_MEMBER_ID
from engine.scenarios.scenario import Scenario

GROUP = Scenario.from_dict(
    {
        "title": "x",
        "brokers": 3,
        "configs": {"session.timeout.ms": 6_000},
        "groups": [{"name": "orders", "members": ["C1", "C2"], "offsets": [2, 3, 1]}],
        "fetching": "auto",
        "network": {"delay_ms": 1, "control_delay_ms": 1},
    }
)
SHARED = "join C1; advance 1s; join C2; advance 4s"
CUT_OFF = (
    "produce m1; advance 1s; join C1; advance 1s; read C1; advance 1s; cut C1 2; join C2; "
    "advance 8s; read C2; advance 1s; commit C2; advance 1s; heal; commit C1; advance 1s"
)
CRASHED = (
    "produce m1; advance 1s; join C1; advance 1s; read C1; advance 1s; cut 2 1; cut 2 3; "
    "commit C1; advance 5; kill 2; advance 15s"
)


STATIC = Scenario.from_dict(
    {
        **GROUP.to_dict(),
        "groups": [
            {
                "name": "orders",
                "members": ["C1", "C2"],
                "offsets": [2, 3, 1],
                "group.instance.id": {"C1": "app-1", "C2": "app-1"},
            }
        ],
    }
)
COOPERATIVE = Scenario.from_dict(
    {
        **GROUP.to_dict(),
        "partitions": [[1, 2, 3], [2, 3, 1], [3, 1, 2]],
        "groups": [
            {
                "name": "orders",
                "members": ["C1", "C2", "C3"],
                "offsets": [2, 3, 1],
                "partition.assignment.strategy": "cooperative-sticky",
            }
        ],
    }
)
MOVING = (
    "produce a; produce b p=1; produce c p=2; advance 1s; join C1; advance 1s; join C2; "
    "advance 7s; read C2; advance 1s; join C3; advance 4s; read C1; advance 1s; process C2; "
    "commit C2; advance 1s; read C2; advance 1s"
)
RECONCILING = Scenario.from_dict(
    {
        **COOPERATIVE.to_dict(),
        "profiles": ["K41"],
        "configs": {"group.consumer.session.timeout.ms": 6_000},
        "groups": [
            {
                "name": "orders",
                "members": ["C1", "C2", "C3"],
                "offsets": [2, 3, 1],
                "group.protocol": "consumer",
            }
        ],
    }
)
BUSY = (
    "produce a; produce b p=1; produce c p=2; advance 1s; join C1; advance 1s; read C1; "
    "advance 1s; join C2; advance 14s"
)
REMOVED = (
    "produce a; join C1; advance 1s; read C1; advance 1s; cut C1 2; join C2; "
    "advance 14s; read C2; advance 1s; commit C2; advance 1s; heal; commit C1; advance 1s"
)
TAKEN_OVER = (
    "produce m1; advance 1s; join C1; advance 1s; read C1; advance 1s; join C2; advance 500ms; "
    "commit C1; advance 500ms"
)


def everybody_owns_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """G-2: each member is assigned all partitions."""

    def assign(partitions: Sequence[int], members: Sequence[str]) -> dict[str, tuple[int, ...]]:
        return {member: tuple(partitions) for member in members}

    monkeypatch.setattr(coordinator, "assign", assign)


def what_moves_is_assigned_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """G-8: a partition is assigned before its owner has given it up."""

    def assign(
        partitions: Sequence[int], members: Sequence[str], owned: Any
    ) -> dict[str, tuple[int, ...]]:
        return range_shares(partitions, members)

    range_shares = coordinator.assign
    monkeypatch.setattr(coordinator, "assign_sticky", assign)


def a_former_process_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """G-7: requests of a former process are those of the static member."""

    def known(group: Any, m: Any, now: int) -> int:
        return NONE if group.static_member(m.instance) else UNKNOWN_MEMBER_ID

    monkeypatch.setattr(coordinator, "_check_and_touch", known)


def any_member_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """G-4: neither membership nor generation is looked at."""
    monkeypatch.setattr(coordinator, "_check_and_touch", lambda group, m, now: 0)


def commits_are_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """G-4: the coordinator answers as soon as it has written the commit itself."""

    def append(broker: Any, replica: Any, m: Any, out: Any) -> bool:
        batch = coordinator.produce.append_as_leader(broker, replica, m, out)
        for response in m.responses(0, batch.base, broker.profile):
            out.send(response)
        return True

    monkeypatch.setattr(coordinator, "_append", append)


def what_is_owned_counts_as_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """G-9: a partition of the target is assigned before its owner has given it up."""
    monkeypatch.setattr(reconciliation, "is_free", lambda group, tp: True)


def any_epoch_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """G-9: neither membership nor epoch of a commit is looked at."""
    monkeypatch.setattr(reconciliation, "offsets_refusal", lambda members, m: NONE)
