"""The verdict of each library scenario under each profile that it lists.

They are kept in `outcomes.json`, since playing the whole library takes a minute; a test plays it
again and `pytest tests/test_verdict.py --rewrite` writes the file.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Final

from engine.replay.replay import Replay
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.story.verdict import FIELDS

FILE: Final = "outcomes.json"


def outcome(scenario: Scenario, profile: str) -> dict[str, object]:
    """Play the script and return its verdict without details: `engine.story.verdict.FIELDS`."""
    verdict = Replay(Run(scenario, profile)).verdict()
    return {name: verdict[name] for name in FIELDS}


def is_statistical(scenario: Scenario) -> bool:
    """Check whether the end depends on the seed, so that one run gives no verdict."""
    return bool(scenario.workload.producers or scenario.faults)


@cache
def outcomes() -> dict[str, dict[str, dict[str, object]]]:
    """Return code -> profile -> verdict; scenarios whose end depends on the seed are left out."""
    text = (files("engine.export") / FILE).read_text("utf-8")
    found: dict[str, dict[str, dict[str, object]]] = json.loads(text)
    return found
