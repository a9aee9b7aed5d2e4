"""The durability advisor: sound neighbours and bounded questions."""

from __future__ import annotations

import pytest

from engine.advisor import advice
from engine.advisor.advice import Failures, Setting
from engine.model.configs import build
from engine.model.errors import InputError
from engine.model.profiles import PROFILES, get_profile


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_a_dead_broker_is_noticed_as_late_as_usual_on_average(profile: str) -> None:
    found = advice.scenario(Setting(profile), 60_000)
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
def test_impossible_settings_get_a_sentence(setting: Setting, why: str) -> None:
    with pytest.raises(InputError, match=why):
        advice.check(setting, Failures())


def test_failures_are_bounded() -> None:
    with pytest.raises(InputError, match="disk_repair_min lies between"):
        advice.check(Setting(), Failures(disk_repair_min=100_000))
