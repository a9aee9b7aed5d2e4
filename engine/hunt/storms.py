"""The storms: small clusters to which everything happens at once, as scenarios."""

from __future__ import annotations

from importlib import resources
from typing import Final

from engine.model.errors import InputError
from engine.scenarios.file import load_text
from engine.scenarios.scenario import Scenario

NAMES: Final = ("restarts", "voters", "disks", "tier", "groups", "links", "elections", "mixed")
RELEASES: Final = ("K39", "K40", "K41", "4.4.0")
"""3.9, 4.0, 4.1 (4.2 has the same rules) and 4.4."""


def storm(name: str) -> Scenario:
    """Return a storm by its name.  Raises InputError."""
    if name not in NAMES:
        raise InputError("invalid", "There is no storm {0}; there are {1}.", name, ", ".join(NAMES))
    text = resources.files(__package__).joinpath("worlds", f"{name}.yaml").read_text("utf-8")
    return load_text(text, f"storms/{name}.yaml", f"storm-{name}")
