"""Event budget of a run at scale: more for more virtual time, and always bounded."""

from __future__ import annotations

from typing import Final

from engine.model.errors import InputError
from engine.moves import moves
from engine.sim.run import Run
from engine.sim.simulation import Simulation

EVENTS_LEAST: Final = 500_000
"""Events of any run, however short."""
EVENTS_PER_BROKER_S: Final = 100
"""Per broker and second of virtual time.  Three brokers with default settings and a record a second
have 6 (1.6 million a day, in 12 s of a core): a run with far more has run away."""
EVENTS_MOST: Final = 20_000_000
"""Most events of any run, however long: some minutes of a core, which no other run gets.  The one
bound on the cost of a run."""


def planned_ms(run: Run) -> int:
    """Return the virtual time that the moves of a run ask for, up to one that cannot be read."""
    clock = 0
    for line in run.lines():
        try:
            move = moves.parse(line, run.scenario.brokers)
        except InputError:
            break
        if move.verb.name == "run":
            clock += move.args["ms"] or run.scenario.duration_ms
        elif move.verb.name == "advance":
            clock += move.args["ms"]
        elif move.verb.name == "at":
            clock = max(clock, move.args["ms"])
    return clock


def event_budget(run: Run) -> int:
    """Return the events of a run at scale; beyond that it has run away, and its row says so."""
    for_time = EVENTS_PER_BROKER_S * len(run.scenario.brokers) * planned_ms(run) // 1000
    return min(EVENTS_MOST, max(EVENTS_LEAST, for_time))


def expected_events(sim: Simulation, run: Run) -> int:
    """Return the events of the whole run, by how far its clock came where the budget ended it."""
    if sim.events <= sim.budget:
        return sim.events
    reached = max(1, sim.now)
    return sim.events * max(reached, planned_ms(run)) // reached
