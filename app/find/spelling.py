"""Vocabulary of the index, and its words that are written like an unknown one."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable
from typing import Final

SHORTEST: Final = 4
"""Characters a word needs for a correction to mean anything."""
CLOSE: Final = 0.78
LOOSE: Final = 0.6
"""Least similarity, as `difflib` has it, for a correction and for a suggestion."""


class Vocabulary:
    """Words of the index, by their first letter and length."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts = Counter(word for text in texts for word in text.split())

    def __contains__(self, word: str) -> bool:
        return word in self._counts

    def nearest(self, word: str, *, loose: bool = False) -> list[str]:
        """Return known words that are spelled like this one, the nearest first.

        Of equals the most frequent comes first.
        """
        if len(word) < SHORTEST or word.isdigit():
            return []
        reach = 4 if loose else 2
        letters = set(word)
        candidates = [
            one
            for one in self._counts
            if abs(len(one) - len(word)) <= reach
            and not any(letter.isdigit() for letter in one)
            and len(letters & set(one)) * 3 >= len(letters) * 2
        ]
        found = difflib.get_close_matches(word, candidates, 6, LOOSE if loose else CLOSE)
        return sorted(
            found,
            key=lambda one: (-difflib.SequenceMatcher(None, word, one).ratio(), -self._counts[one]),
        )
