"""Tables of the steps at which the library shows a cue, an error or a broken invariant.

`pytest tests/test_sightings.py --rewrite` writes `engine/catalogue/sightings.json` and
`engine/lens/steps.json`.  The library is played once for both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest

from engine.catalogue import sightings
from engine.lens import search
from engine.lens.stacks import WITHIN
from engine.model.errors import name_of
from engine.model.messages import CONTROLLER, FETCH_R, Message
from engine.replay.cursor import Cursor, Happened
from engine.scenarios.file import library
from engine.sim.run import Run
from tests.conftest import ROOT

SIGHTINGS: Final = ROOT / "engine/catalogue" / sightings.FILE
STEPS: Final = ROOT / "engine/lens" / search.FILE
AGAIN: Final = "write it with: pytest tests/test_sightings.py --rewrite"
TELLING: Final = frozenset(
    ("L-3.refused", "P-4.answer", "P-7.refused", "S-2.epoch_check", "CP-ALTER", "S-9.pending")
)
"""Cues whose new value is an error code."""


class Tables:
    """The two tables, filled run by run."""

    def __init__(self) -> None:
        self.cues: dict[str, dict[str, tuple[str, int]]] = {}
        self.errors: dict[str, sightings.Sighting] = {}
        self.invariants: dict[str, sightings.Sighting] = {}
        self.steps: dict[str, dict[str, dict[str, int]]] = {}

    def play(self, code: str, slug: str, run: Run, is_shown: bool) -> None:
        """Play a run; note its first usual step of each cue, and what else it is shown for."""
        cursor, step, every = Cursor(run), 0, dict[str, int]()
        steps = self.steps.setdefault(code, {}).setdefault(run.profile, {})
        while (events := cursor.advance()) is not None:
            for event in events:
                step += 1
                there = {(cue[0], cue[1]) for cue in event[3]}
                for cue in event[3]:
                    if cue[0] not in steps and _is_usual(cue[0], cue[1], there):
                        steps[cue[0]] = step
                    every[cue[0]] = 0
                    if is_shown:
                        self.cues.setdefault(cue[0], {}).setdefault(run.profile, (slug, step))
                if is_shown:
                    for error in _errors(event):
                        self.errors.setdefault(error, (slug, run.profile, step))
        steps |= {cue: 0 for cue in every if cue not in steps}
        if is_shown:
            for name, at, _ in cursor.sim.broken:
                self.invariants.setdefault(name, (slug, run.profile, at))

    def texts(self) -> tuple[str, str]:
        """Both files: a line for each cue, error and invariant, and for each run."""
        groups = {"cues": self.cues, "errors": self.errors, "invariants": self.invariants}
        shown = (f'"{name}": {_object(rows)}' for name, rows in groups.items())
        steps = (f'"{code}": {_object(runs)}' for code, runs in self.steps.items())
        return "{\n" + ",\n".join(shown) + "\n}\n", "{\n" + ",\n".join(steps) + "\n}\n"


def _object(rows: dict[str, Any]) -> str:
    lines = (f' "{key}": {json.dumps(row, separators=(",", ":"))}' for key, row in rows.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def _is_usual(rule: str, node: int, there: set[tuple[str, int]]) -> bool:
    """Does the rule act at this step as usual, on the thread of its chain?"""
    if rule == "X-6" and node < CONTROLLER:
        return False  # a consumer's session, where the chain is a fetcher's
    return not any((other, node) in there for other in WITHIN.get(rule, ()))


def _errors(event: Happened) -> Iterator[str]:
    _, _, what, cues, sends = event
    for cue in cues:
        if cue[0] in TELLING and isinstance(cue[4], int) and cue[4] > 0:
            yield name_of(cue[4])
    for m in (what, *sends):
        if isinstance(m, Message):
            yield from (name_of(code) for code in _codes(m) if code > 0)


def _codes(m: Any) -> list[int]:
    if m.kind == FETCH_R:
        return [data.error for data in m.partitions]
    return [getattr(m, "error", 0)]


@cache
def played() -> Tables:
    shown, found = sightings.scenarios_in_order(), Tables()
    for scenario in sorted(library().values(), key=lambda one: (one.code[:1] != "S", one.code)):
        for profile in scenario.profiles:
            found.play(scenario.code, scenario.slug, Run(scenario, profile), scenario in shown)
    return found


@pytest.mark.parametrize("place", [0, 1], ids=[SIGHTINGS.name, STEPS.name])
def test_the_table_is_what_the_library_shows(place: int, rewrite: bool) -> None:
    path, text = (SIGHTINGS, STEPS)[place], played().texts()[place]
    if rewrite:
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8").splitlines() == text.splitlines(), AGAIN
