"""Faults of the voters of a KRaft quorum (control-plane 10.1) and their ends, each one event."""

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
        v = active_controller.quorum_of(sim).voters[node]
        is_blank = not (v.log.end or v.epoch)
        out.cue("CP-10.blank" if is_blank else "CP-10.started", node, "process", "down", "up")
        active_controller.start_voter(sim, node, out)

    sim.act(FAILURE, node, f"restart {_name(sim, node)}", action)


def pause(sim: World, node: int) -> None:
    """8.3.  Freeze a voter's process."""

    def action(out: Effects) -> None:
        out.cue("CP-10.paused", node, "process", "up", "paused")
        active_controller.pause_voter(sim, node, out)

    sim.act(FAILURE, node, f"pause {_name(sim, node)}", action)


def resume(sim: World, node: int) -> None:
    def action(out: Effects) -> None:
        out.cue("CP-10.resumed", node, "process", "paused", "up")
        active_controller.resume_voter(sim, node, out)

    sim.act(FAILURE, node, f"resume {_name(sim, node)}", action)


def resume_all(sim: World) -> None:
    for node, voter in active_controller.quorum_of(sim).voters.items():
        if voter.paused:
            resume(sim, node)


def wipe(sim: World, node: int) -> None:
    """Replace a voter's disk by an empty, formatted one; stops the process if it runs."""

    def action(out: Effects) -> None:
        out.cue("CP-10.wiped", node, "disk", "full", "empty")
        active_controller.wipe_voter(sim, node)

    sim.act(FAILURE, node, f"wipe {_name(sim, node)}", action)


def start_all(sim: World, quorum: Quorum) -> None:
    for node, voter in quorum.voters.items():
        if not voter.alive:
            start(sim, node)
