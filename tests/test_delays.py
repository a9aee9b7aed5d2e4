"""Delays with a long tail: log-normal, in whole ms, the same on every machine."""

from __future__ import annotations

from math import exp, log
from statistics import NormalDist

import pytest

from engine.faults.delay_quantiles import STEPS, choices, quantiles
from engine.model.errors import InputError
from engine.scenarios.delays import LogNormal
from engine.scenarios.file import load_text
from engine.scenarios.scenario import Scenario
from engine.scenarios.writing import yaml_of
from engine.sim.kernel import Chance
from engine.sim.run import Run, run_to_end

TAIL = "title: x\nnetwork: {delay_ms: {median: 2, p99: 40}, control_delay_ms: [1, 5]}\n"


@pytest.mark.parametrize(("median", "p99"), [(2, 40), (5, 8), (10, 2_000), (7, 7)])
def test_the_table_is_the_distribution(median: int, p99: int) -> None:
    """Against floating point: never more than the rounding and a thousandth apart."""
    table = quantiles(median, p99)
    assert len(table) == STEPS and list(table) == sorted(table)
    sigma = log(p99 / median) / NormalDist().inv_cdf(0.99)
    for step in range(STEPS):
        wanted = median * exp(sigma * NormalDist().inv_cdf((step + 0.5) / STEPS))
        assert abs(table[step] - wanted) <= 0.5 + 0.002 * wanted, step
    assert table[STEPS // 2] == median
    assert sum(one > p99 for one in table) <= STEPS // 100


def test_the_table_is_pinned() -> None:
    """What decides runs must not change: these are links."""
    table = quantiles(2, 40)
    assert table[::100] == (0, 0, 1, 1, 1, 2, 3, 4, 6, 10)
    assert table[-5:] == (58, 64, 74, 91, 138)


def test_no_delay_is_longer_than_a_minute() -> None:
    assert max(quantiles(1, 60_000)) == 60_000


def test_messages_take_what_the_distribution_says() -> None:
    scenario = Scenario.from_dict(
        {"title": "x", "network": {"delay_ms": {"median": 4, "p99": 60}}, "fetching": "auto",
         "workload": {"producers": [{"rate_per_s": 30}]}, "script": "run"}
    )  # fmt: skip
    sim = Run(scenario, "K39").simulation()
    taken = []
    push = sim.network.chance.below

    class Counted(Chance):
        def below(self, limit: int) -> int:
            found = push(limit)
            taken.append(choices(scenario.network.delay_ms)[2][found])
            return found

    sim.network.chance = Counted(0, "network")
    run_to_end(sim, ("run",))
    taken.sort()
    assert len(taken) > 1_000
    assert 3 <= taken[len(taken) // 2] <= 5
    assert 0.005 < sum(one > 60 for one in taken) / len(taken) < 0.02


def test_it_is_read_written_and_varied() -> None:
    scenario = load_text(TAIL)
    assert scenario.network.delay_ms == LogNormal(2, 40)
    told = "network: {delay_ms: {median: 2, p99: 40}, control_delay_ms: [1, 5]}"
    assert told in yaml_of(scenario)
    assert load_text(yaml_of(scenario)) == Scenario.from_dict(scenario.to_dict()) == scenario
    assert scenario.vary("network.delay_ms.p99", "200").network.delay_ms == LogNormal(2, 200)
    assert scenario.vary("network.delay_ms", "1-5").network.delay_ms == (1, 5)
    other = scenario.vary("network.control_delay_ms", "median 1 p99 9")
    assert other.network.control_delay_ms == LogNormal(1, 9)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("network.control_delay_ms.p99", "9", "is [least, most] here; only a distribution"),
        ("network.delay_ms.mean", "9", "network.delay_ms.mean cannot be varied"),
        ("network.delay_ms.p99", "1", "has a p99 below its median"),
    ],
)
def test_unvariable_keys_get_a_reason(key: str, value: str, why: str) -> None:
    with pytest.raises(InputError) as refused:
        load_text(TAIL).vary(key, value)
    assert why in refused.value.sentence


@pytest.mark.parametrize(
    ("written", "at", "why"),
    [
        ("{median: 2}", "2:21", "as a distribution needs a median and a p99."),
        ("{median: 0, p99: 4}", "2:30", "network.delay_ms.median must lie between 1 and 60000."),
        ("{median: 9, p99: 4}", "2:38", "has a p99 below its median."),
        ("{median: 2, p95: 4}", "2:33", "There is no key p95 in network.delay_ms"),
    ],
)
def test_mistakes_are_pointed_at(written: str, at: str, why: str) -> None:
    with pytest.raises(InputError) as refused:
        load_text(TAIL.replace("{median: 2, p99: 40}", written), "x.yaml")
    assert why in refused.value.sentence
    assert refused.value.where == f"x.yaml:{at}"
