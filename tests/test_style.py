"""Checks of docstrings: their first line names a thing or says what a function does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

FORBIDDEN_OPENINGS = ("What", "Who", "How", "Which", "Where", "Of", "Whether")
WIDEST_DOCSTRING = 100


def _docstrings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text.splitlines()[0]


def test_docstrings_open_with_a_noun_or_an_imperative() -> None:
    found = []
    for folder in ("app", "engine"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for line, first in _docstrings(path):
                if first.split(" ", 1)[0].rstrip(",.:;") in FORBIDDEN_OPENINGS:
                    found.append(f"{path.relative_to(ROOT)}:{line}: opens with a question: {first}")
                if len(first) > WIDEST_DOCSTRING:
                    found.append(f"{path.relative_to(ROOT)}:{line}: {len(first)} characters")
    assert found == [], "\n".join(found)
