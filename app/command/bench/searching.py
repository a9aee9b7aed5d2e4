"""How fast exhaustive searches are."""

from __future__ import annotations

from typing import Final

from app.command.bench.ratios import per_second, simpy_events
from engine.ladder import questions

LADDER: Final = "kip320"
SIZE: Final = {"replicas": 3, "log": 2, "records": 2, "epochs": 1}

BUDGETS: Final = {"generated_per_s": 100_000.0}
"""The least, on one core of a small server."""


def ladder() -> tuple[float, dict[str, float]]:
    """States that a search generates in a CPU-second, each with all its invariants looked at."""

    def generated(_round: int) -> int:
        outcome = questions.search(questions.model(LADDER, SIZE))
        assert outcome.complete
        return outcome.progress.generated

    states, simpy = per_second(generated), per_second(simpy_events)
    return states / simpy, {"generated_per_s": states, "simpy_timeouts_per_s": simpy}
