"""What every first page would otherwise wait for, made before the first of them is answered."""

from __future__ import annotations

from app.common.words import LANGUAGES, Catalogue
from app.context import naming
from app.runs.replays import library_runs
from app.web import cards, citations, registry
from engine.model.profiles import PROFILES
from engine.scenarios import file


def warm() -> None:
    """The library and the names of its runs: no page can be answered without them."""
    file.library()
    for lang in LANGUAGES:
        file.translations(lang)
    library_runs()
    naming.library_names()


def warm_all(words: Catalogue) -> None:
    """That, and what the first visitor of some page would make: pictures, cards, citations."""
    warm()
    for lang in LANGUAGES:
        words.words(lang)
    registry.registry()
    for profile in PROFILES:
        registry.cards_under(profile)
    cards.pictures()
    citations.citations()
