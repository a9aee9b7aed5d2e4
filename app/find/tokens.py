"""Tokens of text and of queries: words, identifiers split into their parts, Chinese bigrams.

`NotEnoughReplicasException`, `NOT_ENOUGH_REPLICAS` and "not enough replicas" have the same parts,
and the first two the same joined token, `notenoughreplicas`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import Final

KNOWN_WORDS: Final = 8_192
"""Words that are kept as they were split: the index reads each about ten times."""
MAX_WORD_LENGTH: Final = 64
"""Characters of one word; the rest is dropped."""

STOP_WORDS: Final = frozenset(
    """
    a able about after again also always am an and any are as at based be because been
    before being between bug but by can cannot could did difference do does doing don due
    during each else etc ever every explain for from get gets getting give go goes going got
    had happen happens has have having he help her here his how i if impact in instead into
    is isn issue it its just kafka let like make makes many may me mean meaning means might
    more most much my need now of on once one only or other our over own per please possible
    problem question same seem seems she should since so some someone still such sure than
    that the their them then there these they this those through to too try trying unable
    understand until up upon us use used using very via want was way we well were what when
    where whether which while who why will with within work works would yet you your
    """.split()  # noqa: SIM905
)
"""Ignored where a word stands alone; parts of identifiers and of phrases keep them."""
WEAK_SUFFIXES: Final = frozenset({"exception", "error"})
"""Last parts that Java's names of errors have and the protocol's lack."""

_WORD: Final = re.compile(
    r"acks[ ]?=[ ]?-?[a-z0-9]+|[a-z0-9]+(?:[._\-#$]+[a-z0-9]+)*", re.IGNORECASE
)
_PIECE: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_WHOLE: Final = re.compile(r"[a-z]{1,3}[0-9]+[a-z]?|(?:kafka|kip)[-_#]?[0-9]+", re.IGNORECASE)
"""Codes (S20, Q7) and numbers of issues and proposals, which are not split."""
_PACKAGE: Final = re.compile(r"(?<![a-z.])(?:[a-z]{1,40}\.){2,12}(?=[A-Z][a-z])")
"""Packages before the name of a class of Java."""
_METHOD: Final = re.compile("[a-z]+(?:[A-Z][a-z]+){2,}")
_ACKS_ALL: Final = re.compile("acks ?= ?-1", re.IGNORECASE)
_CAMEL: Final = re.compile("[a-z][A-Z]")
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]+")
_PARTICLES: Final = re.compile(
    "|".join((resources.files("app.find") / "particles.txt").read_text("utf-8").split())
)
"""Words and particles that separate Chinese terms; longer ones first."""


@dataclass(frozen=True, slots=True)
class Word:
    """`joined` names the whole word, without separators; `parts` are what it consists of."""

    text: str
    joined: str
    parts: tuple[str, ...]

    @property
    def method(self) -> bool:
        """True for a word written like a method, whose parts alone say little."""
        return _METHOD.fullmatch(self.text) is not None

    @property
    def noise(self) -> bool:
        """True for a lone letter or a small number, frequent in log lines."""
        return self.joined.isascii() and (
            len(self.joined) == 1 or (self.joined.isdigit() and len(self.joined) < 3)
        )

    @property
    def stop(self) -> bool:
        """True for a word too frequent to search for by itself."""
        return self.joined in STOP_WORDS


@lru_cache(maxsize=KNOWN_WORDS)
def _latin(text: str) -> Word:
    if _WHOLE.fullmatch(text):
        joined = re.sub("[^a-z0-9]", "", text.lower())
        return Word(text, joined, (joined,))
    text = _ACKS_ALL.sub("acks=all", _PACKAGE.sub("", text))
    parts = tuple(part.lower() for part in _PIECE.findall(text[:MAX_WORD_LENGTH]))
    if len(parts) > 1 and parts[-1] in WEAK_SUFFIXES:
        parts = parts[:-1]
    if all(part.isdigit() for part in parts):
        parts = ("".join(parts),)
    return Word(text, "".join(parts), parts)


def _chinese(text: str) -> Word:
    text = text[:MAX_WORD_LENGTH]
    pairs = tuple(a + b for a, b in pairwise(text))
    return Word(text, text, pairs or (text,))


def words(text: str) -> list[Word]:
    text = unicodedata.normalize("NFKC", text)
    placed = [(match.start(), _latin(match[0])) for match in _WORD.finditer(text)]
    for run in _CHINESE.finditer(_PARTICLES.sub(lambda match: " " * len(match[0]), text)):
        placed.append((run.start(), _chinese(run[0])))
    return [word for _, word in sorted(placed, key=lambda pair: pair[0])]


def _members(text: str) -> list[str]:
    """Return joined names of class and method in a name such as `Partition.maybeShrinkIsr`."""
    if "." not in text and "#" not in text:
        return []
    return [piece.lower() for piece in re.split("[.#]", text) if _CAMEL.search(piece)]


def indexed(text: str) -> str:
    """Return the text as the index stores it: all parts in their order, then the joined tokens."""
    tokens = words(text)
    parts = [part for word in tokens for part in word.parts]
    joined = [word.joined for word in tokens if len(word.parts) > 1]
    joined += [piece for word in tokens for piece in _members(word.text)]
    return " ".join([*parts, *joined])
