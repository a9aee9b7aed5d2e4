"""A broker applies an image of metadata whole: partitions first, then settings."""

from __future__ import annotations

import pytest

from tests.rules.playing import cluster, go_on, played


@pytest.mark.parametrize(("held", "hw"), [(True, 1), (False, 0)])
def test_a_new_leader_reads_min_isr_before_the_setting_of_the_same_image(
    held: bool, hw: int
) -> None:
    """CP-KR-APPLY, as recorded on 4.4.0; a setting that came alone before holds the mark back."""
    scenario = cluster(brokers=3, configs={"min.insync.replicas": 1})
    sim = played(scenario, "K41", "elect 2; produce m0 to 2 acks=1; fetch 3")
    go_on(sim, *["hold md 3"] * held)
    go_on(sim, "kill 1; detect 1; set min.insync.replicas=2; kill 2; detect 2")
    go_on(sim, *["release md 3"] * held)
    assert sim.brokers[3].replicas[0].log.hw == hw
