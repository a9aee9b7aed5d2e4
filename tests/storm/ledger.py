"""Ledger of a storm: promises made by the server, and their outcome."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.batch.runners.rows import chunks_on_disk, read_chunks
from tests.storm.net import Browser

KEPT: Final = "kept"
"""What was acknowledged stays."""
PRIVATE: Final = "private"
"""A visitor sees and changes only what is his."""
QUICK: Final = "quick"
"""An honest step takes at most QUICK_MS (p99)."""
BOUNDED: Final = "bounded"
"""No visitor takes more than his share."""
ANSWERED: Final = "answered"
"""Every question gets an answer, or a sentence that says why not."""
PLAYS: Final = "plays"
"""The library plays on."""
MENDS: Final = "mends"
"""Once a fault is over the server is well again, without an operator."""
PROMISES: Final = (KEPT, PRIVATE, QUICK, BOUNDED, ANSWERED, PLAYS, MENDS)
QUICK_MS: Final = 250.0


@dataclass
class Study:
    """A batch whose start was acknowledged to a browser."""

    number: str
    runs: int
    profiles: tuple[str, ...]
    owner: Browser

    def wrong(self, directory: Path) -> str:
        """Return what is wrong with its rows: "" where every run is there, once."""
        place = str(directory / self.number)
        try:
            rows = list(read_chunks(place, chunks_on_disk(place)))
        except (OSError, ValueError):
            return "rows that cannot be read"
        found = Counter((row["profile"], row["seed"]) for row in rows)
        wanted = {(profile, seed) for profile in self.profiles for seed in range(self.runs)}
        lost = len(wanted - found.keys())
        double = sum(count - 1 for count in found.values())
        return f"{lost} runs lost, {double} double" if lost or double else ""


@dataclass
class Ledger:
    """Acknowledgements that visitors received, by time."""

    saves: dict[str, str] = field(default_factory=dict)
    """Digest -> "scenario" or "run"."""
    studies: dict[str, Study] = field(default_factory=dict)
    kept: Counter[str] = field(default_factory=Counter)
    """Address -> bytes of scenarios that it was told are saved."""
    steps_ms: list[float] = field(default_factory=list)
    broken: list[tuple[str, str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def fail(self, promise: str, how: str) -> None:
        self.broken.append((promise, how))

    def p99_ms(self) -> float:
        if len(self.steps_ms) < 2:
            return 0.0
        return statistics.quantiles(self.steps_ms, n=100)[98]
