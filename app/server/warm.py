"""Warm-up of caches that every first page would otherwise wait for."""

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
    """Load the library and the names of its runs: no page can be answered without them."""
    file.library()
    for lang in LANGUAGES:
        file.translations(lang)
        words_of(SUBJECT, lang)
    library_runs()
    library_names()
    claims()
    verdicts()
    index()
