"""Lines of each feature and room, within `budget.toml`.

A change that needs more lines lowers another row, or raises its own by hand with the reason as a
comment.  `pytest tests/test_lines.py --rewrite` lowers rows to what is measured.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from typing import Final

import pytest

from tests.conftest import ROOT

BUDGET: Final = ROOT / "tests" / "budget.toml"
SLACK: Final = 1.02
"""A row above what is measured by more than this is out of date."""
PLACES: Final = {
    "engine": ("engine", (".py",)),
    "app": ("app", (".py",)),
    "scripts": ("static/js", (".js", ".mjs")),
    "styles": ("static/css", (".css",)),
    "tests": ("tests", (".py",)),
}
"""Table of the budget -> folder, and endings of the files that count."""


def measured(table: str) -> Counter[str]:
    """Return folder -> lines of its files; files beside the folders count as one row."""
    top, endings = PLACES[table]
    lines: Counter[str] = Counter()
    for path in (ROOT / top).rglob("*"):
        if path.suffix in endings and "__pycache__" not in path.parts:
            parts = path.relative_to(ROOT / top).parts
            row = parts[0] if len(parts) > 1 else "files"
            lines[row] += len(path.read_text("utf-8").splitlines())
    return lines


def budget() -> dict[str, dict[str, int]]:
    return tomllib.loads(BUDGET.read_text("utf-8"))


@pytest.mark.parametrize("table", PLACES)
def test_each_feature_is_within_its_budget(table: str) -> None:
    allowed, lines = budget()[table], measured(table)
    over = {row: (n, allowed.get(row, 0)) for row, n in lines.items() if n > allowed.get(row, 0)}
    assert not over, f"[{table}] row: (lines, budget) {over}"


@pytest.mark.parametrize("table", PLACES)
def test_the_budget_follows_what_is_measured(table: str, request: pytest.FixtureRequest) -> None:
    allowed, lines = budget()[table], measured(table)
    loose = {row: n for row, n in allowed.items() if n > max(lines[row] * SLACK, lines[row] + 20)}
    if loose and request.config.getoption("--rewrite"):
        lower(table, {row: lines[row] for row in loose})
        return
    assert not loose, f"[{table}] has rows above what is measured: lower {sorted(loose)}"


def lower(table: str, rows: dict[str, int]) -> None:
    """Write smaller numbers into the rows of a table; a row without lines goes."""
    kept, inside = [], False
    for line in BUDGET.read_text("utf-8").splitlines():
        inside = line == f"[{table}]" if line.startswith("[") else inside
        name, equals, rest = line.partition(" = ")
        if inside and equals and name in rows:
            if not rows[name]:
                continue
            _, mark, comment = rest.partition("#")
            line = f"{name} = {rows[name]}" + (f"  # {comment.strip()}" if mark else "")
        kept.append(line)
    BUDGET.write_text("\n".join(kept) + "\n", "utf-8")
