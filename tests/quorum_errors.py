"""Wrong rules of the voters of a KRaft quorum: each breaks a promise of Raft."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model.quorum import UNATTACHED, Quorum
from engine.quorum import raft, replication, voters


def voters_grant_every_vote(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two candidates of one epoch may both get a majority."""
    monkeypatch.setattr(raft, "_can_grant", lambda v, m: True)


def logs_part_unnoticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader appends to a log that differs from its own."""
    monkeypatch.setattr(replication, "diverging", lambda log, epoch, offset: None)


def shorter_logs_are_elected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate that lacks committed metadata gets votes."""

    def can_grant(v: Any, m: Any) -> bool:
        return bool(v.state == UNATTACHED or v.voted_for == m.src)

    monkeypatch.setattr(raft, "_can_grant", can_grant)


def leaders_commit_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What only the leader stores counts as committed."""

    def commit(quorum: Quorum, v: Any, out: Any) -> bool:
        v.hw = v.log.end
        return True

    monkeypatch.setattr(replication, "maybe_commit", commit)


def changes_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The voters change again before the last change is committed, as nothing is."""
    monkeypatch.setattr(voters, "is_pending", lambda leader: False)
    monkeypatch.setattr(replication, "maybe_commit", lambda quorum, v, out: False)
