"""Sightings: for each cue, error and invariant, a library run and a step that shows it.

They are kept in `sightings.json`, since playing the library takes seconds; tests/test_sightings.py
plays it again, and writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, Final

from engine.catalogue.sourcemap import RuleCard
from engine.model.profiles import FLAGS, PROFILES, get_profile
from engine.scenarios.file import library
from engine.scenarios.scenario import Scenario

Sighting = tuple[str, str, int]
"""(slug of the scenario, profile, step)"""

FIRST: Final = "K39"
"""The profile that is shown where nothing speaks for another one."""

FILE: Final = "sightings.json"


class Sightings:
    """Sightings in the library, each thing by the first run that shows it."""

    __slots__ = ("cues", "errors", "invariants")

    def __init__(self, rows: dict[str, Any]) -> None:
        self.cues: dict[str, dict[str, Sighting]] = {
            cue: {profile: (slug, profile, step) for profile, (slug, step) in seen.items()}
            for cue, seen in rows["cues"].items()
        }
        self.errors: dict[str, Sighting] = _sightings(rows["errors"])
        self.invariants: dict[str, Sighting] = _sightings(rows["invariants"])

    def of_card(self, card: RuleCard, names: Iterable[str] = ()) -> Sighting | None:
        """Return where a rule can be seen, under one of these profiles or under any."""
        profiles = list(names) or [FIRST, *(name for name in PROFILES if name != FIRST)]
        for name in profiles:
            for cue in card.shown_by(get_profile(name)):
                sighting = self.cues.get(cue, {}).get(name)
                if sighting is not None:
                    return sighting
        return None

    def of_cue(self, cue: str) -> Sighting | None:
        found = self.cues.get(cue, {})
        return found.get(FIRST) or next(iter(found.values()), None)


def _sightings(rows: dict[str, list[Any]]) -> dict[str, Sighting]:
    return {name: (slug, profile, step) for name, (slug, profile, step) in rows.items()}


def scenarios_in_order() -> list[Scenario]:
    """Return the scenarios played by hand or with a quorum; defects of the past come last."""
    hands = [one for one in library().values() if one.fetching == "manual" or one.quorum]
    return sorted(hands, key=lambda one: (one.code[:1] != "S", one.code))


@cache
def sightings() -> Sightings:
    return Sightings(json.loads((files("engine.catalogue") / FILE).read_text("utf-8")))


@cache
def flips() -> dict[str, Sighting]:
    """Return flag -> the scenario that plays with it flipped."""
    first_seen: dict[str, Sighting] = {}
    for scenario in scenarios_in_order():
        for profile in scenario.profiles:
            if profile not in PROFILES:
                own, base = get_profile(profile), PROFILES[get_profile(profile).base]
                for flag in FLAGS:
                    if getattr(own, flag) != getattr(base, flag):
                        first_seen.setdefault(flag, (scenario.slug, profile, 0))
                if own.truncation != base.truncation:
                    first_seen.setdefault("truncation", (scenario.slug, profile, 0))
    return first_seen


@cache
def settings() -> dict[str, Sighting]:
    """Return configuration -> a scenario that sets it."""
    first_seen: dict[str, Sighting] = {}
    for scenario in (*scenarios_in_order(), *library().values()):
        for name in dict(scenario.configs):
            first_seen.setdefault(name, (scenario.slug, scenario.profiles[0], 0))
        for line in scenario.lines(scenario.profiles[0]):
            if line.text.startswith("set "):
                key = line.text.removeprefix("set ").partition("=")[0]
                first_seen.setdefault(key, (scenario.slug, scenario.profiles[0], 0))
    return first_seen
