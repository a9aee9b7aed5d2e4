"""Digests of the library under every release its scenarios name, as JSON on the standard output.

A program of its own, which imports the engine only: it plays with the one the environment names.
"""

from __future__ import annotations

import json

from engine.scenarios.file import library
from engine.sim.run import Run, play_all
from engine.study.digest import digest, is_compiled


def found() -> dict[str, str | bool]:
    """Return {scenario and profile: digest}, and `is_compiled`."""
    ends: dict[str, str | bool] = {"is_compiled": is_compiled()}
    for scenario in library().values():
        for profile in scenario.profiles:
            ends[f"{scenario.code} {profile}"] = digest(play_all(Run(scenario, profile)))
    return ends


if __name__ == "__main__":
    print(json.dumps(found()))
