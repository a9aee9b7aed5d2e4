"""Warm-up of caches: what the first page needs before the server listens, the rest after."""

from __future__ import annotations

from app.find.index import index
from app.questions.names import library_names
from app.runs.replays import library_runs
from engine.learn.claims import claims
from engine.learn.judging import verdicts
from engine.learn.render import SUBJECT
from engine.model.languages import LANGUAGES, words_of
from engine.scenarios import file


def warm() -> None:
    """Load the library: no page can be answered without it."""
    file.library()
    for lang in LANGUAGES:
        file.translations(lang)
        words_of(SUBJECT, lang)
    library_names()


def warm_rest() -> None:
    """Load the library's runs, the claims and the search index."""
    library_runs()
    claims()
    verdicts()
    index()
