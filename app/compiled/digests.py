"""Digests of the library under every release its scenarios name, as JSON on the standard output.

A program of its own, which imports the engine only: it plays with the one the environment names.
"""

from __future__ import annotations

import json
import pickle
from typing import Final

from engine.explore.budgets import Budgets
from engine.explore.choices import Choices, advance
from engine.explore.keys import Keys
from engine.explore.question import SearchQuestion, cut_at
from engine.scenarios.file import find, library
from engine.sim.run import Run, play_all
from engine.study.digest import digest, is_compiled

SEARCHED: Final = "S20"
"""Scenario of which a state is searched."""


def found() -> dict[str, str | bool]:
    """Return {scenario and profile: digest}, and `is_compiled`."""
    ends: dict[str, str | bool] = {"is_compiled": is_compiled()}
    for scenario in library().values():
        for profile in scenario.profiles:
            ends[f"{scenario.code} {profile}"] = digest(play_all(Run(scenario, profile)).copy())
    ends["a search's state"] = _searched(Run(find(SEARCHED), "K39"))
    return ends


def _searched(run: Run) -> str:
    """Return the key of a state that a search has sent to another process."""
    begin = cut_at(Run(run.scenario, run.profile, run.seed, run.lines()[:3]))
    sim, _ = SearchQuestion(begin, Budgets(crashes=1)).begun()
    sim.seal()
    twin = sim.branch()
    choices, keys = Choices(run.scenario), Keys()
    advance(twin, choices.of(twin, Budgets(crashes=1))[-1].move)
    keys.of(twin)
    return keys.of(pickle.loads(pickle.dumps(twin))).hex()


if __name__ == "__main__":
    print(json.dumps(found()))
