"""Reasons and refusals in other languages: the engine words them in its own, values and all.

A catalogue holds each sentence as a template, "{0} is down; restart it first."  What stands in a
place is looked up in turn, so names and sentences inside sentences are translated as well; what no
template fits stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Final

from engine.model.languages import USUAL, words_of
from engine.story.story import STORY

Templates = list[tuple[re.Pattern[str], str]]

KEPT: Final = 4_096
KEYED: Final = "cannot."
"""Refusals of moves have keys of their own; as plain sentences they come here."""
LONGEST: Final = 2_000
"""Characters of a sentence that is looked up; longer ones come from texts of a visitor."""

# Chinese keeps a thin space between its own signs and others, and none among its own.
_HAN: Final = "\u3400-\u9fff"
_CROWDED: Final = re.compile(f"(?<=[{_HAN}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{_HAN}])")
_LOOSE: Final = re.compile(f"(?<=[{_HAN}])[ \u2009](?=[{_HAN}])")
_PLACE: Final = re.compile(r"\{(\w+)\}")


@lru_cache(KEPT)
def translate(sentence: str, language: str) -> str:
    """Return the sentence in a language, or as it is where there is no template for it."""
    found = fitted(sentence, _templates(language), lambda value: translate(value, language))
    return sentence if found is None else found


def fitted(sentence: str, templates: Templates, again: Callable[[str], str]) -> str | None:
    """Return the sentence by the first template that it fits; None where none does.

    The texts in the places are translated by `again`.
    """
    if len(sentence) > LONGEST:
        return None
    for pattern, told in templates:
        match = pattern.fullmatch(sentence)
        if match is not None:
            return _filled(told, {name: again(value) for name, value in match.groupdict().items()})
    return None


def _filled(told: str, values: dict[str, str]) -> str:
    text = _PLACE.sub(lambda place: values[f"p{place[1]}"], told)
    return _CROWDED.sub("\u2009", _LOOSE.sub("", text))


@cache
def catalogue(language: str) -> dict[str, str]:
    """Return template -> template.

    It has those that the story's words hold as well; it is empty for the engine's own language.
    """
    if language == USUAL:
        return {}
    own, told = words_of(STORY, USUAL), words_of(STORY, language)
    keyed = {own[key]: told[key] for key in own if key.startswith(KEYED)}
    return {**words_of("sayings", language), **keyed}


@cache
def _templates(language: str) -> Templates:
    return compiled(catalogue(language))


def compiled(known: Mapping[str, str]) -> Templates:
    """Return the templates, those with the most words of their own first."""
    order = sorted(known, key=lambda one: -len(_PLACE.sub("", one)))
    return [(_pattern(template), known[template]) for template in order]


def _pattern(template: str) -> re.Pattern[str]:
    """Return a pattern; places are {0} or {b}; every other brace stands for itself."""
    pieces = _PLACE.split(template)
    texts, places = pieces[::2], pieces[1::2]
    found = re.escape(texts[0])
    for place, text in zip(places, texts[1:], strict=True):
        found += f"(?P<p{place}>.+?)" + re.escape(text)
    return re.compile(found, re.DOTALL)
