"""Texts in every language, moves and properties, as they stand in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from engine.model.errors import InputError
from engine.model.languages import LANGUAGES
from engine.model.profiles import get_profile
from engine.moves import moves
from engine.properties.grammar import MOST_CHARACTERS, parse
from engine.scenarios.file import find, library
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
    translated = {name: check.text(text, (*path, name), most) for name, text in fields.items()}
    return {name: translated.get(name, translated[usual]) for name in LANGUAGES}


def require(
    check: Reader, fields: Mapping[str, object], names: tuple[str, ...], path: Path, what: str
) -> None:
    """Raise InputError for the first of these keys that is not there."""
    for name in names:
        if name not in fields:
            raise check.bad(path, f"{what} needs its {name}.")


def accepted(
    check: Reader, value: object, path: Path, most: int, parse: Callable[[str], object]
) -> str:
    """Return a text that `parse` takes; a refusal of it points at this place."""
    text = check.text(value, path, most)
    try:
        parse(text)
    except InputError as bad:
        raise check.bad(path, bad.sentence, code=bad.code) from bad
    return text


def move_lines(check: Reader, value: object, path: Path, code: str) -> tuple[str, ...]:
    """Return a list of moves for the brokers of a scenario, each of them parsed."""

    def parse_move(line: str) -> moves.Move:
        return moves.parse(line, find(code).brokers)

    return tuple(
        accepted(check, line, (*path, i), moves.MAX_LENGTH, parse_move)
        for i, line in enumerate(check.listing(value, path, MOST_MOVES))
    )


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
    return accepted(check, value, path, MOST_CHARACTERS, parse)


def profile_name(check: Reader, value: object, path: Path) -> str:
    """Return the name of a profile or a release, as it is written."""
    return accepted(check, value, path, 80, get_profile)


def scenario_code(check: Reader, value: object, path: Path) -> str:
    """Return the code of a scenario of the library."""
    code = check.text(value, path, 80)
    if code not in {scenario.code for scenario in library().values()}:
        raise check.bad(path, f"There is no scenario {code[:40]} in the library.", code="unknown")
    return code
