"""Sightings: for each cue, error and invariant, a library run and a step that shows it.

Found by playing the scripts of the library once; nothing of it is written down anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from engine.catalogue.sourcemap import RuleCard
from engine.model.errors import name_of
from engine.model.messages import FETCH_R, Message
from engine.model.profiles import FLAGS, PROFILES, get_profile
from engine.replay.cursor import Cursor, Happened
from engine.scenarios.file import library
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

Sighting = tuple[str, str, int]
"""(slug of the scenario, profile, step)"""

FIRST: Final = "K39"
"""The profile that is shown where nothing speaks for another one."""

TELLING: Final = frozenset(
    ("L-3.refused", "P-4.answer", "P-7.refused", "S-2.epoch_check", "CP-ALTER", "S-9.pending")
)
"""Cues whose new value is an error code."""


class Sightings:
    """Sightings in the library, each thing by the first run that shows it."""

    __slots__ = ("cues", "errors", "invariants")

    def __init__(self) -> None:
        self.cues: dict[str, dict[str, Sighting]] = {}  # cue -> profile -> where
        self.errors: dict[str, Sighting] = {}
        self.invariants: dict[str, Sighting] = {}

    def note(self, run: Run, slug: str) -> None:
        """Play a run and note what is new in it."""
        cursor, step = Cursor(run), 0
        while (events := cursor.advance()) is not None:
            for event in events:
                step += 1
                where = (slug, run.profile, step)
                for cue in event[3]:
                    self.cues.setdefault(cue[0], {}).setdefault(run.profile, where)
                for error in _errors(event):
                    self.errors.setdefault(error, where)
        for name, at, _ in cursor.sim.broken:
            self.invariants.setdefault(name, (slug, run.profile, at))

    def of_card(self, card: RuleCard, names: Iterable[str] = ()) -> Sighting | None:
        """Return where a rule can be seen, under one of these profiles or under any."""
        wanted = list(names) or [FIRST, *(name for name in PROFILES if name != FIRST)]
        for name in wanted:
            for cue in card.shown_by(get_profile(name)):
                found = self.cues.get(cue, {}).get(name)
                if found is not None:
                    return found
        return None

    def of_cue(self, cue: str) -> Sighting | None:
        found = self.cues.get(cue, {})
        return found.get(FIRST) or next(iter(found.values()), None)


def _errors(event: Happened) -> Iterator[str]:
    _, _, what, cues, sends = event
    for cue in cues:
        if cue[0] in TELLING and isinstance(cue[4], int) and cue[4] > 0:
            yield name_of(cue[4])
    for m in (what, *sends):
        if isinstance(m, Message):
            yield from (name_of(code) for code in _codes(m) if code > 0)


def _codes(m: Any) -> list[int]:
    if m.kind == FETCH_R:
        return [data.error for data in m.partitions]
    return [getattr(m, "error", 0)]


def _in_order() -> list[Scenario]:
    """Return the scenarios played by hand or with a quorum; defects of the past come last."""
    hands = [one for one in library().values() if one.fetching == "manual" or one.quorum]
    return sorted(hands, key=lambda one: (one.code[:1] != "S", one.code))


@cache
def sightings() -> Sightings:
    """Return the sightings of the library: played on the first call, for about a second."""
    found = Sightings()
    for scenario in _in_order():
        for profile in scenario.profiles:
            found.note(Run(scenario, profile), scenario.slug)
    return found


@cache
def flips() -> dict[str, Sighting]:
    """Return flag -> the scenario that plays with it flipped."""
    found: dict[str, Sighting] = {}
    for scenario in _in_order():
        for profile in scenario.profiles:
            if profile not in PROFILES:
                own, base = get_profile(profile), PROFILES[get_profile(profile).base]
                for flag in FLAGS:
                    if getattr(own, flag) != getattr(base, flag):
                        found.setdefault(flag, (scenario.slug, profile, 0))
                if own.truncation != base.truncation:
                    found.setdefault("truncation", (scenario.slug, profile, 0))
    return found


@cache
def settings() -> dict[str, Sighting]:
    """Return configuration -> a scenario that sets it."""
    found: dict[str, Sighting] = {}
    for scenario in (*_in_order(), *library().values()):
        for name in dict(scenario.configs):
            found.setdefault(name, (scenario.slug, scenario.profiles[0], 0))
        for line in scenario.lines(scenario.profiles[0]):
            if line.text.startswith("set "):
                key = line.text.removeprefix("set ").partition("=")[0]
                found.setdefault(key, (scenario.slug, scenario.profiles[0], 0))
    return found
