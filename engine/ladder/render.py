"""A way through the ladder as sentences, one a move, with the state that each leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from engine.ladder import async_isr
from engine.ladder.async_isr import AsyncIsr
from engine.ladder.partition import AbstractPartition
from engine.ladder.search import LadderMove, Violation
from engine.ladder.state import NOBODY, AbstractCluster, AbstractReplica, Record, members

MEANINGS: Final = {
    "LeaderInIsr": "The controller's leader is no member of its in-sync set.",
    "IsrNeverEmpty": "The in-sync set is empty, so nobody can ever be elected.",
    "HwLeLeo": "A high watermark lies beyond the end of its log.",
    "OneLeaderPerEpoch": "Two replicas lead in one leader epoch.",
    "WeakIsr": "A leader has committed a record that a member of its own in-sync set lacks.",
    "StrongIsr": "A leader has committed a record that somebody who may be elected lacks.",
    "EpochsMonotone": "In a log, an older epoch stands behind a newer one.",
    "LogMatching": "Two logs agree on the epoch at an offset and differ below it.",
    "CommittedAgree": "Two who presume leadership disagree about what is committed.",
    "ValidHighWatermark": "A member of the controller's in-sync set lacks a committed record.",
    "LeaderInControllerIsr": "The leader is no member of the controller's in-sync set.",
    "LeaderIsrCoversController": "The controller counts somebody in whom the leader left out.",
}
"""Meaning of each broken invariant."""


def name(replica: int) -> str:
    return chr(ord("A") + replica)


def names(isr: int) -> str:
    return "{" + ", ".join(name(member) for member in members(isr)) + "}"


def record(written: Record) -> str:
    return f"m{written[0]}@{written[1]}"


def way(model: AbstractPartition | AsyncIsr, violation: Violation) -> Iterator[str]:
    """Yield every move of a counterexample as a sentence, each followed by its result."""
    for number, move in enumerate(violation.moves, 1):
        before, after = violation.states[number - 1 : number + 1]
        if isinstance(model, AbstractPartition):
            cluster, other = model.cluster(before), model.cluster(after)
            yield f"{number:>3}. {sentence(move, cluster, other)}"
            yield f"     {picture(other)}"
        else:
            yield f"{number:>3}. {_of_request(move)}"
            yield f"     {_exchange(model.state(after))}"


# -- a partition ----------------------------------------------------------------------------------


def picture(cluster: AbstractCluster) -> str:
    """Return all replicas in a line; `|` is the high watermark."""
    replicas = "   ".join(_replica(replica) for replica in cluster.replicas)
    return f"{replicas}   in sync: {names(cluster.controller.isr)}"


def _replica(replica: AbstractReplica) -> str:
    records = [record(written) for written in replica.log]
    log = " ".join([*records[: replica.hw], "|", *records[replica.hw :]])
    role = "leads" if replica.presumes else ""
    if replica.leader not in (NOBODY, replica.me):
        role = f"follows {name(replica.leader)}"
    epoch = f" in epoch {replica.epoch}" if role else ""
    return f"{name(replica.me)} [{log}]" + (f" {role}{epoch}" if role else "")


def sentence(move: LadderMove, before: AbstractCluster, after: AbstractCluster) -> str:
    """Return a sentence for a move, with the state before and after it."""
    return _SENTENCES[move.name](move.who, before, after)


Telling = Callable[[tuple[int, ...], AbstractCluster, AbstractCluster], str]


def _elects(who: tuple[int, ...], before: AbstractCluster, after: AbstractCluster) -> str:
    return f"The controller elects {name(who[0])}: epoch {after.controller.epoch}."


def _controller_shrinks(
    who: tuple[int, ...], before: AbstractCluster, after: AbstractCluster
) -> str:
    removed, record = name(who[0]), after.controller
    if before.controller.leader != who[0]:
        return f"The controller takes {removed} out of the in-sync set: epoch {record.epoch}."
    staying = ", which it stays in, the last one" if record.isr >> who[0] & 1 else ""
    return (
        f"The controller loses its leader {removed}; nobody leads{staying}: epoch {record.epoch}."
    )


def _becomes_leader(who: tuple[int, ...], before: AbstractCluster, after: AbstractCluster) -> str:
    return f"{name(who[0])} hears that it leads in epoch {who[1]}."


def _becomes_follower(who: tuple[int, ...], before: AbstractCluster, after: AbstractCluster) -> str:
    heard = f"{name(who[0])} hears that {name(who[1])} leads in epoch {who[2]}"
    return f"{heard} {_cut(who[0], before, after)}."


def _cut(who: int, before: AbstractCluster, after: AbstractCluster) -> str:
    lost = before.replicas[who].log[after.replicas[who].end :]
    if not lost:
        return "and keeps its log"
    return f"and cuts {', '.join(record(written) for written in lost)}"


def _writes(who: tuple[int, ...], before: AbstractCluster, after: AbstractCluster) -> str:
    return f"{name(who[0])} appends {record(after.replicas[who[0]].log[-1])}."


def _leader_shrinks(who: tuple[int, ...], before: AbstractCluster, after: AbstractCluster) -> str:
    return f"{name(who[0])} takes {name(who[1])} out of the in-sync set."


def _leader_expands(who: tuple[int, ...], before: AbstractCluster, after: AbstractCluster) -> str:
    return f"{name(who[0])} takes {name(who[1])} into the in-sync set."


def _advances(who: tuple[int, ...], before: AbstractCluster, after: AbstractCluster) -> str:
    replica = after.replicas[who[0]]
    committed = (
        f" commits {record(replica.log[replica.hw - 1])}" if replica.end >= replica.hw else ""
    )
    return f"{name(who[0])}{committed}: its high watermark is {replica.hw}."


def _fetches(who: tuple[int, ...], before: AbstractCluster, after: AbstractCluster) -> str:
    replica = after.replicas[who[0]]
    fetched = f"{name(who[0])} fetches {record(replica.log[-1])} from {name(who[1])}"
    return f"{fetched}; its high watermark is {replica.hw}."


def _truncates(who: tuple[int, ...], before: AbstractCluster, after: AbstractCluster) -> str:
    told = _cut(who[0], before, after)
    return f"{name(who[0])} compares its last record with {name(who[1])} {told}."


_SENTENCES: Final[dict[str, Telling]] = {
    "controller-elects": _elects,
    "controller-shrinks": _controller_shrinks,
    "becomes-leader": _becomes_leader,
    "becomes-follower": _becomes_follower,
    "writes": _writes,
    "leader-shrinks-isr": _leader_shrinks,
    "leader-expands-isr": _leader_expands,
    "advances-hw": _advances,
    "fetches": _fetches,
    "truncates": _truncates,
}


# -- a leader and a controller that exchange requests ----------------------------------------------


def _of_request(move: LadderMove) -> str:
    replicas = ", ".join(name(replica) for replica in move.who)
    match move.name:
        case "controller-shrinks":
            return f"The controller takes {replicas} out of the in-sync set."
        case "controller-accepts":
            return f"The controller accepts the in-sync set {{{replicas}}}."
        case "leader-asks-shrink":
            return f"The leader asks to take {replicas} out."
        case "leader-asks-expand":
            return f"The leader asks to take {replicas} in."
        case "leader-learns":
            isr = ", ".join(name(replica) for replica in move.who[:-1])
            return f"The leader learns of version {move.who[-1]}: {{{isr}}}."
        case "writes":
            return "The leader writes."
        case _:
            return f"{replicas} fetches."


def _exchange(state: async_isr.AsyncIsrState) -> str:
    offsets = ", ".join(f"{name(who)} {offset}" for who, offset in enumerate(state.offsets))
    return (
        f"controller {names(state.isr)} version {state.version}   leader "
        f"{names(state.leader_isr)} version {state.leader_version}, maximal "
        f"{names(state.maximal)}, HW {state.hw}   ends {offsets}"
    )
