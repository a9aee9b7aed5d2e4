"""Cycles against closed forms, trees against the runs they stand for, effort against the mean."""

from __future__ import annotations

from copy import copy
from functools import cache
from itertools import product
from statistics import fmean, stdev

import pytest

from engine.advisor import advice, cycles, importance
from engine.advisor.advice import YEAR_MS, Failures, Setting
from engine.advisor.closed_form import left_out, overlaps_per_year
from engine.advisor.cycle_rows import run_of_leaf, subject, sums_of
from engine.advisor.cycles import Tree, best_effort, format_path, usual_copies
from engine.sim.run import Run, play_all
from engine.study.batch import run_chunk

pytestmark = pytest.mark.gate

NEVER: dict[str, int] = {
    "process_days": 3_650, "machine_days": 36_500, "rack_days": 36_500, "disk_days": 200_000,
    "machine_repair_min": 5, "rack_repair_min": 5, "disk_repair_min": 5,
}  # fmt: skip
"""Nothing fails but what a test makes fail."""
DISKS = Failures(**{**NEVER, "disk_days": 30, "disk_repair_min": 60})
RF2 = Setting(brokers=2, factor=2, min_isr=1, racks=2)
RF3 = Setting(racks=3, min_isr=1)


def only(**copies: float) -> dict[str, float]:
    """These numbers of copies of paths, one first cycle for them, and hardly any of all others: the
    mean is the same."""
    kinds = ("process", "machine", "rack", "disk")
    paths = [p for k in (2, 3, 4) for p in product(kinds, repeat=k)]
    rest = {format_path(path): 0.04 for path in (*paths, *((one,) for one in kinds))}
    rest |= {name.partition("_")[0]: 1.0 for name in copies} or dict.fromkeys(kinds, 1.0)
    return rest | {name.replace("_", ">"): n for name, n in copies.items()}


def forest(setting: Setting, failures: Failures, effort: dict[str, float], n: int) -> list[Tree]:
    return [_tree(setting, failures, seed, tuple(effort.items())) for seed in range(n)]


@cache
def _tree(
    setting: Setting, failures: Failures, seed: int, effort: tuple[tuple[str, float], ...]
) -> Tree:
    """Several tests look at the same trees, and none changes them."""
    return Tree(setting, failures, "K39", seed, dict(effort))


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


@pytest.mark.night
def test_two_dead_disks_lose_as_often_as_the_formula_says() -> None:
    """2 l^2 m times a year; nothing else fails."""
    effort = only(disk_disk=4)
    assert holds(forest(RF2, DISKS, effort, 10), overlaps_per_year(RF2, DISKS))


@pytest.mark.night
def test_three_dead_disks_too_however_rare() -> None:
    """3 l^3 m^2: once in thirteen thousand years.  Twelve trees see it."""
    often = Failures(**{**NEVER, "disk_days": 180, "disk_repair_min": 20})
    effort = only(disk_disk=4, disk_disk_disk=2)
    assert overlaps_per_year(RF3, often) < 1e-7
    assert holds(forest(RF3, often, effort, 12), overlaps_per_year(RF3, often))


@pytest.mark.night
def test_machines_lose_what_was_not_on_disk() -> None:
    """Two replicas, power fails on both: 2 l^2 m, of which nine in ten had something to lose.  By
    windows of before it was said to be thirty times as rare."""
    failures = Failures(3_650, 30, 30, 60, 3_650, 60, 3_650, 60)
    trees = forest(RF2, failures, only(machine_machine=4), 20)
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


@pytest.mark.night
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
    usual = usual_copies(RF2, DISKS)
    assert usual["disk>disk"] > 8 * usual["process>process"], "as the formula has it"
    trees = forest(RF2, DISKS, only(disk_disk=4), 3)
    assert best_effort(trees)["disk>disk"] > 0.9 * usual["disk>disk"]
    elsewhere = [copy(tree) for tree in trees]
    for tree in elsewhere:
        tree.paths = {("process", "process"): [1.0, 1.0, 1.0, 1e-3 / YEAR_MS, 1.0, 1.0, 0.0, 1.0]}
    other = best_effort(elsewhere)
    assert other["process>process"] > 2 * usual["process>process"], "it was met elsewhere"
    assert min(other.values()) > 0, "nothing is ruled out"


