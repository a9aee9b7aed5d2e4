"""Languages of the engine's texts, and its words in them.

Words are flat JSON files, key -> text with {places}, one a subject and language:
`engine/words/story.zh-Hans.json`.  Texts that a language lacks are shown in the default one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

NAMES: Final = {"en": "English", "zh-Hans": "中文"}
"""Each language by its tag, and what it calls itself; the usual one first."""

LANGUAGES: Final = tuple(NAMES)
USUAL: Final = LANGUAGES[0]

WHOLE: Final = ("en", "zh-Hans")
"""Those in which nothing may be missing; the tests hold them to it."""

FOLDER: Final = "words"


def short(language: str) -> str:
    """Return the form in addresses: zh-Hans is zh."""
    return language.partition("-")[0]


def language_of(tag: str) -> str | None:
    """Return the language that a tag asks for: zh, zh-CN and zh-Hans are one; None if none is."""
    asked = short(tag.strip().lower())
    return next((one for one in LANGUAGES if short(one.lower()) == asked), None)


def words_of(subject: str, language: str) -> Mapping[str, str]:
    """Return all words of a subject, in the usual language where the other lacks one.

    Some subjects have no file in the usual language, since the engine says it there by itself.
    """
    return _words(subject, language if language in NAMES else USUAL)


@cache
def _words(subject: str, language: str) -> Mapping[str, str]:
    usual = _read(subject, USUAL)
    return usual if language == USUAL else usual | _read(subject, language)


def _read(subject: str, language: str) -> dict[str, str]:
    return read_words(
        files(__package__.rpartition(".")[0]).joinpath(FOLDER, f"{subject}.{language}.json")
    )


def read_words(file: Traversable) -> dict[str, str]:
    """Return the words of one file; none where there is no such file."""
    if not file.is_file():
        return {}
    read: dict[str, str] = json.loads(file.read_text("utf-8"))
    return read
