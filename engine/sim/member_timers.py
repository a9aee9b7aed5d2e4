"""Timers of consumer groups, fired by a move without advancing the clock."""

from __future__ import annotations

from heapq import heapify

from engine.clients.group_member import GroupMember
from engine.groups import coordinator
from engine.model import timers
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.messages import FIRST_CONSUMER
from engine.model.state import UP
from engine.sim.kernel import TIMER, Event
from engine.sim.world import World


def sessions(sim: World, member: GroupMember) -> list[Process]:
    """Return the coordinators that wait for a heartbeat of this member, dead or alive."""
    processes = [broker.process for broker in sim.cluster.brokers.values()]
    return [
        process
        for process in processes
        if process is not None
        and process.status == UP
        and coordinator.silent(process, member.group, member.id)
    ]


def time_out(sim: World, member: GroupMember) -> None:
    """End the session of a member at its coordinator."""
    for session in sessions(sim, member):
        broker = sim.brokers[session.id].running

        def action(out: Effects, broker: Process = broker) -> None:
            late = coordinator.silent(broker, member.group, member.id)
            coordinator.remove(broker, member.group, late, out)

        sim.act(TIMER, broker.id, f"timeout C{FIRST_CONSUMER - member.id + 1}", action)


def repeating(sim: World, member: GroupMember) -> list[Event]:
    """Return the timers after which a member sends a request again, or its next heartbeat."""
    if not member.alive or member.group_corr or (member.beat_corr and not member.task):
        return []
    kind = timers.GROUP_RETRY if member.task else timers.GROUP_BEAT
    return [
        event
        for event in sim.kernel.pending
        if event[1] == TIMER and event[2] == member.id and event[4][:2] == (kind, member.starts)
    ]


def repeat(sim: World, member: GroupMember) -> None:
    """Send a member's heartbeat, or again what was refused or lost."""
    events = repeating(sim, member)

    def action(out: Effects) -> None:
        for event in events:
            sim.kernel.pending.remove(event)
        heapify(sim.kernel.pending)
        member.on_timer(events[0][4][0], member.starts, out)

    sim.act(TIMER, member.id, f"repeat C{FIRST_CONSUMER - member.id + 1}", action)
