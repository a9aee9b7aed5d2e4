"""The library in other languages: the same scenario, in other words.

Nothing that is played or saved is ever made from these: a scenario's digest is that of its own
language, and a text without a translation stays as it was written.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.scenarios.script import retold

OWN: Final = "en"
"""The language the library is written in."""
KEPT: Final = 512


@lru_cache(KEPT)
def in_language(scenario: Scenario, language: str) -> Scenario:
    """Return the scenario with title, teaching and comments in a language, for showing."""
    if language == OWN:
        return scenario
    translation = file.translations(language).get(scenario.code)
    if translation is None:
        return scenario
    own = next((each for each in file.library().values() if each.code == scenario.code), scenario)
    return replace(
        scenario,
        title=translation.title if scenario.title == own.title else scenario.title,
        teaches=translation.teaches if scenario.teaches == own.teaches else scenario.teaches,
        script=retold(scenario.script, translation.comments),
    )