def test_importance_is_what_the_formula_has() -> None:
    """Of orders in which all replicas are out at once, the losses of all kinds are the formula's;
    power spares what was flushed while no client wrote, a process what it had."""
    for setting in (RF2, RF3):
        found = importance.losses(setting, cycles.causes(setting, DISKS))
        disks = found[("disk",) * setting.factor]
        day = 1 / 30
        out = (1 / 24 + importance.NOTICED_MS / 86_400_000) ** (setting.factor - 1)
        assert disks * YEAR_MS == pytest.approx(setting.factor * day**setting.factor * out * 365)
    writing, refusing = (
        importance.losses(Setting(racks=3, min_isr=n), cycles.causes(RF3, Failures()))
        for n in (1, 2)
    )
    powers = ("machine",) * 3
    assert refusing[powers] < writing[powers] / 20
    assert refusing["machine", "machine", "disk"] == writing["machine", "machine", "disk"]
    wide = Setting(brokers=9, factor=9, racks=9)
    assert importance.losses(wide, cycles.causes(wide, DISKS)) == {}, "a pilot tells"
    first = importance.losses(Setting(acks="1"), cycles.causes(RF3, DISKS))
    assert all(len(path) == 1 for path in first), "with acks=1 one failure is enough"


def test_failures_that_leave_a_replica_in_sync_are_known() -> None:
    trees = forest(RF2, DISKS, only(disk_disk=4), 3)
    both = [tree.paths["disk", "disk"] for tree in trees if ("disk", "disk") in tree.paths]
    assert any(entry[5] > 0 for entry in both) and not any(entry[6] for entry in both)
    assert all(tree.paths["disk",][5] == 0 for tree in trees), "one of two is left"
    lone = Tree(Setting(brokers=1, factor=1, min_isr=1), DISKS, "K39", 1, only())
    assert lone.paths["disk",][5] == lone.paths["disk",][4]


def test_presets_can_be_asked() -> None:
    for failures in advice.PRESETS.values():
        advice.check(Setting(), failures)


def test_the_bias_of_no_failures_while_down() -> None:
    """Two brokers whose machines and disks fail, as a Markov chain: one of them, both or neither
    may fail in what is down already, and at that moment all replicas are out."""
    failures = Failures(3_650, 5, 20, 240, 36_500, 5, 30, 480)
    setting = Setting(brokers=2, factor=2, min_isr=1, racks=2)
    day = 24.0
    machine, disk = (1 / (20 * day), 4.0), (1 / (30 * day), 8.0)
    once = chain(setting.factor, (machine, disk), again=False)
    always = chain(setting.factor, (machine, disk), again=True)
    assert 1.01 < always / once < 1 + left_out(setting, failures) < 1.06
    assert left_out(Setting(racks=3), Failures()) < 0.001
    assert all(left_out(Setting(racks=3), one) < 0.002 for one in advice.PRESETS.values())


def chain(brokers: int, kinds: tuple[tuple[float, float], ...], again: bool) -> float:
    """How often an hour something fails while all others are out: a broker's state is which of its
    kinds are broken, and the chance of each comes by letting it run (uniformization)."""
    states = [state for state in product((0, 1), repeat=len(kinds)) if again or sum(state) < 2]
    shares = dict.fromkeys(states, 1 / len(states))
    step = 0.05
    for _ in range(6_000):
        moved = dict.fromkeys(states, 0.0)
        for state, share in shares.items():
            stays = share
            for at, (rate, mend) in enumerate(kinds):
                other = (*state[:at], 1 - state[at], *state[at + 1 :])
                if other in shares:
                    goes = share * step * (1 / mend if state[at] else rate)
                    moved[other] += goes
                    stays -= goes
            moved[state] += stays
        shares = moved
    out = 1 - shares[states[0]]
    fails = sum(
        rate
        * sum(
            share for state, share in shares.items() if not state[at] and (again or not any(state))
        )
        for at, (rate, _) in enumerate(kinds)
    )
    return brokers * fails * out ** (brokers - 1)
