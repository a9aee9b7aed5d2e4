"""Importance factors: rare faults made frequent, and undone by the weights."""

from __future__ import annotations

from math import exp, expm1, log

import pytest

from engine.advisor.weights import NANO, log_weight_nano
from engine.model.errors import InputError
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation

SEEDS = 1500


def storm(mtbf_ms: int, importance: float = 1.0) -> Scenario:
    data = find("S61").to_dict()
    line = {"kind": "bounce", "brokers": [1, 2, 3], "mtbf_ms": mtbf_ms, "mttr_ms": 300}
    data["faults"] = [line | ({} if importance == 1 else {"importance": importance})]
    data.update(duration_ms=5_000, expect={}, profiles=["K39"])
    data["workload"] = {"producers": [{"rate_per_s": 0.2}]}
    return Scenario.from_dict(data)


def played(scenario: Scenario, seed: int) -> tuple[int, float]:
    """(strikes, weight) of one run."""
    sim = play_all(Run(scenario, "K39", seed))
    strikes = sum(plan.draws for plan in sim.plans)
    return strikes, exp(log_weight_nano(sim) / NANO)


def mean_and_error(values: list[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    spread = sum((value - mean) ** 2 for value in values) / len(values)
    return mean, (spread / len(values)) ** 0.5


@pytest.mark.night
def test_weights_are_one_on_average_and_undo_the_factor() -> None:
    plain = [played(storm(20_000), seed)[0] for seed in range(SEEDS)]
    tilted = [played(storm(20_000, 3.0), seed) for seed in range(SEEDS)]
    ones, off = mean_and_error([weight for _, weight in tilted])
    assert abs(ones - 1) < 4 * off < 0.25
    often = sum(strikes for strikes, _ in tilted) / SEEDS
    truth, error = mean_and_error([float(strikes) for strikes in plain])
    found, other = mean_and_error([strikes * weight for strikes, weight in tilted])
    assert often > 2.5 * truth, "the factor makes faults frequent"
    assert abs(found - truth) < 4 * (error + other), (found, truth)


def test_without_a_factor_every_run_counts_one() -> None:
    assert log_weight_nano(play_all(Run(storm(2_000), "K39", 1))) == 0


def test_a_factor_is_written_only_where_there_is_one() -> None:
    """Digests are links: what older versions wrote must keep its name."""
    assert "importance" not in storm(2_000).canonical()
    tilted = storm(2_000, 4.0)
    assert tilted.faults[0].struck_every_ms == 500
    assert Scenario.from_dict(tilted.to_dict()) == tilted
    assert storm(2_000).vary("faults.bounce.importance", "4") == tilted


@pytest.mark.parametrize("factor", [0, -1, 1e9, "much"])
def test_a_factor_is_bounded(factor: object) -> None:
    data = storm(2_000).to_dict()
    data["faults"][0]["importance"] = factor
    with pytest.raises(InputError, match="importance"):
        Scenario.from_dict(data)


def test_a_schedule_has_no_factor() -> None:
    data = storm(2_000).to_dict()
    data["faults"] = [{"kind": "kill", "brokers": [1], "at_ms": 5, "importance": 2}]
    with pytest.raises(InputError, match="no schedule has"):
        Scenario.from_dict(data)


def hiccups(importance: float) -> Run:
    """Each of three brokers is paused for a moment every 20 s, or `importance` times as often."""
    data = storm(20_000, importance).to_dict()
    data["faults"][0].update(kind="pause", mttr_ms=10)
    return Run(Scenario.from_dict(data), "K39", 3)


def future_of(run: Run, *moves: str) -> Simulation:
    return play_all(Run(run.scenario, run.profile, run.seed, moves))


def test_redrawn_faults_come_at_the_true_rate() -> None:
    run, past = hiccups(40.0), "run !25"
    there = future_of(run, past)
    before, left_ms = sum(len(plan.strikes) for plan in there.plans), 5_000 - there.now
    assert before > 3 and left_ms > 1_000
    later = [
        sum(len(plan.strikes) for plan in future_of(run, past, f"future {one}", "at 5s").plans)
        for one in range(200)
    ]
    found, off = mean_and_error([float(strikes - before) for strikes in later])
    assert abs(found - 3 * left_ms / 20_000) < 4 * off < 0.3, (found, left_ms)


def test_the_weight_of_a_run_stays_when_its_future_is_redrawn() -> None:
    run, past = hiccups(40.0), "run !25"
    now = log_weight_nano(future_of(run, past, "future 7"))
    later = {log_weight_nano(future_of(run, past, f"future {one}", "at 5s")) for one in range(9)}
    assert later == {now} != {0}


def test_faults_that_begin_in_a_future_have_true_rates_from_the_start() -> None:
    late = future_of(hiccups(40.0), "future 7", "run 5s")
    assert log_weight_nano(late) == 0
    assert {plan.mean_ms for plan in late.plans} == {20_000}


def test_a_weight_is_the_likelihood_ratio_of_its_waits() -> None:
    """In floats, by another formula: waits that ended and waits that were still going on."""
    for seed in range(3):
        sim = play_all(Run(storm(20_000, 3.0), "K39", seed))
        told = 0.0
        for plan in sim.plans:
            slow, fast = 1 / plan.fault.mtbf_ms, 1 / plan.fault.struck_every_ms
            strike = log(expm1(-slow) / expm1(-fast))
            told += plan.exposure_ms(sim.now) * (fast - slow) + plan.draws * strike
        assert sum(plan.draws for plan in sim.plans) > 0, f"seed {seed} has a strike to weigh"
        assert abs(log_weight_nano(sim) / NANO - told) < 1e-6, f"storm(20_000, 3.0), seed {seed}"
