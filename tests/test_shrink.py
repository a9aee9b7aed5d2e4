"""Shortening: the same invariant, far fewer events, and a run like any other."""

from __future__ import annotations

from statistics import median

import pytest

from engine.model.errors import InputError
from engine.scenarios.file import find
from engine.sim.run import Run, play_all
from engine.study.batch import row_of
from engine.study.shrink import PLAYS_MOST, first_break, shorten


def failing(code: str, profile: str, wanted: int) -> list[tuple[Run, str]]:
    found: list[tuple[Run, str]] = []
    scenario = find(code)
    for seed in range(1000):
        row = row_of(Run(scenario, profile, seed), 0, seed)
        found += [(Run(scenario, profile, seed), broken[0]) for broken in row["broken"][:1]]
        if len(found) >= wanted:
            return found
    raise AssertionError(f"{len(found)} failing runs of {code} under {profile}")


@pytest.mark.night
def test_a_failing_run_of_a_batch_is_shortened_to_a_fraction() -> None:
    ratios = []
    for run, invariant in failing("S61", "Z0102", 8):
        shorter = shorten(run, invariant)
        assert shorter.plays <= PLAYS_MOST
        found = first_break(shorter.run, invariant, 10_000)
        assert found is not None and found.step == shorter.after, run.seed
        assert play_all(shorter.run).events - shorter.after < 10, "it ends where it breaks"
        assert Run.from_text(shorter.run.text()) == shorter.run
        ratios.append(shorter.after / shorter.before)
    assert median(ratios) < 0.5


def test_a_shortened_run_has_no_chance_left_in_its_faults() -> None:
    run, invariant = failing("S61", "Z0102", 1)[0]
    faults = shorten(run, invariant).run.scenario.faults
    assert faults and all(fault.at_ms >= 0 for fault in faults)


def test_moves_that_do_not_matter_are_left_out() -> None:
    """KIP-101's first story tells more than its last record needs to vanish."""
    scenario = find("R20")
    shorter = shorten(Run(scenario, "Z0102"), "I7")
    assert shorter.after < shorter.before
    assert shorter.run.moves is not None
    assert len(shorter.run.moves) < len(Run(scenario, "Z0102").lines())


def test_a_run_that_holds_cannot_be_shortened() -> None:
    with pytest.raises(InputError, match="does not break I7"):
        shorten(Run(find("R20"), "K39"), "I7")
