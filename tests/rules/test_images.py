"""A broker applies an image of metadata whole: partitions first, then settings."""

from __future__ import annotations

from tests.rules.playing import cluster, played


def test_a_new_leader_reads_min_isr_before_the_setting_of_the_same_image() -> None:
    """CP-KR-APPLY, as recorded on 4.4.0: partitions change first, and so the mark moves."""
    lines = (
        "elect 2; produce m0 to 2 acks=1; fetch 3; hold md 3; kill 1; detect 1",
        "set min.insync.replicas=2; kill 2; detect 2; release md 3",
    )
    sim = played(cluster(brokers=3, configs={"min.insync.replicas": 1}), "K41", *lines)
    assert sim.brokers[3].replicas[0].log.hw == 1


def test_a_setting_alone_holds_the_mark_back() -> None:
    lines = (
        "elect 2; produce m0 to 2 acks=1; fetch 3; kill 1; detect 1",
        "set min.insync.replicas=2; kill 2; detect 2",
    )
    sim = played(cluster(brokers=3, configs={"min.insync.replicas": 1}), "K41", *lines)
    assert sim.brokers[3].replicas[0].log.hw == 0
