"""States of a partition from lines that have no partition epoch.

Excerpts of ISR changes lack the leader epoch, too; releases before 2.0 log no partition epoch.  The
states are numbered in the order of time, from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.kafka.metadata import PartitionMetadata
from app.reading.events import Event

FIRST_EPOCH: Final = 1
"""Partition epoch of the first state: 0 would be a partition that is new."""

Timed = tuple[float, Event]


def states_of(events: Sequence[Timed]) -> tuple[list[tuple[float, PartitionMetadata, Event]], bool]:
    """Return the states with their times and lines, and whether the leader epoch is assumed."""
    states: list[tuple[float, PartitionMetadata, Event]] = []
    has_epochs = False
    for at, (time_ms, event) in enumerate(events):
        if event.kind == "refused" and states and _asked(states[-1][2], event.node):
            states.pop()  # the leader's ISR change was not written
            continue
        has_epochs |= "le" in event.data
        for state in _after(states[-1][1] if states else None, event, events[at + 1 :]):
            if states and _same(states[-1][1], state):
                continue
            numbered = replace(state, partition_epoch=FIRST_EPOCH + len(states))
            states.append((time_ms, numbered, event))
    return states, not has_epochs


def _asked(event: Event, node: str) -> bool:
    return event.kind in ("grows", "shrinks") and event.node == node


def _same(one: PartitionMetadata, other: PartitionMetadata) -> bool:
    known = (one.leader, one.leader_epoch, set(one.isr))
    return known == (other.leader, other.leader_epoch, set(other.isr))


def _after(
    now: PartitionMetadata | None, event: Event, later: Sequence[Timed]
) -> list[PartitionMetadata]:
    """Return the states that a line shows, in order."""
    data, replicas = event.data, () if now is None else now.replicas
    if event.kind in ("record", "sent") and "le" in data:
        if now is not None and data["le"] < now.leader_epoch:
            return []
        listed = tuple(data.get("set", ())) or replicas
        isr = tuple(data["isr"])
        return [PartitionMetadata(max(-1, data["leader"]), data["le"], 0, isr, listed)]
    if not event.node.isdigit():
        return []
    leader = int(event.node)
    if event.kind == "leads":
        if now is not None and data["le"] <= now.leader_epoch:
            return []
        isr = tuple(data.get("isr") or _isr_before(later, event.node) or ())
        if not isr and now is not None and leader in now.isr:
            dead = now.leader if now.leader != leader else -1
            isr = tuple(replica for replica in now.isr if replica != dead)
        return [PartitionMetadata(leader, data["le"], 0, isr, replicas)] if leader in isr else []
    if event.kind not in ("grows", "shrinks", "granted"):
        return []
    epoch = 0 if now is None else now.leader_epoch + (now.leader not in (leader, -1))
    epoch += now is not None and now.leader == -1
    after = PartitionMetadata(leader, epoch, 0, tuple(data["isr"]), replicas)
    before = tuple(data.get("before", ()))
    if not before or leader not in before:
        return [after]
    return [replace(after, isr=before), after]


def _isr_before(later: Sequence[Timed], node: str) -> list[int] | None:
    """Return the ISR that a new leader has at its first change."""
    for _, event in later:
        if event.kind == "leads":
            return None
        if event.kind in ("grows", "shrinks") and event.node == node:
            return event.data["before"]
    return None
