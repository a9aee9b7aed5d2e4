"""The operator of a fault plan: moves that are drawn while a workload plays (control-plane 8)."""

from __future__ import annotations

from typing import Final

from engine.faults.fault_record import Strikes
from engine.faults.plan_kinds import PLAN_KINDS, PlanKind
from engine.model.messages import CONTROLLER
from engine.moves import moves
from engine.sim.simulation import Simulation
from engine.sim.world import World

OPERATED: Final = frozenset({
    "add_partitions", "checkpoint", "cut", "delete", "die", "disk_fail", "elect", "flush",
    "heal", "join", "jump", "kill", "leave", "lose", "move_dir", "pause", "power", "reassign",
    "restart", "resume", "set", "shutdown", "slow", "slow_disk", "store", "tick", "unregister",
    "wipe",
})  # fmt: skip
"""Verbs whose first event is all they do by themselves; what follows, the clock plays."""


def operate(sim: World, struck: tuple[int, ...], plan: Strikes) -> None:
    """Play one of the plan's moves, drawn among those that can be played now."""
    assert isinstance(sim, Simulation)
    parsed = [parse(line, sim) for line in plan.fault.moves]
    possible = [move for move in parsed if not moves.why_not(sim, move)]
    if not possible:
        plan.played.append("")
        return
    move = possible[plan.chance.below(len(possible))]
    plan.played.append(move.text)
    next(move.verb.play(sim, move.args))


def parse(line: str, sim: Simulation) -> moves.Move:
    """Return a move of an operator.  Raises InputError for one that he cannot play in passing."""
    move = moves.parse(line, sim.scenario.brokers)
    broad = move.args.get("broker") == CONTROLLER or move.args.get("a", 0) is None
    if move.verb.name not in OPERATED or broad or move.limit >= 0:
        raise moves.invalid("An operator of a fault plan cannot play “{0}”.", line)
    return move


PLAN_KINDS["operator"] = PlanKind(operate, None, running=lambda sim, group: group)
