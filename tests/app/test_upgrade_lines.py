"""Log lines that find their bugs: what an entry prints, and what a healthy broker prints."""

from __future__ import annotations

import json
import re
import time
from importlib.resources import files

import pytest

from engine.logs.template import template
from engine.upgrade.ledger import LINES, entries
from engine.upgrade.matching import fitting
from tests.conftest import ROOT

LINES_OF_BUGS = json.loads((ROOT / "tests/data/bug-lines.json").read_text("utf-8"))
HEALTHY = (
    "Added fetcher",
    "Removed fetcher",
    "Truncating",
    "Expanding ISR",
    "ISR updated",
    "Completed load",
    "Loading producer state",
    "starts at",
    "with initial high watermark",
    "checkpointed highwatermark",
    "Skipping recovery",
    "eceived LeaderAndIsr request",
    "ached leader info",
)  # fmt: skip
"""Words of the lines that a broker without any trouble logs."""


@pytest.mark.parametrize("row", LINES_OF_BUGS, ids=lambda row: str(row["jira"]))
def test_a_line_finds_its_bug_first(row: dict[str, str]) -> None:
    assert fitting(row["line"], row["release"])[0].jira == row["jira"]


def test_every_bug_that_prints_is_an_entry_and_its_templates_fit_text() -> None:
    rows = json.loads((files("engine.upgrade") / LINES).read_text("utf-8"))
    assert set(rows) <= {entry.jira for entry in entries()}
    for templates in rows.values():
        assert templates and all(any(template(one).literals) for one in templates)


def test_ordinary_lines_of_a_healthy_broker_find_no_bug() -> None:
    """Recorded lines of real brokers of seven releases, and the field corpus."""
    folder = ROOT / "tests" / "field" / "incident"
    lines = [
        line
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in (".log", ".txt")
        for line in path.read_bytes().decode("utf-8", "replace").splitlines()
        if re.search(r"\b(?:INFO|TRACE|DEBUG)\b", line) and any(one in line for one in HEALTHY)
    ]
    assert len(lines) > 60
    found = {line: [entry.jira for entry in fitting(line)] for line in lines}
    assert {line: jiras for line, jiras in found.items() if jiras} == {}


@pytest.mark.parametrize(
    "text", ["a-" * 8_000, "Cached zkVersion [" * 900, "[" * 16_000, "1 " * 8_000]
)
def test_the_time_is_linear_in_the_line(text: str) -> None:
    started = time.process_time()
    fitting(text)
    assert time.process_time() - started < 1
