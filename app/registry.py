"""What the engine offers, as one JSON object: menus are made of it, never typed twice."""

from __future__ import annotations

from functools import cache
from typing import Any

from engine import ENGINE_VERSION
from engine.model import errors
from engine.model.profiles import PROFILES


@cache
def registry() -> dict[str, Any]:
    """Profiles with their flags, invariants, verbs, rules and error names of this engine."""
    return {
        "engine": ENGINE_VERSION,
        "profiles": [
            {
                "name": profile.name,
                "stands_for": profile.stands_for,
                "mode": profile.mode,
                "flags": profile.flags(),
            }
            for profile in PROFILES.values()
        ],
        "errors": errors.all_names(),
    }
