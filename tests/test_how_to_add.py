"""The pages "How to add" and "Extend the engine" name existing files and words of invariants."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.core.words import Catalogue
from engine.checks.catalogue import INVARIANTS
from tests.test_features import copied, output

ADDED = """
from typing import ClassVar

from engine.checks.invariant import ALWAYS, About, Invariant


class NoSecondAppend(Invariant):
    about: ClassVar = About(
        "INV-999", "No log grows.", "A log grew.", ALWAYS
    )

    def on_append(self, run, replica, at):
        seen = self.memory(run)
        seen[replica.tp] = seen.get(replica.tp, 0) + 1
        if seen[replica.tp] > 1:
            self.report(run, "{0} appends again", run.name(replica.broker))
"""
PLAYED = """
import sys
from pathlib import Path
from app.core import config
from app.find.index import index
from app.server.factory import build
from engine.scenarios.file import find
from engine.sim.run import Run, play_all
sim = play_all(Run(find("S01"), "K39"))
assert sim.copy().checker.memories == sim.checker.memories
print([why for name, _, why in sim.broken if name == "INV-999"], sim.checker.counts["INV-999"] > 1)
print(index().search("NoSecondAppend").hits[0].entry.url)
client = build(config.load(instance=Path(sys.argv[1]))).test_client()
print(*("No log grows." in client.get(f"/glossary?lang={lang}").text for lang in ("en", "zh")))
"""
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


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_people_are_told_what_broke(language: str) -> None:
    """`broken.<name>`: scripts show the bare code where it is missing."""
    words, english = Catalogue().words(language), Catalogue().words("en")
    for one in INVARIANTS.values():
        assert english[f"broken.{one.name}"] == one.broken
        assert words[f"broken.{one.name}"], one.name


@pytest.mark.night
@pytest.mark.gate
def test_an_invariant_is_one_file(tmp_path: Path) -> None:
    """It is checked, searched and explained; its Chinese may follow."""
    tree = copied(tmp_path)
    (tree / "engine/checks/invariants/added.py").write_text(ADDED)
    broken, url, explained = output(tree, PLAYED, str(tmp_path / "instance")).splitlines()
    assert broken == "['broker 2 appends again'] True"
    assert (url, explained) == ("/glossary#INV-999", "True True")
