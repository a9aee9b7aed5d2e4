"""Timers of the voters of a quorum, fired by a move without advancing the clock."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify
from typing import Final

from engine.model import timers
from engine.model.effects import Effects
from engine.model.quorum import FOLLOWER, LEADER, Voter
from engine.quorum import raft
from engine.sim import active_controller
from engine.sim.kernel import TIMER, Event
from engine.sim.world import World

REPEATING: Final = (timers.VOTER_FETCH, timers.VOTER_RESEND, timers.PARKED_FETCH)
"""Timers after which a voter sends again, or answers a fetch that waits."""


def has_timeout(v: Voter) -> bool:
    """Return True if a voter waits for a timeout: all do except a leader without quorum check."""
    return v.alive and (v.state != LEADER or v.check_ms > 0)


def repeating(sim: World, v: Voter) -> Iterator[Event]:
    """Return the pending timers of a voter's repeated actions, in no order."""
    for event in sim.kernel.pending:
        _, kind, node, _, payload = event
        if kind == TIMER and node == v.id and _is_live(v, payload[0], payload[1]):
            yield event


def _is_live(v: Voter, kind: int, data: object) -> bool:
    if not v.alive or kind not in REPEATING:
        return False
    if kind == timers.VOTER_FETCH:
        return v.state == FOLLOWER and v.since == data and not v.fetching
    assert isinstance(data, tuple)
    if kind == timers.VOTER_RESEND:
        return bool(v.since == data[2])
    request = v.parked.get(data[0])
    return request is not None and bool(request.corr == data[1])


def time_out(sim: World, node: int) -> None:
    """Expire the timeout of a voter's current state (`pollCurrentState`)."""
    v = active_controller.quorum_of(sim).voters[node]

    def action(out: Effects) -> None:
        v.deadline = v.check_at = out.now
        raft.on_timeout(active_controller.rules_of(sim), v, out.now, out)

    sim.act(TIMER, node, f"timeout {v.name}", action)


def repeat(sim: World, node: int) -> None:
    """Fire the timers of a voter's repeated actions."""
    v = active_controller.quorum_of(sim).voters[node]
    events = sorted(repeating(sim, v), key=lambda event: event[:4])

    def action(out: Effects) -> None:
        for event in events:
            sim.kernel.pending.remove(event)
            heapify(sim.kernel.pending)
            active_controller.fire(sim, node, event[4][0], event[4][1])

    sim.act(TIMER, node, f"repeat {v.name}", action)
