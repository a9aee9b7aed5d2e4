"""The facts of a simulation, as a recorder reads them from a cluster's disks; and side by side."""

from __future__ import annotations

from typing import Any, Final

from engine.model.broker import Broker
from engine.model.quorum import FOLLOWER, LEADER, RESIGNED, Quorum
from engine.quorum.replication import known_mark
from engine.recordings.reading import Facts
from engine.sim.simulation import Simulation

ELECTING: Final = "electing"
"""A voter without a leader; whether it is a candidate or voted for one changes by the second."""
_STATES: Final = {LEADER: "leader", FOLLOWER: "follower", RESIGNED: "resigned"}

Row = tuple[str, Any, Any]
"""(fact, the real value, the engine's)."""


def pairs(real: Facts, model: Facts) -> list[Row]:
    """Return every fact that the recording has of a step, with the engine's value of it."""
    rows: list[Row] = []
    for fact, value in real.items():
        who, _, what = fact.partition(" ")
        if not what:
            rows.append((fact, value, model.get(fact)))
        elif what == "exists":
            rows.append((fact, value, model.get(fact, False)))
        elif not model.get(f"{who} exists", False):
            if what == "LEO":  # no replica here: one difference, not one for each of its facts
                rows.append((f"{who} exists", True, False))
        elif what == "log" and f"{who} epochs" not in real:
            rows.append((fact, value, model[f"{who} names"]))
        else:
            rows.append((fact, value, model[fact]))
    return rows


def facts_now(sim: Simulation, metadata: int = 0, tp: int = 0) -> Facts:
    """Return everything a recording may say of a partition now, under the same names.

    Offsets of the metadata log count from `metadata`, its end at the beginning.
    """
    k = sim.cluster.controller
    facts: Facts = {}
    record = k.records.get(tp)
    if record is not None:
        facts["leader"] = record.leader
        facts["leaderEpoch"] = record.leader_epoch
        facts["partitionEpoch"] = record.partition_epoch
        facts["isr"] = sorted(record.isr)
        facts["elr"] = sorted(record.elr)
        facts["lastKnownElr"] = list(record.last_known_elr)
        facts["recovering"] = record.recovering
    for broker in sim.brokers.values():
        _add_replica(facts, broker, tp)
    if sim.cluster.quorum is not None:
        _add_voters(facts, sim.cluster.quorum, metadata)
    return facts


def metadata_end(sim: Simulation) -> int:
    """Return the end of the longest metadata log; 0 without a quorum."""
    quorum = sim.cluster.quorum
    return 0 if quorum is None else max(voter.log.end for voter in quorum.voters.values())


def _add_voters(facts: Facts, quorum: Quorum, began: int) -> None:
    names = {node: voter.name for node, voter in quorum.voters.items()}
    for voter in quorum.voters.values():
        who = voter.name
        state = _STATES.get(voter.state, ELECTING) if voter.alive else "down"
        facts[f"{who} exists"] = True
        facts[f"{who} state"] = state
        facts[f"{who} epoch"] = voter.epoch
        facts[f"{who} leader"] = names.get(voter.leader, "")
        facts[f"{who} vote"] = names.get(voter.voted_for, "")
        facts[f"{who} end"] = voter.log.end - began
        facts[f"{who} epochs"] = [
            [epoch, at - began] for epoch, at in voter.log.epochs if at >= began
        ]
        mark = known_mark(voter) if voter.state == LEADER and voter.alive else -1
        facts[f"{who} HW"] = mark - began if mark >= 0 else None


def _add_replica(facts: Facts, broker: Broker, tp: int) -> None:
    who = f"b{broker.id}"
    disk = broker.machine.disks.get(tp)
    facts[f"{who} exists"] = disk is not None
    if disk is None:
        return
    log = disk.log
    replica = broker.replicas.get(tp)
    records = [
        (value, batch.epoch)
        for batch in log.batches
        for offset, value in enumerate(batch.values, batch.base)
        if offset >= log.log_start
    ]
    facts[f"{who} LEO"] = log.leo
    facts[f"{who} start"] = log.log_start
    # Before 0.11 a batch says nothing of epochs: a recording then leaves them out.
    facts[f"{who} log"] = " ".join(f"{value}@{epoch}" for value, epoch in records)
    facts[f"{who} names"] = " ".join(value for value, _ in records)
    facts[f"{who} epochs"] = [list(entry) for entry in log.epochs.entries()]
    # This process has received no role yet: the mark is only on its disk.
    facts[f"{who} HW"] = log.hw if replica is not None else disk.hw_checkpoint
