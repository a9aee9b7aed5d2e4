"""Flags that no release has by default: seen at work by flipping them."""

from __future__ import annotations

from engine.scenarios.file import find
from engine.sim.run import Run, play_all

TRAFFIC = (
    "produce a b to 1 acks=all",
    "fetch 2",
    "produce c to 1 acks=1",
    "fetch 2",
)


def test_the_textbook_answer_carries_the_mark_after_the_fetch() -> None:
    scenario = find("S02")
    marks = {}
    for profile in ("K39", "K39+textbook_response_hw"):
        sim = play_all(Run(scenario, profile, moves=TRAFFIC))
        marks[profile] = [sim.brokers[b].replicas[0].log.hw for b in (1, 2)]
    assert marks == {"K39": [2, 0], "K39+textbook_response_hw": [2, 2]}


def test_a_diverging_fetch_once_counted_as_a_position() -> None:
    """KAFKA-13141: the leader believed that a diverged follower had what it asked for next."""
    scenario = find("S23")
    positions = {}
    for profile in ("Z28", "Z28-diverging_skips_follower_update"):
        lines = Run(scenario, profile).script()
        until = lines.index("fetch A")
        moves = (*lines[:until], "deliver A->B")
        sim = play_all(Run(scenario, profile, moves=moves))
        positions[profile] = sim.brokers[2].replicas[0].remote[1].leo
    assert positions == {"Z28": -1, "Z28-diverging_skips_follower_update": 3}
