"""Consumer groups as the stage draws them: coordinator, generation, owners, committed offsets."""

from __future__ import annotations

from engine.checks.ledger import Ledger
from engine.clients.group_member import TASK_NAMES, GroupMember
from engine.groups.coordinator import committed, is_completing, leader_replica, read
from engine.groups.reconciliation import is_reconciled
from engine.model.broker import Process
from engine.model.groups import Group, commits
from engine.model.messages import FIRST_CONSUMER
from engine.model.state import Replica
from engine.scenarios.group_specs import GroupSpec
from engine.sim.simulation import Simulation
from engine.view.wire import CommittedOffset, GroupState, GroupView, MemberView


def groups_view(sim: Simulation) -> list[GroupView]:
    """Return the groups in order, as their coordinators know them."""
    first = len(sim.scenario.partitions)
    return [_group(sim, spec, first + index) for index, spec in enumerate(sim.scenario.groups)]


def _group(sim: Simulation, spec: GroupSpec, tp: int) -> GroupView:
    leader = sim.cluster.controller.records[tp].leader
    broker = sim.brokers.get(leader)
    process = None if broker is None else broker.process
    replica = None if process is None else leader_replica(process, tp)
    members = [_member(sim, number) for number in spec.members]
    shown: GroupView = {
        "name": spec.name,
        "p": tp,
        "coordinator": -1 if replica is None else leader,
        "generation": 0,
        "state": "none",
        "members": members,
        "offsets": [],
    }
    if spec.reconciling:
        shown["epochs"] = True
    if process is not None and replica is not None:
        shown["generation"], shown["state"] = _state(process, replica)
        shown["offsets"] = _offsets(sim, replica)
    return shown


def _state(process: Process, replica: Replica) -> tuple[int, GroupState]:
    group = process.groups.get(replica.tp)
    if group is None or group.epoch != replica.leader_epoch:
        group = Group(replica.leader_epoch)  # it reads its log when it is first asked
        read(replica.log, group, 0)
        if not group.reconciles:
            return group.generation, "stable" if group.members else "empty"
    if group.preparing_since >= 0 and group.members:
        return group.generation, "preparing"
    if group.reconciles and not is_reconciled(group):
        return group.generation, "reconciling" if group.members else "empty"
    if is_completing(replica, group):
        return group.generation, "completing"
    return group.generation, "stable" if group.members else "empty"


def _offsets(sim: Simulation, replica: Replica) -> list[CommittedOffset]:
    """Return the committed offset of each partition, and one that is only written yet."""
    offsets, written = committed(replica), commits(replica.log, replica.log.leo)
    shown: list[CommittedOffset] = []
    for tp in range(len(sim.scenario.partitions)):
        twice, skipped = _repeated_and_skipped(sim.ledger, replica.tp, tp)
        offset = offsets[tp][0] if tp in offsets else None
        entry: CommittedOffset = {"p": tp, "offset": offset, "twice": twice, "skipped": skipped}
        if tp in written and written[tp] != offsets.get(tp):
            entry["written"] = written[tp][0]
        shown.append(entry)
    return shown


def _repeated_and_skipped(ledger: Ledger, group: int, tp: int) -> tuple[int, int]:
    """Return how many records of a partition a group processed more than once, and skipped."""
    keys = {(group, value) for batch in ledger.committed[tp].values() for value in batch.values}
    return sum(ledger.processed.get(key, 0) > 1 for key in keys), len(keys & ledger.skipped.keys())


def _member(sim: Simulation, number: int) -> MemberView:
    member = sim.clients[FIRST_CONSUMER + 1 - number]
    assert isinstance(member, GroupMember)
    shown: MemberView = {
        "id": f"C{number}",
        "member": member.member,
        "alive": member.alive,
        "generation": member.generation,
        "owns": list(member.assigned),
        "positions": [place[0] for _, place in sorted(member.known_places().items())],
        "polled": sum(len(batch.values) for _, batch in member.polled),
        "task": TASK_NAMES[member.task],
    }
    if member.instance:
        shown["instance"] = member.instance
    return shown
