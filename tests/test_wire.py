"""What browsers are told has the shapes that are declared, and no others.

Those of a run are in `engine.view.wire`, those of a batch in `app.batch.wire`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.batch.wire import BatchResult
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.sim.run import Run
from engine.view import wire
from tests.conftest import ROOT
from tests.wire import held

SCHEMA = ROOT / "docs/reference/wire.schema.json"
DECLARED = [wire.StepJson, wire.Why, BatchResult]
EVERY = 9
SUBJECTS = ("hw", "hw A", "isr B", "leader", "move elect 1")


def schema() -> str:
    """The JSON schema of an answer of the live channel, in its parts."""
    refs, parts = msgspec.json.schema_components(DECLARED, ref_template="#/$defs/{name}")
    names = [kind.__name__[0].lower() + kind.__name__[1:] for kind in DECLARED]
    told = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Wire",
        "type": "object",
        "properties": {
            name[0].lower() + name[1:]: ref for name, ref in zip(names, refs, strict=True)
        },
        "$defs": parts,
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("code", [one.code for one in library().values()][::8])
def test_every_step_is_as_declared(code: str) -> None:
    scenario = find(code)
    replay = Replay(Run(scenario, scenario.profiles[0]))
    for n in range(0, min(replay.total, 40 * EVERY), EVERY):
        (step,) = replay.steps(n, 1)
        held(step, wire.StepJson)


def test_a_cue_names_its_partition() -> None:
    """What it tells of a high watermark is true of that partition's replica, and of no other."""
    many = find("S50")
    told = set()
    for step in Replay(Run(many, many.profiles[0])).steps(0, 600):
        parts = {part["p"]: part for part in step["view"]["partitions"]}
        marks = {
            (cue["node"], cue["p"]): cue["new"] for cue in step["cues"] if cue["field"] == "hw"
        }
        for (node, p), new in marks.items():
            assert parts[p]["replicas"][str(node)]["hw"] == new, f"step {step['n']}"
            told.add(p)
    assert len(told) > 1


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_why_is_as_declared(subject: str) -> None:
    replay = Replay(Run(find("S20"), "K39"))
    for n in range(0, replay.total, 20):
        held(replay.why(n, subject), wire.Why)


@pytest.mark.parametrize("change", [{"n": "1"}, {"more": 1}, {"view": {}}])
def test_undeclared_fields_are_noticed(change: dict[str, Any]) -> None:
    replay = Replay(Run(next(iter(library().values())), "K39"))
    (step,) = replay.steps(1, 1)
    with pytest.raises((msgspec.ValidationError, AssertionError)):
        held({**step, **change}, wire.StepJson)


def test_the_schema_is_what_is_declared(rewrite: bool) -> None:
    if rewrite:
        SCHEMA.write_text(schema(), "utf-8")
    again = "pytest tests/test_wire.py --rewrite && npm run wire"
    assert SCHEMA.read_text("utf-8") == schema(), f"This makes it anew: {again}"


def test_the_types_of_the_scripts_name_every_part() -> None:
    """That they agree in full is checked by `npm run wire`, where there is node."""
    types = Path(ROOT / "static/js/core/wire.d.ts").read_text("utf-8")
    for name in json.loads(SCHEMA.read_text("utf-8"))["$defs"]:
        assert f"export interface {name} " in types or f"export type {name} =" in types, name
