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
from engine.quorum.replication import known_mark
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
    found: list[Row] = []
    for fact, value in real.items():
        who, _, what = fact.partition(" ")
        if not what:
            found.append((fact, value, model.get(fact)))
        elif what == "exists":
            found.append((fact, value, model.get(fact, False)))
        elif not model.get(f"{who} exists", False):
            if what == "LEO":  # no replica here: one difference, not one for each of its facts
                found.append((f"{who} exists", True, False))
        elif what == "log" and f"{who} epochs" not in real:
            found.append((fact, value, model[f"{who} names"]))
        else:
            found.append((fact, value, model[fact]))
    return found


def facts_now(sim: Simulation, metadata: int = 0, tp: int = 0) -> Facts:
    """Return everything a recording may say of a partition now, under the same names.

    Offsets of the metadata log count from `metadata`, its end at the beginning.
    """
    found: Facts = {}
    _add_partition(found, sim, tp, "", "")
    if sim.cluster.quorum is not None:
        _add_voters(found, sim.cluster.quorum, metadata)
    groups, topic = sim.scenario.groups, len(sim.scenario.partitions)
    for number in range(1, topic + len(groups)) if groups else ():
        _add_partition(found, sim, number, f"p{number} ", f":{number}")
    for number, group in enumerate(groups, topic):
        _add_group(found, sim, group.name, number)
    for client in sim.clients.values():
        if isinstance(client, GroupMember):
            _add_member(found, sim, client)
    return found


def _add_partition(found: Facts, sim: Simulation, tp: int, partition: str, place: str) -> None:
    """Add the record of a partition, and its replicas."""
    record = sim.cluster.controller.records.get(tp)
    if partition:
        found[f"{partition}exists"] = record is not None
    if record is not None:
        found[f"{partition}leader"] = record.leader
        found[f"{partition}leaderEpoch"] = record.leader_epoch
        found[f"{partition}partitionEpoch"] = record.partition_epoch
        found[f"{partition}isr"] = sorted(record.isr)
        found[f"{partition}elr"] = sorted(record.elr)
        found[f"{partition}lastKnownElr"] = list(record.last_known_elr)
        found[f"{partition}recovering"] = record.recovering
    for broker in sim.brokers.values():
        _add_replica(found, broker, tp, place)


def _add_group(found: Facts, sim: Simulation, name: str, tp: int) -> None:
    """Add a group as its coordinator describes it; None where no coordinator answers."""
    found[f"{name} exists"] = True
    leader = sim.cluster.controller.records[tp].leader
    process = sim.brokers[leader].process if leader in sim.brokers else None
    replica = None if process is None or process.status != UP else coordinator.led(process, tp)
    if process is None or replica is None:
        found |= {f"{name} {fact}": None for fact in ("coordinator", "state", "members", "offsets")}
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
        one.member: one.assigned for one in sim.clients.values() if isinstance(one, GroupMember)
    }
    found[f"{name} coordinator"] = leader
    found[f"{name} state"] = state
    found[f"{name} members"] = [
        [member, list(entry.assigned or shares.get(member, ())) if state in described else []]
        for member, entry in sorted(group.members.items())
    ]
    commits = coordinator.committed(replica)
    found[f"{name} offsets"] = [[partition, commits[partition][0]] for partition in sorted(commits)]


def _state_of(replica: Replica, group: Group) -> str:
    """Return the state of a group with the classic protocol (`GroupState`)."""
    if not group.members:
        return "Empty" if group.generation else "Dead"
    if group.preparing_since >= 0:
        return PREPARING
    return "CompletingRebalance" if coordinator.is_completing(replica, group) else STABLE


def _add_member(found: Facts, sim: Simulation, client: GroupMember) -> None:
    """Add what a client says of itself; a position that it has still to look up is what it is."""
    who = f"C{FIRST_CONSUMER - client.id + 1}"
    places = client.places | client.known_places()
    at = {
        tp: offset if lookup is None else _looked_up(sim, tp, lookup)
        for tp, (offset, _, _, lookup) in places.items()
    }
    found[f"{who} exists"] = True
    found[f"{who} alive"] = client.alive
    found[f"{who} failed"] = client.failed
    found[f"{who} member"] = client.member
    found[f"{who} generation"] = client.generation
    found[f"{who} owns"] = list(client.assigned)
    found[f"{who} at"] = [[tp, at[tp]] for tp in sorted(at)]
    polled = sorted(client.polled, key=lambda got: got[0])  # the order of partitions is chance
    found[f"{who} polled"] = [value for _, batch in polled for value in batch.values]


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


def _add_voters(found: Facts, quorum: Quorum, began: int) -> None:
    names = {node: voter.name for node, voter in quorum.voters.items()}
    for voter in quorum.voters.values():
        who = voter.name
        state = _STATES.get(voter.state, ELECTING) if voter.alive else "down"
        found[f"{who} exists"] = True
        found[f"{who} state"] = state
        found[f"{who} epoch"] = voter.epoch
        found[f"{who} leader"] = names.get(voter.leader, "")
        found[f"{who} vote"] = names.get(voter.voted_for, "")
        found[f"{who} end"] = voter.log.end - began
        found[f"{who} epochs"] = [
            [epoch, at - began] for epoch, at in voter.log.epochs if at >= began
        ]
        mark = known_mark(voter) if voter.state == LEADER and voter.alive else -1
        found[f"{who} HW"] = mark - began if mark >= 0 else None


def _looked_up(sim: Simulation, tp: int, timestamp: int) -> int | None:
    """Return the latest or earliest offset of a partition; None without a leader."""
    leader = sim.brokers.get(sim.cluster.controller.records[tp].leader)
    if leader is None:
        return None
    log = leader.machine.disks[tp].log
    return log.hw if timestamp == LATEST else log.log_start


def _add_replica(found: Facts, broker: Broker, tp: int, place: str) -> None:
    who = f"b{broker.id}{place}"
    disk = broker.machine.disks.get(tp)
    found[f"{who} exists"] = disk is not None
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
    found[f"{who} LEO"] = log.leo
    found[f"{who} start"] = log.log_start
    # Before 0.11 a batch says nothing of epochs: a recording then leaves them out.
    found[f"{who} log"] = " ".join(f"{value}@{epoch}" for value, epoch in records)
    found[f"{who} names"] = " ".join(value for value, _ in records)
    found[f"{who} epochs"] = [list(entry) for entry in log.epochs.entries()]
    # This process has received no role yet: the mark is only on its disk.
    found[f"{who} HW"] = log.hw if replica is not None else disk.hw_checkpoint
