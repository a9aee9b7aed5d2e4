"""The pages "How to add" and "Extend the engine" name existing files and words of invariants."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.core.words import Catalogue
from engine.checks.catalogue import INVARIANTS

ROOT = Path(__file__).resolve().parent.parent
TABLES = {"CONTRIBUTING.md": ROOT, "docs/how-to/extend.md": ROOT / "engine"}
NAMED = re.compile(r"`([\w./*<>-]+/[\w.*<>-]*)`")
"""A path: what has a slash in it and no space, brackets standing for a name of one's own."""


def named(text: str) -> list[str]:
    """The paths in the rows of the table below "How to add", or of the whole page without one."""
    _, heading, table = text.partition("\n## How to add\n")
    rows = table.split("\n## ")[0] if heading else re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [path for path in NAMED.findall(rows) if not path.startswith("/")]


def lost(path: str, top: Path) -> bool:
    """Is it neither there as the table's own room has it nor as the project has it?"""
    pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
    return not any(next(room.glob(pattern), None) for room in (top, ROOT, ROOT / "static/js"))


@pytest.mark.parametrize("document", TABLES)
def test_every_file_that_is_to_be_touched_is_there(document: str) -> None:
    paths = named((ROOT / document).read_text("utf-8"))
    assert len(paths) > 5, "the pattern finds what the table names"
    gone = [path for path in paths if lost(path, TABLES[document])]
    assert gone == [], f"{document}, How to add: no such file"


def test_a_file_that_is_not_there_is_noticed() -> None:
    assert named("\n## How to add\n| a | `faults/fault.py` and `x` |\n") == ["faults/fault.py"]
    engine = ROOT / "engine"
    assert lost("faults/fault.py", engine) and not lost("faults/faults.py", engine)


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_people_are_told_what_broke(language: str) -> None:
    """`broken.<name>`: scripts show the bare code where it is missing."""
    words, english = Catalogue().words(language), Catalogue().words("en")
    for one in INVARIANTS.values():
        told = words[f"broken.{one.name}"]
        assert english[f"broken.{one.name}"] == one.broken
        assert (told == one.broken) == (language == "en"), one.name
