"""The durability advisor: sound neighbours, bounded questions, and figures that can be believed."""

from __future__ import annotations

from math import exp

import pytest

from engine.model.configs import build
from engine.model.errors import BadInput
from engine.model.profiles import PROFILES, get_profile
from engine.study import advice
from engine.study.advice import Failures, Setting
from engine.study.batch import play_row
from engine.study.weights import NANO

WINDOWS = 300
QUICK: dict[str, int] = {
    "process_days": 3650, "machine_days": 3650, "rack_days": 3650, "disk_days": 3650,
    "machine_repair_min": 5, "rack_repair_min": 5, "disk_repair_min": 5,
}  # fmt: skip
"""Nothing fails but what a test makes fail, in short windows."""


def weights_of(setting: Setting, failures: Failures, metric: str) -> list[tuple[float, int]]:
    """(weight, metric) of every run."""
    scenario = advice.scenario(setting, failures)
    found = []
    for seed in range(WINDOWS):
        row = play_row(scenario, setting.profile, 0, seed)
        assert row["verdict"] != "error", row["why"]
        found.append((exp(row["log_weight"] / NANO), row[metric]))
    return found


def lost_per_year(setting: Setting, failures: Failures) -> float:
    """The weighted share of windows that lose an acknowledged record, of a year."""
    weights = sum(w for w, lost in weights_of(setting, failures, "acked_lost") if lost)
    return advice.per_year(weights / WINDOWS, failures.window_ms)


def test_one_rack_loses_as_often_as_its_power_fails() -> None:
    """All replicas in one rack, and always something not flushed: every second year, if so often
    its power fails.  Three racks lose nothing that these windows could show."""
    failures = Failures(**{**QUICK, "rack_days": 730})
    assert 0.3 < lost_per_year(Setting(racks=1), failures) < 0.75
    assert lost_per_year(Setting(racks=3), failures) < 0.01


def test_weights_do_not_degenerate() -> None:
    """The losses of one rack rest on many runs: Kish's number, (sum w)^2 / sum w^2."""
    for failures in (Failures(**QUICK), Failures(**{**QUICK, "process_days": 30})):
        found = weights_of(Setting(racks=1), failures, "acked_lost")
        lost = [weight for weight, records in found if records]
        assert sum(lost) ** 2 / sum(w * w for w in lost) > WINDOWS / 50
        assert sum(w for w, _ in found) / WINDOWS == pytest.approx(1.0, abs=0.35)


def test_the_second_disk_dies_before_the_first_is_replaced() -> None:
    """Two replicas lose all if both disks die within one repair r: 2 x r / mtbf^2 times a year, of
    which a window sees 0.57 (engine/study/advice.py, REPAIRS), and then the rest must be seen."""
    days, minutes = 10, 30
    failures = Failures(**{**QUICK, "disk_days": days, "disk_repair_min": minutes})
    rate = lost_per_year(Setting(brokers=2, factor=2, min_isr=1, racks=2), failures)
    expected = 2 * (365 / days) * (minutes / 1_440 / days)
    assert 0.25 * expected < rate < 1.1 * expected


def test_a_machine_is_down_as_long_as_its_repair_takes() -> None:
    """One broker and no other: its repairs are the downtime, whole ones, not cut by the window."""
    failures = Failures(**{**QUICK, "machine_days": 30, "machine_repair_min": 20})
    alone = Setting(brokers=1, factor=1, min_isr=1)
    found = weights_of(alone, failures, "unavailable_ms")
    mean = sum(weight * ms for weight, ms in found) / WINDOWS
    hours = advice.seconds_per_year(mean, failures.window_ms) / 3_600
    assert hours == pytest.approx(365 / 30 * 20 / 60, rel=0.3)


def test_a_window_outlasts_the_longest_repair() -> None:
    assert Failures(**QUICK).window_ms == advice.SHORTEST_MS
    assert Failures(**{**QUICK, "rack_repair_min": 480}).window_ms == 16 * 3_600_000


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_a_dead_broker_is_noticed_as_late_as_usual_on_average(profile: str) -> None:
    found = advice.scenario(Setting(profile), Failures())
    for name in found.profiles:
        usual, paced = build(get_profile(name)), build(get_profile(name), found.configs)
        assert paced.session_timeout_ms > paced.heartbeat_ms + 2 * 8, "nobody expires who lives"
        assert (
            paced.session_timeout_ms - paced.heartbeat_ms // 2
            == usual.session_timeout_ms - usual.heartbeat_ms // 2
        )


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
    with pytest.raises(BadInput, match="disk_repair_min lies between"):
        advice.check(Setting(), Failures(disk_repair_min=100_000))
