"""An entry of the search index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.model.languages import USUAL

Texts = Mapping[str, str]
"""A text by language."""


@dataclass(frozen=True, slots=True)
class SearchEntry:
    """`keys` are names and phrases in no particular language; `passages` are sentences."""

    kind: str
    name: str
    url: str
    title: Texts
    keys: tuple[str, ...] = ()
    passages: tuple[Texts, ...] = ()
    code: str = ""
    shown_by: str = ""
    """Code of the scenario whose run shows it."""

    def said(self, language: str) -> list[str]:
        """Return the sentences of the entry in a language."""
        return [text for one in self.passages if (text := one.get(language) or one.get(USUAL, ""))]
