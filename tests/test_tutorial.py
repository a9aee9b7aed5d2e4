"""The tutorial names steps and counts of runs: those that the engine plays today."""

from __future__ import annotations

import re

import pytest

from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.sim.run import Run
from engine.study.batch import run_chunk
from tests.conftest import ROOT

TEXT = (ROOT / "docs/tutorial/first-loss.md").read_text("utf-8")
SLUG = "gone-after-a-clean-election"
TOLD = ("produce.acked", "lead.elected", "trunc.hw", "lead.silent", "trunc.range")
"""Key of a sentence at each step of the table."""


def test_the_table_names_the_steps_of_the_loss() -> None:
    steps = [int(step) for step in re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE)]
    replay = Replay(Run(find(SLUG), profile="Z0102"))
    said = [{one["key"] for one in replay.steps(step, 1)[0]["say"]} for step in steps]
    assert len(steps) == len(TOLD)
    for step, key, keys in zip(steps, TOLD, said, strict=True):
        assert key in keys, f"step {step} of {SLUG} says {sorted(keys)}"
    assert f"/s/{SLUG}?step={steps[0]}&" in TEXT


def test_the_branch_keeps_what_the_script_loses() -> None:
    step = int(re.findall(r"\?step=(\d+)", TEXT)[0])
    (moves,) = re.findall(r"   ```\n   (settle; elect.*)\n", TEXT)
    replay = Replay(Run(find(SLUG), profile="Z0102"))
    assert replay.verdict()["kind"] == "lost"
    verdict = Replay(replay.branch(step, moves)).verdict()
    assert verdict["kind"] == "kept" and verdict["kept"] == 2, verdict


@pytest.mark.night
def test_the_counts_are_those_of_a_thousand_seeds() -> None:
    scenario = find("crash-storm").to_dict()
    lost = []
    for profile in ("Z0102", "Z011"):
        chunk = {"scenario": scenario, "profile": profile, "cell": 0, "first_seed": 0}
        rows = run_chunk({**chunk, "count": 1_000})
        lost.append(sum(any(one[0] == "I7" for one in row["broken"]) for row in rows))
    assert lost[1] == 0 and f"{lost[0]} of 1 000 runs" in TEXT
