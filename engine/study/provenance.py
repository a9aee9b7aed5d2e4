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
    told = {
        "scenario": json.dumps(scenario, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        "release": ",".join(profiles),
        "first_seed": str(first_seed),
        "runs": str(runs),
        "engine": str(ENGINE_VERSION),
    }
    known = file.library().get(scenario.get("slug", ""))
    if known is not None and known.to_dict() == scenario:
        seeds = f"--seed {first_seed} --runs {runs}"
        told["command"] = f"highwater batch {known.slug} --kafka {told['release']} {seeds}"
    return told
