"""Reasons and refusals in other languages: the engine words them in its own, values and all.

A catalogue holds each sentence as a template, "{0} is down; restart it first."  What stands in a
place is looked up in turn, so names and sentences inside sentences are told as well; what no
template fits stays as it is.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from engine.show.story import words
from engine.sim.wording import REFUSALS

KEPT: Final = 4_096
LONGEST: Final = 2_000
"""Characters of a sentence that is looked up; longer ones come from texts of a visitor."""

# Chinese keeps a thin space between its own signs and others, and none among its own.
_HAN: Final = "\u3400-\u9fff"
_CROWDED: Final = re.compile(f"(?<=[{_HAN}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{_HAN}])")
_LOOSE: Final = re.compile(f"(?<=[{_HAN}])[ \u2009](?=[{_HAN}])")
_PLACE: Final = re.compile(r"\{(\d)\}")
_NAMED: Final = re.compile(r"\{([a-z])\}")


@lru_cache(KEPT)
def said(sentence: str, language: str) -> str:
    """The sentence in a language, or as it is where there is no template for it."""
    if len(sentence) > LONGEST:
        return sentence
    for pattern, told in _templates(language):
        match = pattern.fullmatch(sentence)
        if match is not None:
            values = {name: said(value, language) for name, value in match.groupdict().items()}
            return _filled(told, values)
    return sentence


def _filled(told: str, values: dict[str, str]) -> str:
    text = _PLACE.sub(lambda place: values[f"p{place[1]}"], told)
    return _CROWDED.sub("\u2009", _LOOSE.sub("", text))


@cache
def catalogue(language: str) -> dict[str, str]:
    """Template -> template; empty for the engine's own language."""
    found = files("engine.show").joinpath("sayings", f"{language}.json")
    if not found.is_file():
        return {}
    read: dict[str, str] = json.loads(found.read_text("utf-8"))
    return read


@cache
def _refusals(language: str) -> dict[str, str]:
    """Why moves cannot be made: their words stand in the catalogue of the story, by key."""
    english = words("en")
    if language == "en":
        return {}
    told, found = words(language), {}
    for key in REFUSALS:
        text, own = english[f"cannot.{key}"], told[f"cannot.{key}"]
        for number, place in enumerate(_NAMED.findall(text)):
            text = text.replace("{" + place + "}", f"{{{number}}}")
            own = own.replace("{" + place + "}", f"{{{number}}}")
        found[text] = own
    return found


@cache
def _templates(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Those with the most words of their own first: they fit the least by chance."""
    known = {**catalogue(language), **_refusals(language)}
    order = sorted(known, key=lambda one: -len(_PLACE.sub("", one)))
    return [(_pattern(template), known[template]) for template in order]


def _pattern(template: str) -> re.Pattern[str]:
    """Places are marked {0}; every other brace stands for itself."""
    pieces = _PLACE.split(template)
    texts, places = pieces[::2], pieces[1::2]
    found = re.escape(texts[0])
    for place, text in zip(places, texts[1:], strict=True):
        found += f"(?P<p{place}>.+?)" + re.escape(text)
    return re.compile(found, re.DOTALL)
