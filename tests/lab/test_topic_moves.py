"""Moves of one topic in a cluster that has many: a wiped disk, a changed setting."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from app.lab import moves
from app.lab.client import KafkaClient
from app.lab.releases import release_of
from app.lab.stage import LabStage


def test_a_new_disk_has_no_mark_of_a_clean_shutdown(tmp_path: Path) -> None:
    """Else the broker registers as one that lost nothing, and a controller with ELR elects it."""
    for name in ("t-0/00000000000000000000.log", "u-0/00000000000000000000.log", "meta.properties"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".kafka_cleanshutdown").touch()
    cluster = SimpleNamespace(log_directory=lambda broker: tmp_path)
    stage = SimpleNamespace(cluster=cluster, directory=lambda broker: tmp_path / "t-0")
    moves.DEEDS["wipe"](cast(LabStage, stage), {"broker": 1})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["meta.properties", "u-0"]


@pytest.mark.parametrize(("release", "sent"), [("1.1.1", 2), ("3.9.1", 1)])
def test_a_setting_leaves_the_others_of_the_topic(
    release: str, sent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before 2.3 a request replaces all of them."""
    asked: list[bytes] = []
    client = KafkaClient.__new__(KafkaClient)
    client.release = release_of(release)
    answer = SimpleNamespace(i32=lambda: 0)
    monkeypatch.setattr(client, "_ask", lambda key, version, body: asked.append(body) or answer)
    others = {"unclean.leader.election.enable": "true", "min.insync.replicas": "2"}
    client.set_config("t", "min.insync.replicas", "1", others)
    assert asked[0].count(b"unclean.leader.election.enable") == sent - 1
    assert asked[0].count(b"min.insync.replicas") == 1
