"""Every citation in the sources leads to a place in `docs/reference/protocol/`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from engine.story.rules import RULEBOOK

ROOT = Path(__file__).resolve().parent.parent
PLANES = ("data-plane", "control-plane")
NUMBERS = r"\d+(?:\.\d+)?(?:(?:, | and )\d+(?:\.\d+)?)*"
CITED = re.compile(rf"\b(data-plane|control-plane)(?: document \(|,? )({NUMBERS})")
HEADING = re.compile(r"^#{2,3} (\d+(?:\.\d+)?)\.? ", re.MULTILINE)
ITEM = re.compile(r"^(\d+)\. ", re.MULTILINE)


@cache
def document(plane: str) -> str:
    return (ROOT / "docs/reference/protocol" / f"{plane}.md").read_text("utf-8")


@cache
def places(plane: str) -> frozenset[str]:
    """Numbers of sections, and of the items that a section numbers: 16.5."""
    text = document(plane)
    found = list(HEADING.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    numbers = {match[1] for match in found}
    for match, end in zip(found, ends, strict=True):
        numbers |= {f"{match[1]}.{item}" for item in ITEM.findall(text, match.end(), end)}
    return frozenset(numbers)


def citations() -> Iterator[tuple[str, str, str]]:
    """(where, plane, number) of whatever a source cites by number."""
    for top in ("engine", "app"):
        for path in sorted((ROOT / top).rglob("*.py")):
            for line, text in enumerate(path.read_text("utf-8").splitlines(), 1):
                for match in CITED.finditer(text):
                    for number in re.findall(r"\d+(?:\.\d+)?", match[2]):
                        yield f"{path.relative_to(ROOT)}:{line}", match[1], number


def test_every_number_that_is_cited_is_a_place_in_the_specification() -> None:
    lost = [
        f"{where} cites {plane} {number}"
        for where, plane, number in citations()
        if number not in places(plane)
    ]
    assert lost == []
    assert len(list(citations())) > 20, "the pattern finds what the sources cite"


@pytest.mark.parametrize("rule", RULEBOOK)
def test_every_rule_is_in_the_specification(rule: str) -> None:
    named = re.compile(rf"(?<![\w-]){re.escape(rule)}(?![\w-])")
    assert any(named.search(document(plane)) for plane in PLANES)
