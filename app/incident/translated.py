"""Translations of an incident's report.

Timelines and findings are worded in one place, in English, values and all; a catalogue
(`app/words`) holds each sentence as a template, as those of the engine's own reasons.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from app.core.words import OF_APP
from engine.model.languages import read_words
from engine.story import sayings

KEPT: Final = 4_096


@lru_cache(KEPT)
def told_in(sentence: str, language: str) -> str:
    """Return the sentence in a language, or as it is where there is no template for it."""
    found = sayings.fitted(sentence, _templates(language), lambda one: told_in(one, language))
    return sayings.translate(sentence, language) if found is None else found


def catalogue(language: str) -> dict[str, str]:
    """Return template -> template; empty for English."""
    return read_words(OF_APP / f"incident.{language}.json")


@cache
def _templates(language: str) -> sayings.Templates:
    return sayings.compiled(catalogue(language))
