"""Random moves from what the engine itself offers, and the line that plays them again."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from engine.scenarios.scenario import Scenario
from engine.show.suggesting import suggestions
from engine.sim import moves
from engine.sim.run import Run
from engine.sim.simulation import Simulation

WORLDS = {
    "manual": Scenario.from_dict({"title": "x", "brokers": 3}),
    "two of three": Scenario.from_dict(
        {"title": "x", "brokers": 3, "configs": {"min.insync.replicas": 2}}
    ),
    "auto": Scenario.from_dict(
        {
            "title": "x",
            "brokers": 3,
            "fetching": "auto",
            "network": {"delay_ms": [0, 5], "control_delay_ms": [0, 5]},
        }
    ),
    "two partitions": Scenario.from_dict(
        {"title": "x", "brokers": 3, "partitions": [[1, 2, 3], [2, 3]]}
    ),
}

DIRTY = ("power", "wipe", "elect unclean", "jump")
"""Moves that break the assumptions A1 and A2: data lost on disk, leaders from outside the ISR."""


def is_clean(line: str) -> bool:
    return not line.startswith(DIRTY)


def allowed(sim: Simulation, wanted: Callable[[str], bool]) -> dict[str, list[str]]:
    """What can be done now, by verb: so that a verb with many targets is not drawn more often."""
    found: dict[str, list[str]] = {}
    for line in suggestions(sim):
        move = moves.parse(line, sim.scenario.brokers)
        if wanted(line) and not move.verb.why_not(sim, move.args):
            found.setdefault(move.verb.name, []).append(line)
    return found


def advance(sim: Simulation, line: str) -> None:
    for _ in moves.play(sim, moves.parse(line, sim.scenario.brokers)):
        pass


def again(world: str, profile: str, lines: list[str]) -> str:
    """The command that repeats a random run: its moves, and whole."""
    run = Run(WORLDS[world], profile, 0, tuple(lines))
    return f"--moves {shlex.quote('; '.join(lines))} is: highwater run {shlex.quote(run.text())}"
