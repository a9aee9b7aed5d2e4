"""Texts in every language, and moves, as they stand in a file."""

from __future__ import annotations

from typing import Final

from engine.model.errors import InputError
from engine.model.languages import LANGUAGES
from engine.moves import moves
from engine.scenarios.file import find
from engine.scenarios.places import Path, Reader

MOST_MOVES: Final = 100
Texts = dict[str, str]
"""Language -> text, for every language."""


def texts(check: Reader, value: object, path: Path, most: int) -> Texts:
    """Return {language: text}, each text with at most `most` characters.

    A text that is missing in a language is given in the first language. Raises InputError where the
    text in the first language is missing.
    """
    fields = check.mapping(value, path, LANGUAGES)
    usual = LANGUAGES[0]
    if usual not in fields:
        raise check.bad(path, f"The text in {usual} is missing.")
    told = {name: check.text(one, (*path, name), most) for name, one in fields.items()}
    return {name: told.get(name, told[usual]) for name in LANGUAGES}


def move_lines(check: Reader, value: object, path: Path, code: str) -> tuple[str, ...]:
    """Return a list of moves for the brokers of a scenario, each of them parsed."""
    found = []
    for i, one in enumerate(check.listing(value, path, MOST_MOVES)):
        line = check.text(one, (*path, i), moves.MAX_LENGTH)
        try:
            moves.parse(line, find(code).brokers)
        except InputError as bad:
            raise check.bad((*path, i), bad.sentence, code=bad.code) from bad
        found.append(line)
    return tuple(found)
