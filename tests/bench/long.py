"""Benchmark of a long run, through the live channel: its first picture, its end, seeks to any step.

The first picture is a ratio of the time until the end is known, measured on the same server.
"""

from __future__ import annotations

import json
import random
import statistics
import time
import urllib.request
from typing import Final

from engine.scenarios.file import find
from engine.sim.run import Run
from tests.bench.frame import p95
from tests.bench.server import ServerWire, serving

RUNS: Final = 3
LASTS: Final = "run 65m"
"""About 100,000 events."""
SEEKS: Final = 40
BUDGETS: Final = {"first_ms": 300.0, "seek_ms": 10.0}


def long() -> tuple[float, dict[str, float]]:
    """Return the time until the first picture, over that until the end is known; and the times."""
    first, whole, seeks = [], [], []
    fast = {"moves_per_s": "1000000", "moves_burst": "100000", "opens_burst": "100"}
    with serving(**fast) as port:
        for seed in range(RUNS):
            text = Run(find("S61"), "K39", seed, (LASTS,)).text()
            with ServerWire(port) as wire:
                wire.ask("open", {"scenario": "S20"})
                began = time.perf_counter()
                run = wire.ask("open", {"text": text, "early": True, "ahead": 32})["run"]
                first.append(time.perf_counter() - began)
            address = f"http://127.0.0.1:{port}/r/{run}/facts.json"
            with urllib.request.urlopen(address) as answer:
                total = json.load(answer)["facts"]["total"]
            whole.append(time.perf_counter() - began)
            chance = random.Random(seed)
            with ServerWire(port) as wire:
                for _ in range(SEEKS):
                    step = chance.randrange(total)
                    began = time.perf_counter()
                    wire.ask("seek", {"run": run, "step": step})
                    seeks.append(time.perf_counter() - began)
    figures = {
        "first_ms": 1e3 * statistics.median(first),
        "whole_ms": 1e3 * statistics.median(whole),
        "seek_ms": 1e3 * statistics.median(seeks),
        "seek_p95_ms": 1e3 * p95(seeks),
    }
    return figures["first_ms"] / figures["whole_ms"], figures
