"""Texts in every language, moves and properties, as they stand in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.model.errors import InputError
from engine.model.languages import LANGUAGES
from engine.moves import moves
from engine.properties.grammar import MOST_CHARACTERS, parse
from engine.scenarios.file import find
from engine.scenarios.places import Path, Reader
from engine.sim.run import Run

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


def script_of(
    check: Reader, fields: Mapping[str, object], path: Path, code: str
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return (moves of its own, None without them; moves before the scenario's script)."""
    own, first = (
        move_lines(check, fields.get(key, []), (*path, key), code) for key in ("moves", "first")
    )
    if own and first:
        raise check.bad((*path, "first"), "Moves of its own need no moves before them.")
    return (own if "moves" in fields else None), first


def run_of(code: str, profile: str, own: tuple[str, ...] | None, first: tuple[str, ...]) -> Run:
    """Return the run of a scenario with moves of its own, or with moves before its script."""
    scenario = find(code)
    if own is None and not first:
        return Run(scenario, profile)
    script = Run(scenario, profile).script() if own is None else own
    return Run(scenario, profile, 0, (*first, *script))


def property_text(check: Reader, value: object, path: Path) -> str:
    """Return a sentence of the property language, parsed."""
    text = check.text(value, path, MOST_CHARACTERS)
    try:
        parse(text)
    except InputError as bad:
        raise check.bad(path, bad.sentence, code=bad.code) from bad
    return text
