"""Search terms of the library's scenarios, by code.

They are kept in a file of their own: no digest, link or golden file depends on them.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from engine.scenarios.file import load_value

FILE = "keywords.yaml"
MAX_LENGTH = 3_000
"""Characters of the terms of one scenario."""


@cache
def keywords() -> dict[str, tuple[str, ...]]:
    """Return code -> phrases: issues, KIPs, errors, settings, metrics, log lines, words.

    Raises InputError for a file that is not such a mapping.
    """
    text = (resources.files("engine.scenarios") / FILE).read_text("utf-8")
    value, check = load_value(text, FILE)
    return {
        code: tuple(term.strip() for term in check.text(terms, (code,), MAX_LENGTH).split(";"))
        for code, terms in check.mapping(value, (), ()).items()
    }
