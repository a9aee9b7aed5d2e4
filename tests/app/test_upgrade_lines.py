"""Log lines that find their bugs: what an entry prints, and what a healthy broker prints."""

from __future__ import annotations

import json
import time
from importlib.resources import files

import pytest

from engine.catalogue.bug_matching import fitting
from engine.catalogue.bugs import LINES, entries
from engine.catalogue.template import template
from tests.conftest import ROOT

LINES_OF_BUGS = json.loads((ROOT / "tests/data/bug-lines.json").read_text("utf-8"))
HEALTHY = (ROOT / "tests/data/healthy-lines.txt").read_text("utf-8").splitlines()
"""Lines of brokers and controllers without trouble: recorded from 0.10.2 to 4.4, and of starts."""


@pytest.mark.parametrize("row", LINES_OF_BUGS, ids=lambda row: str(row["jira"]))
def test_a_line_finds_its_bug_first(row: dict[str, str]) -> None:
    assert fitting(row["line"], row["release"])[0].jira == row["jira"]


def test_every_bug_that_prints_is_an_entry_and_its_templates_fit_text() -> None:
    rows = json.loads((files("engine.catalogue") / LINES).read_text("utf-8"))
    assert set(rows) <= {entry.jira for entry in entries()}
    for templates in rows.values():
        assert templates and all(any(template(one).literals) for one in templates)


def test_ordinary_lines_of_a_healthy_broker_find_no_bug() -> None:
    assert len(HEALTHY) >= 200
    found = {line: [entry.jira for entry in fitting(line)] for line in HEALTHY}
    assert {line: jiras for line, jiras in found.items() if jiras} == {}


@pytest.mark.parametrize(
    "text", ["a-" * 8_000, "Cached zkVersion [" * 900, "[" * 16_000, "1 " * 8_000]
)
def test_the_time_is_linear_in_the_line(text: str) -> None:
    started = time.process_time()
    fitting(text)
    assert time.process_time() - started < 1
