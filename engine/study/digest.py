"""A run's end in 16 hex digits: the same on every machine, under every Python."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from engine.model import log
from engine.sim.simulation import Simulation
from engine.view.view import view


def digest(sim: Simulation) -> str:
    """Return a digest of all that can be seen: view, ledger, verdict, wire and clock."""
    ledger = sim.ledger
    seen = [
        view(sim),
        sim.now,
        sim.events,
        sim.broken,
        sim.checker.counts,
        [[(a.base, a.values, a.latency_ms) for a in of_one] for of_one in ledger.acked],
        [sorted((base, repr(b)) for base, b in of_one.items()) for of_one in ledger.committed],
        ledger.truncated,
        ledger.unavailable_ms,
        [(event[0], event[1], event[2]) for event in sorted(sim.kernel.pending, key=_order)],
    ]
    return sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:16]


def is_compiled() -> bool:
    """Return True if this process plays compiled modules; digests are the same either way."""
    return not str(log.__file__).endswith(".py")


def _order(event: Any) -> tuple[int, int, int, int]:
    return event[:4]  # type: ignore[no-any-return]
