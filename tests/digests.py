"""Digests of the ends of many runs, equal under every Python.  Imports the engine only."""

from __future__ import annotations

import json
import sys
from typing import Final

from engine.model.profiles import PROFILES
from engine.scenarios.file import library
from engine.sim.run import Run, play_all
from engine.study.digest import digest
from engine.study.soak import draw

BY_THE_CLOCK: Final = ("S59", "S61", "S62", "S63")
RANDOM_RUNS: Final = 24


def digests(nth: int = 1) -> dict[str, str]:
    """Of each nth script under every profile it names, of crash storms, and of random play."""
    found = {}
    scenarios = list(library().values())
    by_the_clock = [one for one in scenarios if one.code in BY_THE_CLOCK]
    for scenario in [*(one for one in scenarios[::nth] if one not in by_the_clock), *by_the_clock]:
        seeds = range(3) if scenario.code in BY_THE_CLOCK else range(1)
        for profile in scenario.profiles:
            for seed in seeds:
                run = Run(scenario, profile, seed)
                found[f"{scenario.code} {profile} {seed}"] = digest(play_all(run).copy())
    for number in range(RANDOM_RUNS):
        run = draw(0, number, list(PROFILES), []).run
        found[f"random {number}"] = f"{run.digest} {digest(play_all(run).copy())}"
    return found


def told(nth: int = 1) -> str:
    """The version of this Python, and the digests, as JSON."""
    return json.dumps({"python": list(sys.version_info[:3]), "digests": digests(nth)})
