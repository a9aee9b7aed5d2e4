"""The manual of scenarios names what there is, and its example plays."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from engine.catalogue import promises
from engine.moves.moves import VERBS
from engine.scenarios import file
from engine.scenarios.fault_lines import FAULT_KINDS
from engine.scenarios.scenario import KEYS, TAGS
from engine.sim.run import Run

MANUAL = Path(__file__).resolve().parent.parent / "docs/scenarios.md"
BAR = "\\|"
"""A bar within a table of Markdown."""
BEGIN, END = "<!-- moves -->\n", "<!-- /moves -->\n"


def moves_table() -> str:
    """The moves as the engine knows them."""
    rows = [f"| `{verb.grammar.replace('|', BAR)}` | {verb.help} |" for verb in VERBS.values()]
    return "\n".join(["| Move | What it does |", "|---|---|", *rows, ""])


def text() -> str:
    return MANUAL.read_text("utf-8")


def test_every_field_tag_and_fault_has_its_place() -> None:
    missing = [name for name in (*KEYS, *TAGS, *FAULT_KINDS) if f"`{name}`" not in text()]
    assert missing == [], "docs/scenarios.md lacks these in its tables and in its kinds of faults"


def test_the_moves_are_those_of_the_engine() -> None:
    written = text().split(BEGIN)[1].split(END)[0]
    assert written == moves_table(), "python3 -m tests.test_scenario_manual writes it"


def test_the_example_keeps_its_promise() -> None:
    example = re.search(r"```yaml\n(.*?)```", text(), re.DOTALL)
    assert example is not None
    scenario = file.load_text(example[1])
    assert promises.play(scenario, "K39", 0).complaints == []
    assert Run(scenario).script()


if __name__ == "__main__":
    before, rest = text().split(BEGIN)
    MANUAL.write_text(before + BEGIN + moves_table() + END + rest.split(END)[1], "utf-8")
    sys.stdout.write(f"wrote {MANUAL}\n")
