"""Display names in place of codes: releases for profiles, words for promises and rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from app.core.memoize import once
from engine.model.errors import InputError
from engine.model.profiles import PROFILES, get_profile
from engine.story.rules import RULES

Words = Callable[[str], str]

PROFILE_ARGS: Final = ("profile", "other", "a", "b", "common")
"""Arguments of sentences that name a Kafka, or hold the name of one: "K39, brokers=3"."""
PROMISE_ARGS: Final = ("invariant", "inv")

OUTCOME_SIGNS: Final = {
    "lost": "✖",
    "broken": "!",
    "gone": "–",
    "unavailable": "…",
    "kept": "✔",
    "untested": "·",
}
"""Kind of a verdict -> the sign before its sentence."""


def kafka(name: str) -> str:
    """Return "K39+elr" in words; what is no profile stays as it is."""
    try:
        return get_profile(name).stands_for
    except InputError:
        return name


@once
def _codes() -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in PROFILES if name[0] in "KZ")
    return re.compile(rf"(?<![\w.])(?:{names})(?:[+-][a-z_]+(?:=\w+)?)*(?![\w.])")


def in_kafkas(text: str) -> str:
    """Return a text with codes of profiles replaced by their names."""
    return _codes().sub(lambda match: kafka(match[0]), text)


def promise(name: str, words: Words) -> str:
    """Return what holds where an invariant is broken: "An acknowledged record is gone"."""
    key = f"broken.{name}"
    told = words(key)
    return name if told == key else told.rstrip(".。")


def rule(name: str, words: Words) -> str:
    """Return a rule by its title."""
    if name not in RULES:
        return name
    key = f"rule.{name}"
    text = words(key)
    return RULES[name].title if text == key else text


def args(given: Mapping[str, object], words: Words) -> dict[str, object]:
    """Return the arguments of a sentence without codes."""
    shown: dict[str, object] = dict(given)
    for name in PROFILE_ARGS:
        if isinstance(text := shown.get(name), str):
            shown[name] = in_kafkas(text)
    for name in PROMISE_ARGS:
        if isinstance(text := shown.get(name), str):
            shown[name] = promise(text, words)
    return shown
