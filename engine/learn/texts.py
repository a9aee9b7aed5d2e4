"""Texts in every language, as they stand in a file for each of them."""

from __future__ import annotations

from engine.model.languages import LANGUAGES
from engine.scenarios.places import Path, Reader

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
