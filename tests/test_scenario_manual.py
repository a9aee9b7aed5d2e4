"""The manual of scenarios names what there is, and its example plays."""

from __future__ import annotations

import re
from pathlib import Path

from engine.catalogue import promises
from engine.scenarios import file
from engine.scenarios.fault_lines import FAULT_KINDS
from engine.scenarios.scenario import KEYS, TAGS
from engine.sim.run import Run

MANUAL = Path(__file__).resolve().parent.parent / "docs/reference/scenarios.md"


def text() -> str:
    return MANUAL.read_text("utf-8")


def test_every_field_tag_and_fault_has_its_place() -> None:
    missing = [name for name in (*KEYS, *TAGS, *FAULT_KINDS) if f"`{name}`" not in text()]
    assert missing == [], (
        "docs/reference/scenarios.md lacks these in its tables and in its kinds of faults"
    )


def test_the_example_keeps_its_promise() -> None:
    example = re.search(r"```yaml\n(.*?)```", text(), re.DOTALL)
    assert example is not None
    scenario = file.load_text(example[1])
    assert promises.play(scenario, "K39", 0).complaints == []
    assert Run(scenario).script()
