"""The benchmark of splitting measures what it says."""

from __future__ import annotations

import pytest

from tests.bench import rare
from tests.bench.rare import Estimate


def test_a_price_is_the_time_for_an_error_as_large_as_the_rate() -> None:
    assert Estimate([0.0, 2.0, 0.0, 2.0], 8.0).price(1.0) == 2.0
    assert Estimate([0.0, 0.0], 8.0).price(1.0) == 4.0, "who met no loss was wrong by all of it"


def test_in_a_window_every_kind_of_failure_strikes_as_often() -> None:
    strikes: dict[tuple[str, int], float] = {}
    for fault in rare.windows().faults:
        row = fault.kind, fault.mtbf_ms
        strikes[row] = strikes.get(row, 0.0) + rare.WINDOW_MS / fault.struck_every_ms
    assert len(strikes) == 4
    assert all(often == pytest.approx(rare.STRIKES, rel=1e-3) for often in strikes.values())


def test_both_are_played_and_priced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rare, "PILOT_TREES", 2)
    monkeypatch.setattr(rare, "TREES_S", 1.0)
    monkeypatch.setattr(rare, "WINDOWS_S", 0.2)
    ratio, figures = rare.splitting()
    assert ratio == figures["windows_price_cpu_s"] / figures["trees_price_cpu_s"]
    assert figures["trees_a_year"] < 2 * figures["formula_a_year"]
    assert figures["windows"] >= 1 <= figures["trees_with_a_loss"]
