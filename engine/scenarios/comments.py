"""Comments of a script: to which releases they are bound, and where in the story they stand.

# Any text                            an aside, shown with its move
# @ Broker 1 dies.                    a caption, at the last step of its move that matters
# @truncation Broker 1 cuts m1.       a caption, at the first step of its move with this mark
# @isr2 Broker 3 is back in the ISR.  a caption, at the second
# @start ...    # @end ...            the captions of the first and of the last step of the run
# [K41] ...                           shown under this profile only
# [..3.6, kraft 3.7..] ...            up to 3.6, or from 3.7 on with KRaft
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.model.errors import InputError
from engine.model.flags import Release, release_of
from engine.model.profiles import ERAS, Profile, get_profile

START: Final = "start"
END: Final = "end"
MARKS: Final = (
    "", START, END, "ack", "fault", "heal", "isr", "leader", "trunc", "truncation", "violation",
)  # fmt: skip
"""Where a caption can stand; "" is the last step of its move that matters."""

_BOUND: Final = re.compile(r"\[([^\]]*)\]\s*")
_AT: Final = re.compile(r"@([a-z]*)([1-9][0-9]?)?(?:\s+|$)")
_SPAN: Final = re.compile(r"([0-9][0-9.]*[0-9])?\.\.([0-9][0-9.]*[0-9])?")
_KEPT: Final = 4_096


@dataclass(frozen=True, slots=True)
class Caption:
    """A sentence of the story, and where in its move it stands: at the `which`-th such mark."""

    text: str
    mark: str = ""
    which: int = 1


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, taken apart: `bound` as written between brackets, `at` as written after `@`.

    mark: None for an aside.
    """

    text: str
    bound: tuple[str, ...] = ()
    mark: str | None = None
    which: int = 1
    head: str = ""

    def shown_under(self, profile: str) -> bool:
        """Check whether a run under this profile shows it.

        What is bound to releases says nothing about a Kafka that was never released, so a profile
        with flips shows it only if the binding names that profile.
        """
        return not self.bound or any(_includes(word, profile) for word in self.bound)


def parse(text: str) -> Comment:
    rest = text.strip()
    bound: tuple[str, ...] = ()
    match = _BOUND.match(rest)
    if match and all(_is_known(word.strip()) for word in match[1].split(",")):
        bound = tuple(word.strip() for word in match[1].split(","))
        rest = rest[match.end() :]
    at = _AT.match(rest)
    if at is None or at[1] not in MARKS:
        return Comment(rest, bound, head=text.strip()[: len(text.strip()) - len(rest)])
    words = rest[at.end() :]
    head = text.strip()[: len(text.strip()) - len(words)]
    return Comment(words, bound, at[1], int(at[2] or 1), head)


def _is_span(words: str) -> bool:
    return all(word in ERAS or _SPAN.fullmatch(word) for word in words.split())


def _is_known(words: str) -> bool:
    if _is_span(words):
        return bool(words)
    try:
        get_profile(words)
    except InputError:
        return False
    return True


@lru_cache(_KEPT)
def _includes(words: str, name: str) -> bool:
    """Check whether one of the alternatives of a binding includes a profile."""
    profile = get_profile(name)
    if _is_span(words):
        return profile.name == profile.base and all(_spans(word, profile) for word in words.split())
    return get_profile(words).name == profile.name


def _spans(word: str, profile: Profile) -> bool:
    if word in ERAS:
        return profile.mode == word
    low, high = word.split("..")
    first, last = release_of(profile.releases[0]), release_of(profile.releases[-1])
    return (not low or first >= release_of(low)) and (not high or _up_to(last, release_of(high)))


def _up_to(release: Release, end: Release) -> bool:
    """Check whether a release comes no later than the last one of a line: 3.6.2 is in ..3.6."""
    return release[: len(end)] <= end
