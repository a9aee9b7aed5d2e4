"""Synonyms: operators' words, and the words of the library that are searched for with them."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

from app.find.tokens import words
from engine.scenarios.file import load_value

FILE: Final = "synonyms.yaml"
MAX_LENGTH: Final = 200
"""Characters of the phrases of one word."""

Phrase = tuple[str, ...]


def phrase(text: str) -> Phrase:
    """Return the parts of all words of a text, without stop words that stand alone."""
    return tuple(part for word in words(text) if not word.stop for part in word.parts)


@cache
def synonyms() -> dict[Phrase, tuple[Phrase, ...]]:
    """Return phrase of a query -> phrases that are searched for as well.  Raises InputError."""
    text = (resources.files("app.find") / FILE).read_text("utf-8")
    value, check = load_value(text, FILE)
    return {
        phrase(key): tuple(
            phrase(synonym) for synonym in check.text(also, (key,), MAX_LENGTH).split(";")
        )
        for key, also in check.mapping(value, (), ()).items()
    }


@cache
def longest() -> int:
    """Return the number of parts of the longest phrase that has synonyms."""
    return max(map(len, synonyms()))
