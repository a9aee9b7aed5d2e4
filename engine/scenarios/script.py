"""The script of a scenario as lines: moves, `expect` lines, comments, profile prefixes.

What a move means is the business of the simulation; here a line is only taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.model.errors import InputError
from engine.model.phrases import phrase
from engine.model.profiles import get_profile
from engine.scenarios import comments, expectations
from engine.scenarios.parts import BrokerSpec
from engine.scenarios.places import Reader

MOST_CHARACTERS: Final = 20_000
MOST_LINES: Final = 2_000
MOST_LINE: Final = 400
KEPT: Final = 64
"""Scripts whose lines under a profile are kept: many seeds of one are played in turn."""

APART: Final = (comments.START, comments.END)
"""Captions that tell nothing of their own move."""

_PREFIX: Final = re.compile(r"\[([^\]]*)\]\s*")
_COMMENT: Final = re.compile(r"(?:^|\s)#\s?(.*)")


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """One line to play or to check.

    text: the move, or what stands after `expect`; comment: the text shown with it (comment lines
    above a move belong to that move); number: the line in the script, from 1; captions: those of
    its comments that tell the story.
    """

    text: str
    comment: str
    is_expect: bool
    number: int = 0
    captions: tuple[comments.Caption, ...] = ()


@dataclass(frozen=True, slots=True)
class _Split:
    profiles: tuple[str, ...]
    text: str
    comment: str


def _split(line: str) -> _Split:
    comment = _COMMENT.search(line)
    text = (line[: comment.start()] if comment else line).strip()
    prefix = _PREFIX.match(text)
    profiles: tuple[str, ...] = ()
    if prefix:
        profiles = tuple(word.strip() for word in prefix[1].split(","))
        text = text[prefix.end() :]
    return _Split(profiles, " ".join(text.split()), comment[1].strip() if comment else "")


def _full_name(profile: str) -> str:
    """Return the flips in the order of the table, as runs name a profile.  Raises InputError."""
    return profile if profile.isalnum() else get_profile(profile).name


@lru_cache(KEPT)
def script_lines(script: str, profile: str, played: str = "") -> tuple[ScriptLine, ...]:
    """Return the lines that this profile plays, in order.

    They are those without a prefix, and those whose prefix names it, flips and all.  `played`: the
    profile of the run, where it plays the lines of another; its comments are those shown.
    """
    lines: list[ScriptLine] = []
    above: list[comments.Comment] = []
    for number, line in enumerate(script.split("\n"), 1):
        split = _split(line)
        if split.profiles and profile not in map(_full_name, split.profiles):
            if split.text:
                above.clear()  # they belong to a move that is not played
            continue
        is_expect = split.text.startswith("expect ")
        comment = comments.parse(split.comment)
        if is_expect:
            text = split.text.removeprefix("expect ").strip()
            lines.append(ScriptLine(text, comment.text, True, number))
            continue
        if comment.text and comment.shown_under(played or profile):
            above.append(comment)
        if split.text:
            text = " ".join(note.text for note in above if note.mark not in APART)
            lines.append(ScriptLine(split.text, text, False, number, _captions(above)))
            above.clear()
    return tuple(lines)


def _captions(told: list[comments.Comment]) -> tuple[comments.Caption, ...]:
    return tuple(
        comments.Caption(one.text, one.mark, one.which) for one in told if one.mark is not None
    )


def lessons_of(script: str) -> list[str]:
    """Return the comments that are no captions of one release, each once, in order."""
    found = (comments.parse(_split(line).comment) for line in script.split("\n"))
    told = (one.text for one in found if not one.bound and one.mark != comments.START)
    return list(dict.fromkeys(text for text in told if text))


def comments_of(script: str) -> list[str]:
    """Return every comment once, in order."""
    found = (comments.parse(_split(line).comment).text for line in script.split("\n"))
    return list(dict.fromkeys(comment for comment in found if comment))


def retold(script: str, words: Mapping[str, str]) -> str:
    """Return the same script, line for line, with the comments that `words` has translated."""
    return "\n".join(_retold(line, words) for line in script.split("\n"))


def _retold(line: str, words: Mapping[str, str]) -> str:
    comment = _COMMENT.search(line)
    if comment is None:
        return line
    own = comments.parse(comment[1])
    translated = words.get(own.text)
    return line if translated is None else line[: comment.start(1)] + own.head + translated


def read_script(read: Reader, value: object, brokers: tuple[BrokerSpec, ...]) -> str:
    """Return the script without trailing blanks; prefixes and `expect` lines are checked."""
    script = read.text(value, ("script",), MOST_CHARACTERS)
    lines = [line.rstrip() for line in script.rstrip().split("\n")]
    if len(lines) > MOST_LINES:
        raise read.bad(
            ("script",),
            "The script has {0} lines; at most {1} fit.",
            len(lines),
            MOST_LINES,
            code="too_large",
        )
    for number, line in enumerate(lines, 1):
        where = read.places.of(("script", number))
        if len(line) > MOST_LINE:
            raise InputError(
                "too_large",
                "Line {0} of the script is longer than {1}.",
                number,
                MOST_LINE,
                where=where,
            )
        split = _split(line)
        for profile in split.profiles:
            try:
                get_profile(profile)
            except InputError as bad:
                sentence = phrase(
                    "Line {0} of the script is for no profile. {1}", number, bad.sentence
                )
                raise InputError(bad.code, sentence, where=where) from None
        if split.text == "expect" or split.text.startswith("expect "):
            expectations.parse(split.text.removeprefix("expect").strip(), brokers, where)
    return "\n".join(lines)
