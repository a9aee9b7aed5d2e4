"""What every first page would otherwise wait for, made before the first of them is answered."""

from __future__ import annotations

from app.common.words import LANGUAGES
from app.context import naming
from app.runs.replays import library_runs
from engine.scenarios import file


def warm() -> None:
    """The library and the names of its runs: no page can be answered without them."""
    file.library()
    for lang in LANGUAGES:
        file.translations(lang)
    library_runs()
    naming.library_names()
