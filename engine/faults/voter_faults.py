"""Crashes and starts of the voters of a KRaft quorum (control-plane 10.1), each one event."""

from __future__ import annotations

from engine.model.effects import Effects
from engine.model.quorum import Quorum
from engine.sim import active_controller
from engine.sim.kernel import FAILURE
from engine.sim.world import World


def _name(sim: World, node: int) -> str:
    return active_controller.quorum_of(sim).voters[node].name


def kill(sim: World, node: int) -> None:
    """Kill a voter's process; its log and its quorum-state file were flushed and stay."""

    def action(out: Effects) -> None:
        out.cue("CP-10.killed", node, "process", "up", "down")
        active_controller.kill_voter(sim, node)

    sim.act(FAILURE, node, f"kill {_name(sim, node)}", action)


def shut_down(sim: World, node: int) -> None:
    """Stop a voter's process in order: it ends once it knows another leader, or after a while."""

    def action(out: Effects) -> None:
        out.cue("CP-10.stopping", node, "process", "up", "shutting down")
        active_controller.stop_voter(sim, node, out)

    sim.act(FAILURE, node, f"shutdown {_name(sim, node)}", action)


def start(sim: World, node: int) -> None:
    """Start a voter in the state of its quorum-state file."""

    def action(out: Effects) -> None:
        out.cue("CP-10.started", node, "process", "down", "up")
        active_controller.start_voter(sim, node, out)

    sim.act(FAILURE, node, f"restart {_name(sim, node)}", action)


def start_all(sim: World, quorum: Quorum) -> None:
    for node, voter in quorum.voters.items():
        if not voter.alive:
            start(sim, node)
