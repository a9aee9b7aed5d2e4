"""Rung of the ladder that a release is held against."""

from __future__ import annotations

from typing import Final

from engine.ladder.rungs import RUNGS, Rung
from engine.model.errors import InputError
from engine.model.profiles import (
    FETCH,
    HW,
    KIP101,
    KIP279,
    KIP279_FENCED,
    PROFILES,
    Profile,
)

BY_TRUNCATION: Final = {
    HW: "trunc_hw",
    KIP101: "kip101_clamped",
    KIP279: "kip279",
    KIP279_FENCED: "kip320",
    FETCH: "kip320",
}
"""Brokers cut to the smaller of the answer and their own end, so KIP-101 is the clamped rung.  From
2.8 on the fetch itself tells where logs part; what it cuts to is the same end."""


def rung_of(profile: Profile) -> str:
    """Return the rung of the release alone: a flipped flag is what the rung is to notice."""
    return BY_TRUNCATION[PROFILES[profile.base].truncation]


def rung(name: str) -> Rung:
    """Raise InputError for a rung that there is not."""
    if name not in RUNGS:
        raise InputError("unknown", f"There is no rung {name[:40]}; there are: {', '.join(RUNGS)}.")
    return RUNGS[name]
