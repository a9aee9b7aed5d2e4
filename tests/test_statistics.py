"""Statistics against known figures and against brute force."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.batch import statistics
from tests.batch_runner import percentile


def test_nothing_seen_is_below_three_in_n() -> None:
    assert statistics.rule_of_three(100_000) == 3e-5
    # 3/n is what remains of 95 % certainty: (1 - 3/n)^n is just below 5 %.
    assert (1 - statistics.rule_of_three(1000)) ** 1000 < 0.05
    assert statistics.rule_of_three(1) == statistics.rule_of_three(0) == 1.0


@pytest.mark.parametrize(
    ("first", "second", "p"), [(0, 0, 1.0), (5, 5, 1.0), (5, 0, 0.0625), (9, 1, 22 / 1024)]
)
def test_sign_test_by_hand(first: int, second: int, p: float) -> None:
    assert (
        statistics.sign_test(first, second)
        == statistics.sign_test(second, first)
        == pytest.approx(p)
    )


def test_sign_test_of_many_equals_the_exact_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [(900, 1000), (700, 900), (1, 1500), (0, 300)]
    exact = [statistics.sign_test(*case) for case in cases]
    monkeypatch.setattr(statistics, "EXACT_UP_TO", 0)
    assert [statistics.sign_test(*case) for case in cases] == pytest.approx(exact, rel=1e-9)
    assert statistics.sign_test(10**6, 0) == 0.0


def test_percentile_is_a_value_that_occurred() -> None:
    values = [random.Random(1).randrange(1000) for _ in range(101)]
    assert percentile(values, 0.5) == sorted(values)[50]
    assert percentile(values, 1) == max(values)
    assert percentile(values, 0) == min(values)
    assert percentile([], 0.5) is None
    assert percentile([1, 2], 0.5) == 1


def test_paired_table_from_masks() -> None:
    masks = {0b000: 10, 0b001: 412, 0b100: 3, 0b101: 7, 0b010: 20}
    found = statistics.paired(masks, 0, 2)
    assert found == statistics.Paired(neither=30, only_a=412, only_b=3, both=7)
    assert found.p < 1e-100


def test_findings_are_said_in_the_unit_that_fits() -> None:
    key, args = statistics.finding(statistics.interval(37, 100_000))
    assert key == "stat.some.million"
    assert args == {
        "hits": "37",
        "n": f"100{statistics.THIN}000",
        "rate": "370",
        "low": "261",
        "high": "510",
    }
    assert statistics.finding(statistics.interval(0, 100_000)) == (
        "stat.none.million",
        {"hits": "0", "n": f"100{statistics.THIN}000", "bound": "30"},
    )
    assert statistics.finding(statistics.interval(37, 100)) == (
        "stat.some.percent",
        {"hits": "37", "n": "100", "rate": "37.0", "low": "27.6", "high": "47.2"},
    )
    assert statistics.finding(statistics.interval(1, 300))[1]["rate"] == "0.33"
    _, rare = statistics.finding(statistics.interval(1, 300))
    assert (rare["low"], rare["high"]) == ("0.0084", "1.8")
    assert statistics.finding(statistics.interval(100, 100))[1]["high"] == "100"
    assert statistics.finding(statistics.interval(0, 100))[0] == "stat.none.percent"
    assert statistics.finding(statistics.interval(0, 0))[0] == "stat.empty"


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        # Newcombe 1998, "Interval estimation for the difference", table II (method 10)
        ((48, 80), (56, 70), 0.0524, 0.3339),
        ((3, 10), (9, 10), 0.1705, 0.8090),
        ((0, 20), (0, 10), -0.1611, 0.2775),
        ((0, 10), (10, 10), 0.6075, 1.0),
    ],
)
def test_a_difference_holds_the_published_interval(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    """His ends of both are Wilson's; exact ones lie a little outside."""
    found = statistics.difference(statistics.interval(*first), statistics.interval(*second))
    assert found[0] == pytest.approx(second[0] / second[1] - first[0] / first[1])
    assert low - 0.13 < found[1] <= low and high <= found[2] < high + 0.05


def test_a_paired_difference_is_known_better_when_runs_go_together() -> None:
    """Newcombe 1998, "Improved confidence intervals ... paired data", method 10."""
    table = statistics.Paired(neither=30, only_a=12, only_b=2, both=36)
    n = 80
    first = statistics.interval(table.only_a + table.both, n)
    second = statistics.interval(table.only_b + table.both, n)
    apart = statistics.difference(first, second)
    paired = statistics.difference(first, second, table.phi)
    assert 0 < table.phi < 1
    assert apart[0] == paired[0] == pytest.approx(-10 / 80)
    assert apart[1] < paired[1] < paired[2] < apart[2]
    assert paired[2] < 0 < apart[2], "what unpaired runs leave open, pairs decide"
    assert statistics.Paired(10, 0, 0, 0).phi == 0


def test_interval_for_a_page() -> None:
    assert statistics.interval(0, 100) == {
        "hits": 0,
        "n": 100,
        "share": 0.0,
        "low": 0.0,
        "high": 0.03,
    }
    assert statistics.interval(0, 0)["share"] is None


def test_weighted_runs_of_equal_weight_are_counted_as_they_are() -> None:
    plain, weighted = (
        statistics.interval(37, 1000),
        statistics.weighted_interval(37, 37.0, 37.0, 1000, 1.0),
    )
    for name in ("share", "low", "high"):
        assert weighted[name] == pytest.approx(plain[name])
    assert weighted["effective"] == 1000


