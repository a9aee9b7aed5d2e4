"""Log lines about the ISR, in the words of each release (`Partition` at its tag)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.model.effects import Cue
from engine.model.errors import (
    FENCED_LEADER_EPOCH,
    INVALID_REQUEST,
    INVALID_UPDATE_VERSION,
    UNKNOWN_TOPIC_ID,
    UNKNOWN_TOPIC_OR_PARTITION,
    name_of,
)
from engine.model.state import EXPAND, Replica
from engine.sim.simulation import Simulation

Line = tuple[str, str]
"""Level and text."""

_REASONS: Final = {
    UNKNOWN_TOPIC_OR_PARTITION: "since the controller doesn't know about this topic or partition",
    UNKNOWN_TOPIC_ID: "since the controller doesn't know about this topic",
    FENCED_LEADER_EPOCH: "since the leader epoch is old",
    INVALID_UPDATE_VERSION: "because the partition epoch is invalid",
    INVALID_REQUEST: "because the request is invalid",
}
"""3.2 and later."""

_OLD_REASONS: Final = {
    UNKNOWN_TOPIC_OR_PARTITION: "since it doesn't know about this topic or partition",
    FENCED_LEADER_EPOCH: "since we sent an old leader epoch",
    INVALID_UPDATE_VERSION: "due to invalid version",
}
"""2.8 to 3.1."""


def ident(sim: Simulation, node: int, name: str) -> str:
    """Return `Partition.logIdent`: "Partition [t,0] on broker 1:", or "[Partition t-0 broker=1]".

    The second is from 1.0 on.  `name`: the partition's, or "" where it is not known.
    """
    if not name:
        return f"[Partition broker={node}]"
    if sim.profile.release >= (1, 0):
        return f"[Partition {name} broker={node}]"
    return f"Partition {_pair(name)} on broker {node}:"


def line(sim: Simulation, cue: Cue) -> Line | None:
    """Return the leader's log line; None where the release logs nothing at INFO or DEBUG."""
    name = sim.cluster.names[cue.tp]
    entry = RULES[cue.rule](sim, cue, name)
    if entry is None:
        return None
    level, text = entry
    return level, f"{ident(sim, cue.node, name)} {text}"


def _pair(name: str) -> str:
    topic, _, number = name.rpartition("-")
    return f"[{topic},{number}]"


def _ids(ids: Any) -> str:
    return ",".join(map(str, ids))


def _replica(sim: Simulation, cue: Cue) -> Replica | None:
    process = sim.brokers[cue.node].process
    return None if process is None else process.replicas.get(cue.tp)


def _shrinking(sim: Simulation, cue: Cue, name: str) -> Line:
    """Return the line of `Partition.maybeShrinkIsr`."""
    release, change = sim.profile.release, f"from {_ids(cue.old)} to {_ids(cue.new)}"
    if release < (0, 11):
        return "INFO", f"Shrinking ISR for partition {_pair(name)} {change}"
    replica = _replica(sim, cue)
    if release < (2, 2) or replica is None:
        return "INFO", f"Shrinking ISR {change}"
    late = " ".join(
        f"(brokerId: {member}, endOffset: {replica.remote[member].leo})"
        for member in cue.old
        if member not in cue.new and member in replica.remote
    )
    leader = f"Leader: (highWatermark: {replica.log.hw}, endOffset: {replica.log.leo})."
    return "INFO", f"Shrinking ISR {change}. {leader} Out of sync replicas: {late}."


def _expanding(sim: Simulation, cue: Cue, name: str) -> Line | None:
    """Return the line of `Partition.maybeExpandIsr`; none for a proposal (2.7 and later)."""
    release, change = sim.profile.release, f"from {_ids(cue.old)} to {_ids(cue.new)}"
    if sim.profile.alter_partition:
        return None
    if release >= (0, 11):
        return "INFO", f"Expanding ISR {change}"
    where = name if release >= (0, 10, 2) else _pair(name)
    return "INFO", f"Expanding ISR for partition {where} {change}"


def _updated(sim: Simulation, cue: Cue, name: str) -> Line | None:
    """Return the line of `Partition.updateIsr`, later `handleAlterPartitionUpdate`."""
    release, replica = sim.profile.release, _replica(sim, cue)
    version = -1 if replica is None else replica.partition_epoch
    isr = _ids(cue.new)
    if release < (2, 4):
        return None  # at TRACE
    if release < (2, 7):
        return "INFO", f"ISR updated to [{isr}] and zkVersion updated to [{version}]"
    if release < (2, 8):
        return "INFO", f"ISR updated from AlterIsr to {isr} and version updated to [{version}]"
    if release < (3, 2):
        return "INFO", f"ISR updated to {isr} and version updated to [{version}]"
    if release < (3, 5):
        return "INFO", f"ISR updated to {isr} and version updated to {version}"
    few = "(under-min-isr)" if replica and len(replica.isr) < replica.min_isr() else ""
    return "INFO", f"ISR updated to {isr} {few} and version updated to {version}"


def _dropped(sim: Simulation, cue: Cue, name: str) -> Line:
    """Return the line of a change that failed on the version (before 2.7) or was refused."""
    release, replica = sim.profile.release, _replica(sim, cue)
    if not sim.profile.alter_partition:
        version = -1 if replica is None else replica.partition_epoch
        shown = f"[{version}]" if release < (2, 4) else str(version)
        text = f"Cached zkVersion {shown} not equal to that in zookeeper, skip updating ISR"
        return "INFO", text
    change = "PendingExpandIsr" if set(cue.old) - set(cue.new) else "PendingShrinkIsr"
    if release < (3, 3):
        return "DEBUG", f"Failed to alter partition to {change}, it is still inflight"
    rejected = "since the controller rejected the request with INELIGIBLE_REPLICA."
    reset = f"Partition state has been reset to the latest committed state {_ids(cue.new)}."
    return "INFO", f"Failed to alter partition to {change} {rejected} {reset}"


def _waiting(sim: Simulation, cue: Cue, name: str) -> Line:
    """Return the line of `handleAlterIsrResponse`, from 3.2 `handleAlterPartitionError`."""
    release, replica = sim.profile.release, _replica(sim, cue)
    shrinks = replica is not None and replica.pending != EXPAND
    change = "PendingShrinkIsr" if shrinks else "PendingExpandIsr"
    if release < (2, 8):
        old = _OLD_REASONS.get(cue.new, f"due to {name_of(cue.new)}")
        reason = old.replace("invalid version", "invalid zk version")
        return "DEBUG", f"Controller failed to update ISR to {change} {reason}. Giving up."
    if release < (3, 2):
        reason = _OLD_REASONS.get(cue.new, f"due to {name_of(cue.new)}")
        return "DEBUG", f"Failed to update ISR to {change} {reason}. Giving up."
    reason = _REASONS.get(cue.new, f"due to {name_of(cue.new)}")
    rest = "Giving up."
    if release >= (3, 3):
        rest = "Partition state may be out of sync, awaiting new the latest metadata."
    return "DEBUG", f"Failed to alter partition to {change} {reason}. {rest}"


RULES: Final[dict[str, Callable[[Simulation, Cue, str], Line | None]]] = {
    "S-7": _expanding,
    "S-8": _shrinking,
    "S-9": _updated,
    "S-9.rejected": _dropped,
    "S-9.pending": _waiting,
}
"""Rule -> what is logged."""
