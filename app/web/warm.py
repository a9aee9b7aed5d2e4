"""What every first page would otherwise wait for, made before the first of them is answered."""

from __future__ import annotations

import gc
from typing import Final

from app.context import naming
from app.runs.replays import library_runs
from engine.learn.claims import claims, verdicts
from engine.learn.telling import catalogue
from engine.model.languages import LANGUAGES
from engine.scenarios import file

THRESHOLDS: Final = (50_000, 20, 50)
"""Objects made before memory is looked through for circles (`gc.set_threshold`): a run makes
hundreds of thousands, hardly one in a circle, and looking took half of the time of a question."""


def warm() -> None:
    """The library and the names of its runs: no page can be answered without them."""
    file.library()
    for lang in LANGUAGES:
        file.translations(lang)
        catalogue(lang)
    library_runs()
    naming.library_names()
    claims()
    verdicts()


def settle() -> None:
    """For a process that only serves: what is here by now stays, and need not be looked at."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