def test_weights_that_differ_widen_the_interval() -> None:
    """Ten hits of weight 0.1 and one of weight 9 tell less than ten of weight 1."""
    even = statistics.weighted_interval(10, 10.0, 10.0, 1000, 1.0)
    uneven = statistics.weighted_interval(11, 10.0, 10 * 0.01 + 81.0, 1000, 9.0)
    assert uneven["share"] == even["share"] == 0.01
    assert uneven["high"] - uneven["low"] > 2 * (even["high"] - even["low"])
    assert uneven["effective"] < even["effective"] / 5


def test_rare_hits_of_small_weight_are_known_better_than_by_counting() -> None:
    """What importance sampling is for: 100 hits of weight 0.001 in 1000 runs."""
    found = statistics.weighted_interval(100, 0.1, 0.0001, 1000, 0.001)
    assert found["share"] == pytest.approx(0.0001)
    assert found["high"] < 0.0002 < statistics.rule_of_three(1000)


@pytest.mark.parametrize(
    ("hits", "total", "squares", "n"),
    [
        (30, 130.0, 900.0, 100),  # more weight than runs
        (40, 100.0, 400.0, 100),  # as much
        (100, 100.0, 100.0, 100),  # all runs, each as heavy as one
        (100, 50.0, 25.0, 100),  # all runs, each half as heavy: nothing varies
        (1, 5000.0, 25e6, 1000),
        (3, 3e-8, 0.0, 1000),  # squares that were rounded to nothing
        (1, 0.0, 0.0, 1000),  # a weight that was
        (999, 999.0, 998.9, 1000),  # less than any squares can be: rounded
    ],
)
def test_any_sums_of_weights_have_an_interval(
    hits: int, total: float, squares: float, n: int
) -> None:
    found = statistics.weighted_interval(hits, total, squares, n, 1.0)
    assert found["share"] == min(1.0, total / n)
    assert 0 <= found["low"] <= found["share"] <= found["high"] <= 1
    assert found["effective"] > 0
    assert statistics.shown_until(found)
    assert statistics.finding(found)[0].startswith("stat.some.")


def test_hits_are_counted_by_kish_when_weights_exceed_the_runs() -> None:
    """13 equal hits have such sums; a share of one has no variance to count them by."""
    found = statistics.weighted_interval(30, 130.0, 1300.0, 100, 10.0)
    assert found["effective"] == 13
    assert found["low"] == pytest.approx(0.692, abs=1e-3)


@given(
    st.lists(st.floats(1e-9, 50), min_size=1, max_size=40), st.integers(0, 200), st.floats(0, 60)
)
def test_few_hits_tell_no_less_than_none_would(
    weights: list[float], others: int, heaviest: float
) -> None:
    n = len(weights) + others
    found = statistics.weighted_interval(
        len(weights), sum(weights), sum(one * one for one in weights), n, heaviest
    )
    unseen = statistics.weighted_interval(0, 0.0, 0.0, n, heaviest)
    assert unseen["high"] == min(1.0, statistics.rule_of_three(n) * (heaviest or 1.0))
    assert 0 <= found["low"] <= found["share"] <= found["high"] <= 1
    assert found["high"] >= unseen["high"] or unseen["high"] == 1.0


def test_one_light_hit_tells_no_less_than_none_did() -> None:
    """Seen once with a weight of 1e-6, where runs with a fault weigh up to 2."""
    none = statistics.weighted_interval(0, 0.0, 0.0, 1000, 2.0)
    one = statistics.weighted_interval(1, 1e-6, 1e-12, 1000, 2.0)
    assert none["high"] == 0.006 <= one["high"] < 0.012
    key, args = statistics.finding(none)
    assert (key, args["bound"]) == ("stat.none.percent", "0.60")
    assert statistics.shown_until(none) == "> 116"
    assert (
        statistics.finding(statistics.weighted_interval(0, 0.0, 0.0, 20, 40.0))[0]
        == "stat.none.few"
    )


def test_a_difference_to_what_was_not_seen_knows_its_weight() -> None:
    """The exact end for none of 1000 is 0.0038; runs of weight 0.001 know it a thousand fold."""
    none = statistics.weighted_interval(0, 0.0, 0.0, 1000, 0.001)
    some = statistics.weighted_interval(100, 0.1, 0.0001, 1000, 0.001)
    found, low, _ = statistics.difference(none, some)
    assert 0 < low < found == some["share"]


def test_the_median_until_the_first_is_where_half_of_the_waits_have_ended() -> None:
    for share in (0.9, 0.5, 1 / 74, 0.001):
        runs = statistics.until_first(share)
        assert runs is not None
        assert (1 - share) ** runs <= 0.5 < (1 - share) ** (runs - 1)
    assert statistics.until_first(1.0) == 1
    assert statistics.until_first(0.0) is statistics.until_first(None) is None


def test_the_wait_is_told_with_its_ends_and_as_a_bound_where_none_was_seen() -> None:
    assert statistics.shown_until(statistics.interval(49, 1000)) == "14 (11 – 19)"
    assert statistics.shown_until(statistics.interval(0, 1000)) == "> 231"
    assert statistics.shown_until(statistics.interval(0, 0)) == "–"
