"""Intervals against published figures, brute force, and truths on which older rules failed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from app.batch import cycles, intervals, statistics
from app.batch.intervals import Look


@pytest.mark.parametrize(
    ("hits", "n", "shown"),
    [
        (1, 100_000, (12_441, 2_737_786)),
        (6, 20_000, (1_062, 6_296)),
        (10, 100_000, (3_769, 14_454)),
    ],
)
def test_a_few_hits_leave_open_what_they_must(hits: int, n: int, shown: tuple[int, int]) -> None:
    """Wilson's ends told of 1 in 100 000 that the first comes within 392 663 runs: seven times too
    early."""
    found = statistics.interval(hits, n)
    ends = statistics.until_first(found["high"]), statistics.until_first(found["low"])
    assert ends == shown


def exact_coverage(p: float, n: int) -> float:
    """Over all outcomes, weighted by how likely each is."""
    hits = np.arange(n + 1)
    ends = [statistics.interval(int(one), n) for one in hits]
    low, high = (np.array([one[name] for one in ends]) for name in ("low", "high"))
    return float(stats.binom.pmf(hits, n, p)[(low <= p) & (p <= high)].sum())


@pytest.mark.parametrize("p", [1e-3, 0.004, 0.0123, 0.016, 0.02, 0.03, 0.036, 0.1, 0.5])
def test_printed_intervals_of_a_count_hold(p: float) -> None:
    assert exact_coverage(p, 200) >= 0.93


@pytest.mark.parametrize(("hits", "n"), [(0, 7), (3, 40), (17, 1000), (40, 40)])
def test_exact_ends_are_those_of_scipy(hits: int, n: int) -> None:
    known = stats.binomtest(hits, n).proportion_ci(method="exact")
    assert intervals.exact(hits, n) == pytest.approx((known.low, known.high))


def test_a_sequence_holds_at_all_looks_together_where_an_interval_does_not() -> None:
    """Two thousand studies of a share of 3 %, looked at after every ten of 600 runs."""
    hit = np.random.default_rng(1).random((2_000, 600)) < 0.03
    n = np.arange(10, 601, 10)
    hits = hit.cumsum(axis=1)[:, 9::10]
    for rule, least, most in ((intervals.growing, 0.95, 1.0), (intervals.exact, 0.0, 0.9)):
        low, high = rule(hits, np.broadcast_to(n, hits.shape))
        held = ((low <= 0.03) & (high >= 0.03)).all(axis=1).mean()
        assert least <= held <= most, rule.__name__


def test_a_sequence_narrows_and_holds_its_share() -> None:
    before = 1.0
    for n in (10, 100, 1_000, 100_000):
        found = statistics.interval(n // 10, n, Look(growing=1))
        assert found["low"] < 0.1 < found["high"]
        assert found["high"] - found["low"] < before
        before = found["high"] - found["low"]
    assert statistics.interval(0, 0, Look(growing=1))["high"] == 1.0


def test_all_intervals_of_a_table_hold_together() -> None:
    """Thirty cells of the same truth: each alone misses now and then, all at once hardly."""
    draws = np.random.default_rng(2).binomial(400, 0.05, (2_000, 30))
    for look, least, most in ((Look(), 0.0, 0.9), (Look(at_once=30), 0.95, 1.0)):
        low, high = intervals.exact(draws, 400, look.alpha)
        held = ((low <= 0.05) & (high >= 0.05)).all(axis=1).mean()
        assert least <= held <= most
    assert statistics.rule_of_three(100, Look(at_once=30)) == pytest.approx((3 + 3.4012) / 100)


def test_a_likely_cause_does_not_hide_a_rare_one() -> None:
    """Losses that are light and often met, and one in a hundred runs that weighs as much as all of
    them: with the rule of before the interval held 53 times of a hundred."""
    chance, n, often, heavy = np.random.default_rng(3), 150, 0.2, 10.0
    truth = often * 0.5 + 0.01 * heavy
    light = chance.binomial(n, often, 4_000)
    rare = chance.binomial(n, 0.01, 4_000)
    low, high = intervals.weighed(0.5 * light + heavy * rare, 0.25 * light + 100.0 * rare, heavy)
    assert ((low / n <= truth) & (truth <= high / n)).mean() >= 0.95


def test_equal_weights_are_an_exact_count() -> None:
    low, high = intervals.weighed(7.0, 7.0, 1.0)
    assert (2 * low, 2 * high) == pytest.approx(
        (stats.chi2.ppf(0.025, 14), stats.chi2.ppf(0.975, 16))
    )


def test_number_of_runs_for_a_share() -> None:
    runs = intervals.runs_needed(0.01, 0.2)
    assert runs == 11_410
    for n, near in ((runs, True), (runs - 200, False)):
        low, high = intervals.exact(0.01 * n, n)
        assert intervals.is_within(0.01, float(low), float(high), 0.2) is near
    assert intervals.runs_needed(1e-15, 0.2) == intervals.LONGEST
    with pytest.raises(ValueError, match="share 0"):
        intervals.runs_needed(0, 0.2)


def test_percentiles_are_known_from_enough_runs_only() -> None:
    assert not intervals.knowable(500, 0.999) and intervals.knowable(3_700, 0.999)
    assert intervals.knowable(500, 0.99) and not intervals.knowable(5, 0.5)


def test_two_trees_do_not_claim_what_they_cannot_know() -> None:
    """A light loss by three failures was met, heavier ways have no cycles yet: the upper end is how
    often all replicas are out; and without the promise of acks=all, what one failure may do."""
    sums = {
        "lost": [2e-12, 2e-24], "waits": [10.0, 60.0], "busy": [1e-3],
        "path machine": [2.0, 8.0, 0.0, 0.0], "heaviest machine": [4.0],
        "path disk>disk>disk": [1.0, 4e-12, 1.0, 2e-12], "heaviest disk>disk>disk": [4e-12],
    }  # fmt: skip
    promised = cycles.rates(sums, 2, Look(), {3: 2e-7})["lost"]
    assert promised["rate"] < 1e-11 < 1.9e-7 < promised["high"] <= 3e-7
    alone = cycles.rates(sums, 2, Look())["lost"]
    assert alone["high"] > 1
    more = {**sums, "path rack>rack>rack": [40.0, 4e-6, 0.0, 0.0],
            "heaviest rack>rack>rack": [1e-8]}  # fmt: skip
    assert cycles.rates(more, 20, Look(), {3: 2e-7})["lost"]["high"] < 1e-8
