"""The durability advisor: sound neighbours, bounded questions, and figures that can be believed."""

from __future__ import annotations

from math import exp

import pytest

from engine.model.errors import BadInput
from engine.study import advice
from engine.study.advice import Failures, Setting
from engine.study.batch import play_row
from engine.study.weights import NANO

WINDOWS = 60


def lost_per_year(setting: Setting, failures: Failures) -> float:
    """The weighted share of windows that lose an acknowledged record, of a year."""
    scenario = advice.scenario(setting, failures)
    weights = 0.0
    for seed in range(WINDOWS):
        row = play_row(scenario, setting.profile, 0, seed)
        assert row["verdict"] != "error", row["why"]
        weights += exp(row["log_weight"] / NANO) * (row["acked_lost"] > 0)
    return advice.per_year(weights / WINDOWS)


def test_one_rack_loses_as_often_as_its_power_fails() -> None:
    """All replicas in one rack and nothing flushed: every second year, if so often its power fails.
    Three racks lose nothing that sixty windows could show."""
    failures = Failures(process_days=3650, machine_days=3650, rack_days=730)
    assert 0.25 < lost_per_year(Setting(racks=1), failures) < 1.0
    assert lost_per_year(Setting(racks=3), failures) < 0.01


def test_neighbours_differ_in_one_thing_and_make_sense() -> None:
    lone, wide = Setting(brokers=1, factor=1, min_isr=1), Setting(brokers=9, factor=9)
    for setting in (Setting(), lone, wide):
        found = advice.neighbours(setting)
        assert found[0] == setting and len(set(found)) == len(found)
        for other in found:
            advice.check(other, Failures())
            changed = [k for k, v in other.values().items() if v != setting.values()[k]]
            assert len(changed) <= 1 or set(changed) == {"brokers", "replication.factor"}


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        (Setting(factor=4), "fewer brokers than replicas"),
        (Setting(min_isr=4), "above the replication factor"),
        (Setting(racks=4), "fewer brokers than racks"),
        (Setting(acks="2"), "acks is all or 1"),
        (Setting(brokers=0), "brokers lies between 1 and 9"),
        (Setting(profile="K99"), "K99"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(setting: Setting, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        advice.check(setting, Failures())


def test_failures_are_bounded() -> None:
    with pytest.raises(BadInput, match="repair_s lies between"):
        advice.check(Setting(), Failures(repair_s=100_000))
