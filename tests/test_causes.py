"""Which rule a failing run applied last, and how such causes are counted."""

from __future__ import annotations

from app.batch.computation import STEPS_MOST, TRACED_MOST, histogram, to_trace
from app.batch.runners.summary import Failure
from engine.scenarios import file
from engine.sim.run import Run, play_all
from engine.study.causes import cause_of


def test_a_failing_run_tells_what_broke_first_and_which_rule_came_last() -> None:
    """R20: a committed record is missing where its leader is made."""
    scenario = file.find("R20")
    run = Run(scenario, "Z0102")
    found = cause_of(run)
    assert found is not None
    assert found == ("I6", "CP-MAKE-LEADER")
    assert found[0] == play_all(run).broken[0][0]
    assert cause_of(Run(scenario, "K39")) is None


def test_as_many_runs_of_each_profile_and_cell_are_traced_and_never_too_many() -> None:
    failures = [
        Failure(profile, cell, seed, invariant, 5, "")
        for profile in ("Z0102", "Z011")
        for cell in range(40)
        for invariant in ("I6", "I7")
        for seed in range(20)
    ]
    keys = to_trace([*failures, Failure("K39", 0, 1, "error", -1, "")], groups=80, first=20)
    assert len(keys) == len(set(keys)) == 160 <= TRACED_MOST
    assert keys[:2] == [("Z0102", 0, 0), ("Z0102", 0, 1)]
    assert to_trace(failures[:40], groups=1, first=20) == [("Z0102", 0, n) for n in range(20)]
    assert to_trace(failures[:40], groups=1, first=5) == [("Z0102", 0, n) for n in range(5)]
    late = Failure("K39", 0, 1, "I7", STEPS_MOST + 1, "")
    assert to_trace([late], groups=1, first=20) == [], "told, it would take minutes"


def test_causes_are_counted_by_profile_the_most_frequent_first() -> None:
    keys = [("Z0102", 0, seed) for seed in range(3)] + [("Z20", 0, 1)]
    told = histogram(keys, [("I6", "T-0"), ("I6", "T-0"), None, ("I5", "T-2")])
    assert told == [
        {"profile": "Z0102", "invariant": "I6", "rule": "T-0", "runs": 2},
        {"profile": "Z20", "invariant": "I5", "rule": "T-2", "runs": 1},
    ]
