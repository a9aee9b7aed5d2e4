"""Sentences with values in them, and their translations.

The engine words its sentences in English, as gettext does: the English template is the key of a
catalogue (`engine/words/phrases.zh-Hans.json`), and a sentence keeps its template and its values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final, Self, TypedDict

from engine.model.languages import USUAL, words_of

SUBJECT: Final = "phrases"
STORY: Final = "story"
KEYED: Final = "cannot."

# Chinese keeps a thin space between its own signs and others, and none among its own.
_HAN: Final = "\u3400-\u9fff"
_CROWDED: Final = re.compile(f"(?<=[{_HAN}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{_HAN}])")
_LOOSE: Final = re.compile(f"(?<=[{_HAN}])[ \u2009](?=[{_HAN}])")
_PLACE: Final = re.compile(r"\{(\w+)\}")


class Entity(TypedDict, total=False):
    """A value of a sentence, under the name of its kind."""

    b: int
    """A broker."""
    bl: list[int]
    """Brokers one by one: "broker B and broker C"."""
    bs: list[int]
    """A set of brokers in Kafka's notation: [1, 2]."""
    c: int | str
    """A client: P1 a producer, C1 a consumer."""
    e: int
    """A leader epoch."""
    k: str
    """The controller."""
    m: str
    """A record."""
    ms: list[str]
    """Records one by one."""
    n: int
    """A number."""
    o: int
    """An offset."""
    s: str
    """A name that is the same in every language."""
    v: int
    """A voter of the quorum, from 1."""
    x: str
    """An error of Kafka."""


class Phrase(str):
    """English sentence that keeps the template and the values of which it is made.

    A value may be a phrase itself.
    """

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, str]

    @classmethod
    def of(cls, template: str, values: Mapping[str, str]) -> Self:
        """Return the sentence of a template with named places."""
        made = cls(fill(template, values))
        made.template, made.values = template, values
        return made


def phrase(template: str, *values: object) -> str:
    """Return the sentence of a template "{0} is down; restart {1} first." and its values.

    Without values it is the template itself.
    """
    if not values:
        return template
    texts = (value if isinstance(value, str) else str(value) for value in values)
    return Phrase.of(template, {str(number): text for number, text in enumerate(texts)})


def join(parts: Iterable[str], separator: str = "") -> str:
    parts = list(parts)
    return phrase(separator.join(f"{{{number}}}" for number in range(len(parts))), *parts)


def enumerated(parts: Iterable[object]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    *most, last = map(str, parts)
    return phrase("{0} and {1}", ", ".join(most), last) if most else last


def capitalized(text: str) -> str:
    """Return the text with a capital letter at its beginning."""
    first = _PLACE.split(text.template, maxsplit=1)[0] if isinstance(text, Phrase) else text
    if not first:
        return text
    upper = first[0].upper() + first[1:]
    if not isinstance(text, Phrase):
        return upper
    return Phrase.of(upper + text.template[len(first) :], text.values)


def with_values(text: str, change: Callable[[str], str]) -> str:
    """Return the sentence with another text for each value, as a path without its folder."""
    if not isinstance(text, Phrase):
        return change(text)
    return Phrase.of(text.template, {k: with_values(one, change) for k, one in text.values.items()})


def translate(sentence: str, language: str, texts: Mapping[str, str] | None = None) -> str:
    """Return the sentence in a language; in English where the catalogue lacks its template.

    Values are translated, too: they may be phrases, or words of the engine such as "nothing".
    `texts`: the templates, without it those of `catalogue`.
    """
    if language == USUAL:
        return sentence
    return _translated(sentence, catalogue(language) if texts is None else texts)


def _translated(sentence: str, texts: Mapping[str, str]) -> str:
    if not isinstance(sentence, Phrase):
        return texts.get(sentence, sentence)
    values = {name: _translated(value, texts) for name, value in sentence.values.items()}
    text = fill(texts.get(sentence.template, sentence.template), values)
    return _CROWDED.sub("\u2009", _LOOSE.sub("", text))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the template with each value in its place."""
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), template)


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Return English template -> template; empty for English.

    Refusals of moves have keys of their own in the words of the story.
    """
    if language == USUAL:
        return {}
    english, other = words_of(STORY, USUAL), words_of(STORY, language)
    refusals = {english[key]: other[key] for key in english if key.startswith(KEYED)}
    return {**words_of(SUBJECT, language), **refusals}
