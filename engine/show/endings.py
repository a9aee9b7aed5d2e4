"""How one script ends under each generation of Kafka, neighbours that end alike put together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from engine.model.profiles import PROFILES
from engine.scenarios.scenario import Scenario
from engine.show.comparing import playable
from engine.show.replay import STEPS_MOST, Replay
from engine.sim.run import Run


@dataclass(frozen=True)
class Ending:
    """Profiles that stand beside each other and break the same promises, oldest first."""

    profiles: tuple[str, ...]
    broken: tuple[str, ...]
    """Invariants in the order in which they break; none of them: all promises hold."""

    @property
    def span(self) -> str:
        """The releases they stand for, the first and the last: "0.8.0 – 0.10.2.2"."""
        found = [one for profile in self.profiles for one in _RELEASE.findall(_told(profile))]
        return found[0] if found[0] == found[-1] else f"{found[0]} – {found[-1]}"


_RELEASE: Final = re.compile(r"\d+(?:\.\d+)+")


def _told(profile: str) -> str:
    return PROFILES[profile].stands_for


def broken_under(scenario: Scenario, profile: str) -> tuple[str, ...]:
    """The invariants that the script breaks under this profile, as far as it can be played."""
    run, _ = playable(Run(scenario, profile), STEPS_MOST)
    broken = Replay(run, STEPS_MOST).verdict()["broken"]
    return tuple(dict.fromkeys(one["invariant"] for one in broken))


def endings(scenario: Scenario) -> tuple[Ending, ...]:
    """All generations in the order of their release, those with ZooKeeper before those without.

    Which promise breaks first may differ among neighbours that end alike: the set decides.
    """
    told = [(profile, broken_under(scenario, profile)) for profile in PROFILES]
    return tuple(
        Ending(tuple(profile for profile, _ in group), group[0][1])
        for group in (list(one) for _, one in groupby(told, key=lambda one: set(one[1])))
    )
