"""A tiny deterministic stand-in for the engine: Spark's own behaviour is what is tested with it."""

from __future__ import annotations

import random
import time
from typing import Any

METRICS = ("acked_lost", "steps", "wait_ms")


def play_chunk(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows that are a function of (scenario, profile, cell, seed); sleeps as the scenario says."""
    scenario = chunk["scenario"]
    rows = []
    for seed in range(chunk["first_seed"], chunk["first_seed"] + chunk["count"]):
        time.sleep(scenario.get("sleep_s", 0))
        chance = random.Random(f"{scenario['name']}/{chunk['profile']}/{seed}")
        broken = [["I7", chance.randrange(90), "lost m1"]] if chance.random() < 0.1 else []
        if broken and chance.random() < 0.5:
            broken.append(["I6", chance.randrange(90), "forked"])
        error = chance.random() < 0.01
        rows.append(
            {
                "cell": chunk["cell"],
                "profile": chunk["profile"],
                "seed": seed,
                "verdict": "error" if error else "violates" if broken else "holds",
                "invariant": broken[0][0] if broken else "",
                "step": broken[0][1] if broken else -1,
                "why": "ZeroDivisionError: 1/0" if error else broken[0][2] if broken else "",
                "broken": broken,
                "events": chance.randrange(1000),
                "log_weight": -chance.randrange(2 * 10**9) if chunk["cell"] else 0,
                "acked_lost": chance.randrange(4) if broken else 0,
                "steps": 20 + chance.randrange(9),
                "wait_ms": chance.randrange(5000) if chance.random() < 0.9 else None,
            }
        )
    return rows
