"""Cycles against closed forms, trees against the runs they stand for, effort against the mean."""

from __future__ import annotations

from itertools import product
from statistics import fmean, stdev

import pytest

from engine.sim.run import Run, play_all
from engine.study import advice, cycles
from engine.study.advice import YEAR_MS, Failures, Setting
from engine.study.batch import run_chunk
from engine.study.closed_form import overlaps_per_year
from engine.study.cycle_rows import run_of_leaf, subject, sums_of
from engine.study.cycles import Tree, best_effort, told, usual_copies

NEVER: dict[str, int] = {
    "process_days": 3_650, "machine_days": 36_500, "rack_days": 36_500, "disk_days": 200_000,
    "machine_repair_min": 5, "rack_repair_min": 5, "disk_repair_min": 5,
}  # fmt: skip
"""Nothing fails but what a test makes fail."""
DISKS = Failures(**{**NEVER, "disk_days": 30, "disk_repair_min": 60})
RF2 = Setting(brokers=2, factor=2, min_isr=1, racks=2)
RF3 = Setting(racks=3, min_isr=1)


def only(**copies: float) -> dict[str, float]:
    """So many copies of these paths, and hardly any of all others: the mean is the same."""
    kinds = ("process", "machine", "rack", "disk")
    paths = [p for k in (2, 3, 4) for p in product(kinds, repeat=k)]
    rest = {told(path): cycles.EFFORT[0] for path in paths}
    return rest | {name.replace("_", ">"): n for name, n in copies.items()}


def forest(setting: Setting, failures: Failures, effort: dict[str, float], n: int) -> list[Tree]:
    return [Tree(setting, failures, "K39", seed, effort) for seed in range(n)]


def holds(trees: list[Tree], truth: float) -> bool:
    """Is the mean within four standard errors of the truth, and are these small?"""
    found = [tree.lost * YEAR_MS for tree in trees]
    error = stdev(found) / len(found) ** 0.5
    assert error < 0.9 * truth, (fmean(found), error, truth)
    return abs(fmean(found) - truth) < 4 * error


def test_formula_of_two_and_three_disks() -> None:
    day = 1 / 30
    for replicas, setting in ((2, RF2), (3, RF3)):
        disks = replicas * day**replicas * (1 / 24) ** (replicas - 1) * 365
        assert overlaps_per_year(setting, DISKS) == pytest.approx(disks, rel=0.03)
    one_rack = overlaps_per_year(Setting(racks=1), Failures(**{**NEVER, "rack_days": 365}))
    assert one_rack == pytest.approx(1.0, rel=0.01)


def test_two_dead_disks_lose_as_often_as_the_formula_says() -> None:
    """2 l^2 m times a year; nothing else fails."""
    effort = only(disk_disk=4)
    assert holds(forest(RF2, DISKS, effort, 10), overlaps_per_year(RF2, DISKS))


def test_three_dead_disks_too_however_rare() -> None:
    """3 l^3 m^2: once in thirteen thousand years.  Eight trees see it."""
    often = Failures(**{**NEVER, "disk_days": 180, "disk_repair_min": 20})
    effort = only(disk_disk=4, disk_disk_disk=2)
    assert overlaps_per_year(RF3, often) < 1e-7
    assert holds(forest(RF3, often, effort, 8), overlaps_per_year(RF3, often))


def test_machines_lose_what_was_not_on_disk() -> None:
    """Two replicas, power fails on both: 2 l^2 m, of which nine in ten had something to lose.  By
    windows of before it was said to be thirty times as rare."""
    failures = Failures(3_650, 30, 30, 60, 3_650, 60, 3_650, 60)
    trees = forest(RF2, failures, only(machine_machine=4), 8)
    found = fmean(tree.lost * YEAR_MS for tree in trees)
    assert 0.010 < found < 0.07, found
    assert found < 1.5 * overlaps_per_year(RF2, failures)


def test_one_rack_loses_as_often_as_its_power_fails() -> None:
    failures = Failures(**{**NEVER, "rack_days": 730})
    trees = forest(Setting(racks=1), failures, only(), 6)
    assert 0.2 < fmean(tree.lost * YEAR_MS for tree in trees) < 0.55


def test_a_machine_is_down_as_long_as_its_repair_takes() -> None:
    """One broker and no other: its repairs are the downtime."""
    failures = Failures(**{**NEVER, "machine_days": 30, "machine_repair_min": 20})
    trees = forest(Setting(brokers=1, factor=1, min_isr=1), failures, only(), 40)
    hours = fmean(tree.waits * YEAR_MS / 3_600_000 for tree in trees)
    assert hours == pytest.approx(365 / 30 * 20 / 60, rel=0.45)


def test_a_cycle_that_lost_is_a_run() -> None:
    asked = subject(RF2, DISKS, {"disk>disk": 2.0})
    chunk = {"scenario": asked, "profile": "K39", "cell": 0, "first_seed": 3, "count": 1}
    (row,) = run_chunk(chunk)
    assert (row,) == tuple(run_chunk(chunk)), "the same seed is the same tree"
    assert row["verdict"] == "violates" and row["invariant"] == "I7"
    tree = Tree(RF2, DISKS, "K39", 3, {"disk>disk": 2.0})
    for leaf in tree.leaves[:3]:
        kept = {"strikes": [list(one) for one in leaf.strikes], "end_ms": leaf.end_ms}
        run = run_of_leaf(asked, "K39", 3, kept)
        assert play_all(Run.from_text(run.text())).ledger.lost, kept
    sums = sums_of([row])
    assert sums["lost"][0] == pytest.approx(tree.lost * YEAR_MS)
    assert sums["path disk>disk"][2] == tree.paths["disk", "disk"][2]


def test_a_pilot_spends_where_losses_come_from() -> None:
    effort = best_effort(forest(RF2, DISKS, {}, 3))
    assert effort["disk>disk"] > usual_copies(("disk", "disk"), 2)
    assert effort["process>process"] < usual_copies(("process", "process"), 2)
    assert min(effort.values()) >= cycles.EFFORT[0], "nothing is ruled out"


def test_presets_can_be_asked() -> None:
    for failures in advice.PRESETS.values():
        advice.check(Setting(), failures)
