"""The facts of a simulation, as a recorder reads them from a cluster's disks; and side by side."""

from __future__ import annotations

import re
from typing import Any, Final

from engine.clients.group_member import GroupMember
from engine.groups import coordinator
from engine.model.broker import Broker
from engine.model.groups import Group
from engine.model.messages import FIRST_CONSUMER, LATEST
from engine.model.quorum import FOLLOWER, LEADER, RESIGNED, Quorum
from engine.model.state import UP, Replica
from engine.quorum.replication import known_high_watermark
from engine.recordings.reading import Facts
from engine.sim.simulation import Simulation

ELECTING: Final = "electing"
"""A voter without a leader; whether it is a candidate or voted for one changes by the second."""
_STATES: Final = {LEADER: "leader", FOLLOWER: "follower", RESIGNED: "resigned"}

NEW_COORDINATOR: Final = (4, 0)
"""Release whose coordinator is `GroupMetadataManager` (KIP-848), for classic groups, too."""
STABLE: Final = "Stable"
PREPARING: Final = "PreparingRebalance"
_GENERATION: Final = re.compile(r"g\d+:")

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


def facts_now(sim: Simulation, metadata: int = 0) -> Facts:
    """Return everything a recording may say of partition 0 now, under the same names.

    Offsets of the metadata log count from `metadata`, its end at the beginning.
    """
    facts: Facts = {}
    _add_partition(facts, sim, 0, "", "")
    if sim.cluster.quorum is not None:
        _add_voters(facts, sim.cluster.quorum, metadata)
    groups, topic = sim.scenario.groups, len(sim.scenario.partitions)
    for number in range(1, topic + len(groups)) if groups else ():
        _add_partition(facts, sim, number, f"p{number} ", f":{number}")
    for number, group in enumerate(groups, topic):
        _add_group(facts, sim, group.name, number)
    for client in sim.clients.values():
        if isinstance(client, GroupMember):
            _add_member(facts, sim, client)
    return facts


def _add_partition(facts: Facts, sim: Simulation, tp: int, partition: str, place: str) -> None:
    """Add the record of a partition, and its replicas."""
    record = sim.cluster.controller.records.get(tp)
    if partition:
        facts[f"{partition}exists"] = record is not None
    if record is not None:
        facts[f"{partition}leader"] = record.leader
        facts[f"{partition}leaderEpoch"] = record.leader_epoch
        facts[f"{partition}partitionEpoch"] = record.partition_epoch
        facts[f"{partition}isr"] = sorted(record.isr)
        facts[f"{partition}elr"] = sorted(record.elr)
        facts[f"{partition}lastKnownElr"] = list(record.last_known_elr)
        facts[f"{partition}recovering"] = record.recovering
    for broker in sim.brokers.values():
        _add_replica(facts, broker, tp, place)


def _add_group(facts: Facts, sim: Simulation, name: str, tp: int) -> None:
    """Add a group as its coordinator describes it; None where no coordinator answers."""
    facts[f"{name} exists"] = True
    leader = sim.cluster.controller.records[tp].leader
    process = sim.brokers[leader].process if leader in sim.brokers else None
    replica = (
        None if process is None or process.status != UP else coordinator.leader_replica(process, tp)
    )
    if process is None or replica is None:
        facts |= {f"{name} {fact}": None for fact in ("coordinator", "state", "members", "offsets")}
        return
    group = process.groups.get(tp)
    if group is None or group.epoch != replica.leader_epoch:
        group = Group(replica.leader_epoch)
        coordinator.read(replica.log, group, sim.now)
    is_new = sim.profile.release >= NEW_COORDINATOR
    if is_new and not replica.log.hw:
        group = Group(replica.leader_epoch)  # it describes what is committed
    state = _state_of(replica, group)
    described = (STABLE, PREPARING) if is_new else (STABLE,)  # states in which shares are described
    # The record of a generation has no share of a dynamic member: its client knows it.
    shares = {
        client.member: client.assigned
        for client in sim.clients.values()
        if isinstance(client, GroupMember)
    }
    facts[f"{name} coordinator"] = leader
    facts[f"{name} state"] = state
    facts[f"{name} members"] = [
        [member, list(entry.assigned or shares.get(member, ())) if state in described else []]
        for member, entry in sorted(group.members.items())
    ]
    commits = coordinator.committed(replica)
    facts[f"{name} offsets"] = [[partition, commits[partition][0]] for partition in sorted(commits)]


def _state_of(replica: Replica, group: Group) -> str:
    """Return the state of a group with the classic protocol (`GroupState`)."""
    if not group.members:
        return "Empty" if group.generation else "Dead"
    if group.preparing_since >= 0:
        return PREPARING
    return "CompletingRebalance" if coordinator.is_completing(replica, group) else STABLE


def _add_member(facts: Facts, sim: Simulation, client: GroupMember) -> None:
    """Add what a client says of itself; a position that it has still to look up is what it is."""
    who = f"C{FIRST_CONSUMER - client.id + 1}"
    places = client.places | client.known_places()
    at = {
        tp: offset if lookup is None else _looked_up(sim, tp, lookup)
        for tp, (offset, _, _, lookup) in places.items()
    }
    facts[f"{who} exists"] = True
    facts[f"{who} alive"] = client.alive
    facts[f"{who} failed"] = client.failed
    facts[f"{who} member"] = client.member
    facts[f"{who} generation"] = client.generation
    facts[f"{who} owns"] = list(client.assigned)
    facts[f"{who} at"] = [[tp, at[tp]] for tp in sorted(at)]
    polled = sorted(client.polled, key=lambda got: got[0])  # the order of partitions is chance
    facts[f"{who} polled"] = [value for _, batch in polled for value in batch.values]


def _with_members_in_order(value: str) -> str:
    """Return a record; of a generation the members are sorted, as their order says nothing."""
    if not _GENERATION.match(value):
        return value
    generation, *members = value.split(":")
    return ":".join((generation, *sorted(members)))


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
        hw = known_high_watermark(voter) if voter.state == LEADER and voter.alive else -1
        facts[f"{who} HW"] = hw - began if hw >= 0 else None


def _looked_up(sim: Simulation, tp: int, timestamp: int) -> int | None:
    """Return the latest or earliest offset of a partition; None without a leader."""
    leader = sim.brokers.get(sim.cluster.controller.records[tp].leader)
    if leader is None:
        return None
    log = leader.machine.disks[tp].log
    return log.hw if timestamp == LATEST else log.log_start


def _add_replica(facts: Facts, broker: Broker, tp: int, place: str) -> None:
    who = f"b{broker.id}{place}"
    disk = broker.machine.disks.get(tp)
    facts[f"{who} exists"] = disk is not None
    if disk is None:
        return
    log = disk.log
    replica = broker.replicas.get(tp)
    records = [
        (_with_members_in_order(value), batch.epoch)
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
