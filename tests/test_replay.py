"""Time travel: from a checkpoint a run goes on just as it would have from its beginning."""

from __future__ import annotations

import json

import pytest

from engine.scenarios.file import find
from engine.show.replay import Replay
from engine.sim.run import Run


@pytest.mark.parametrize(("code", "profile"), [("S61", "Z0102"), ("S62", "K39"), ("S63", "K39")])
def test_a_step_is_the_same_from_every_checkpoint(code: str, profile: str) -> None:
    run = Run(find(code), profile, seed=5)
    played = Replay(run)
    assert len(played._checkpoints) > 2
    straight = Replay(run)
    straight._checkpoints.clear()
    steps = [
        step for first in range(0, straight.total + 1, 64) for step in straight.steps(first, 64)
    ]
    assert [step["n"] for step in steps] == list(range(straight.total + 1))
    for checkpoint in played._checkpoints:
        for first in (checkpoint.events, checkpoint.events + 1, checkpoint.events + 40):
            played._cursor = None
            played._cache.clear()
            for step in played.steps(first, 3):
                assert json.dumps(step) == json.dumps(steps[step["n"]])


def test_a_copy_shares_nothing_that_changes() -> None:
    run = Run(find("S61"), "Z0102", seed=1)
    sim = run.simulation()
    twin = sim.copy()
    for clock in (sim, twin):
        clock.run_until(20_000)
    assert sim.events == twin.events
    before = [broker.disks[0].log.leo for broker in twin.brokers.values()]
    sim.run_until(40_000)
    assert before == [broker.disks[0].log.leo for broker in twin.brokers.values()]


def test_a_run_cut_inside_a_move_is_where_the_whole_run_was() -> None:
    whole = Replay(Run(find("S20"), "Z0102"))
    for step in range(1, whole.total, 7):
        run = Run(whole.run.scenario, "Z0102", 0, whole.cut(step))
        part = Replay(run)
        assert part.total == step
        assert part.final_view() == whole.steps(step, 1)[0]["view"]
