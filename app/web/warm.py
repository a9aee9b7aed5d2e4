"""What every first page would otherwise wait for, made before the first of them is answered."""

from __future__ import annotations

from app.context import naming
from app.lookup.index import index
from app.runs.replays import library_runs
from engine.learn.claims import claims
from engine.learn.judging import verdicts
from engine.learn.telling import SUBJECT
from engine.model.languages import LANGUAGES, words_of
from engine.scenarios import file


def warm() -> None:
    """The library and the names of its runs: no page can be answered without them."""
    file.library()
    for lang in LANGUAGES:
        file.translations(lang)
        words_of(SUBJECT, lang)
    library_runs()
    naming.library_names()
    claims()
    verdicts()
    index()
