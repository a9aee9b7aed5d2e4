"""Brokers of a pasted cluster that are down: as given, as a list shows, or as must be assumed."""

from __future__ import annotations

from collections.abc import Iterable

from app.reading.facts import Facts, Notice, PastedPartition, Press
from app.reading.names import topic_of


def offline_of(
    facts: Facts, chosen: list[PastedPartition], brokers: list[int], notes: list[Notice]
) -> list[int]:
    """Return the brokers that are down; each assumption is a note that says how to change it."""
    every = facts.partitions.values()
    leading = {part.leader for part in every if part.leader >= 0} | facts.leading
    offline = facts.offline & set(brokers)
    listed = facts.alive or facts.members
    up = facts.running | leading | (listed & set(brokers))
    down = offline - leading - (facts.running - offline)
    for broker in sorted(offline & leading):
        notes.append(Notice("paste.note.leads", {"broker": broker}))
    absent = set(brokers) - listed - up - down if listed else set()
    dead = _of_leaderless(facts, chosen, up, notes) - down - up - absent
    if dead:
        names = [part.name for part in chosen if part.leader < 0 and dead & {*part.isr, *part.elr}]
        args = {"brokers": sorted_ids(dead), "names": few(names)}
        key = "paste.note.offline.leaderless"
        notes.append(Notice(key, args, choices=running(dead), topics=topics_of(names)))
    missing = absent or _absent(facts, brokers) - up - down - dead
    if missing:
        key = "listed" if facts.alive else "quorum" if facts.members else "assumed"
        args = {"brokers": sorted_ids(missing)}
        notes.append(Notice(f"paste.note.offline.{key}", args, choices=running(missing)))
    return sorted((down | dead | missing) & set(brokers))


def _absent(facts: Facts, brokers: list[int]) -> set[int]:
    """Return brokers in no ISR, unless a list or a column has all that are down."""
    if facts.alive or facts.members:
        return set()
    every = facts.partitions.values()
    in_sync = {member for part in every if part.leader >= 0 for member in part.isr} | facts.seen
    accounted = {member for part in every if part.offline_known for member in part.replicas}
    in_sync |= {member for part in every if part.leader < 0 for member in (*part.isr, *part.elr)}
    return set(brokers) - in_sync - accounted


def _of_leaderless(
    facts: Facts, chosen: list[PastedPartition], up: set[int], notes: list[Notice]
) -> set[int]:
    """Return the ISR or ELR of a leaderless partition: were a member alive, it would lead.

    Where one is alive for sure, a note says that an election is due.
    """
    dead: set[int] = set()
    for part in chosen:
        if part.leader >= 0 or not part.isr_known:
            continue
        members = {*part.isr, *part.elr}
        alive = members & up - facts.offline
        if part.offline_known:
            alive |= members - facts.offline
        if alive:
            args = {"name": part.name, "brokers": sorted_ids(alive)}
            notes.append(Notice("paste.note.election", args, part.line, topics=(part.topic,)))
        dead |= members - alive
    return dead - facts.offline


def running(brokers: set[int]) -> tuple[Press, ...]:
    """Return a button for each broker that says that it runs."""
    return tuple(
        Press("cluster.put.running", {"broker": broker}, f"# broker {broker} is running")
        for broker in sorted(brokers)[:6]
    )


def sorted_ids(brokers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(brokers)))


def topics_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the topics of partitions, each once."""
    return tuple(dict.fromkeys(map(topic_of, names)))


def few(names: list[str], most: int = 6) -> str:
    """Return the first names, and a sign that there are more."""
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")
