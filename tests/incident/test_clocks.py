"""By how much two clocks may differ, from pairs of events whose order is known."""

from __future__ import annotations

from app.incident.timeline import Clocks, Skew


def test_each_pair_narrows_the_bounds() -> None:
    skew = Skew()
    skew.after(1_500, 1_000)  # heard after it was written: at most 500 ms later
    skew.after(3_040, 3_000)
    skew.before(2_000, 2_600)  # started before it was registered: at least 600 ms earlier
    assert (skew.least, skew.most, skew.estimate) == (-600, 40, 0.0)
    assert skew.told() == "between 600 ms earlier and 40 ms later than"


def test_a_clock_that_must_be_wrong_is_set_by_what_it_heard() -> None:
    ahead = Skew(least=3_599_000.0, most=3_600_040.0)
    assert ahead.estimate == 3_600_000
    assert Skew(most=-250.0).estimate == -290
    assert Skew(least=20.0, most=50.0).estimate == 20
    assert Skew(least=1_000.0).estimate == 1_000
    assert Skew(most=-250.0).told() == "at most 250 ms earlier than"
    assert Skew(least=1_500.0).told() == "at least 1.500 s later than"


def test_pairs_that_contradict_each_other_meet_in_the_middle() -> None:
    assert Skew(least=100.0, most=50.0).estimate == 75


def test_the_reference_is_right() -> None:
    clocks = Clocks("K")
    clocks.of("1").after(900, 1_000)
    assert clocks.aligned("K", 1_000) == 1_000
    assert clocks.aligned("1", 900) == 1_040  # it heard of it a little later
    assert clocks.aligned("2", 900) == 900
    assert list(clocks.lines()) == [
        "the clock of broker 1 is at most 100 ms earlier than the controller's"
    ]
