"""Metadata of a table of runs: what they are runs of, and how to repeat them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from engine import ENGINE_VERSION
from engine.scenarios import file


def provenance(
    scenario: Mapping[str, Any], profiles: Sequence[str], first_seed: int, runs: int
) -> dict[str, str]:
    """Return scenario, releases, seeds and engine version, and the command that repeats the runs.

    A scenario that is not of the library has no command: it is written to a file first.
    """
    origin = {
        "scenario": json.dumps(scenario, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        "release": ",".join(profiles),
        "first_seed": str(first_seed),
        "runs": str(runs),
        "engine": str(ENGINE_VERSION),
    }
    original = file.library().get(scenario.get("slug", ""))
    if original is not None and original.to_dict() == scenario:
        seeds = f"--seed {first_seed} --runs {runs}"
        origin["command"] = f"highwater batch {original.slug} --kafka {origin['release']} {seeds}"
    return origin
