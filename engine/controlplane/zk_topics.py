"""Topics of the ZooKeeper era: made, grown, deleted (control-plane, 3.2, 7.7)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.controlplane import election, placement, sender
from engine.controlplane.znodes import (
    is_live,
    live_epochs,
    send_leader_and_isr,
    send_stop_replica,
    send_update_metadata,
)
from engine.model import errors
from engine.model.control_messages import StopReplicaResponse, UpdateMetadata
from engine.model.controller import Controller, Deletion, Topic
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.records import DURING_DELETE, Ids, PartitionRecord

# -- made ------------------------------------------------------------------------------------------


def create_topic(k: Controller, name: str, assignments: Sequence[Ids], out: Effects) -> int:
    """CP-ELECT-NEW, ZK.  Create a topic with the replica lists given; return an error code.

    The lists may name brokers that are off-line: the znode is written without a look at them.
    """
    if name in k.topics:
        return errors.TOPIC_ALREADY_EXISTS
    error = placement.check_manual(assignments, None)
    if error:
        return error
    topic = k.topics[name] = Topic()
    _add(k, topic, assignments, out)
    return errors.NONE


def create_partitions(k: Controller, name: str, assignments: Sequence[Ids], out: Effects) -> int:
    """2.2.  Add partitions to a topic, with as many replicas as its first one."""
    topic = k.topics.get(name)
    if topic is None or name in k.deletions:
        return errors.UNKNOWN_TOPIC_OR_PARTITION
    factor = len(k.records[topic.tps[0]].replicas)
    error = placement.check_manual(assignments, k.brokers, factor)
    if error == errors.NONE:
        _add(k, topic, assignments, out)
    return error


def _add(k: Controller, topic: Topic, assignments: Sequence[Ids], out: Effects) -> None:
    """CP-ELECT-NEW 3 - 6.  Write the state znodes; send LeaderAndIsr to the ISR, metadata to all.

    Without a live replica a partition has no state yet: its epochs stand one below the first, so
    that the election when a broker starts begins it.
    """
    made = []
    for tp, replicas in enumerate(assignments, k.take_numbers(len(assignments))):
        record = election.new_partition(replicas, lambda b: is_live(k, b))
        if record is None:
            record = PartitionRecord(replicas, replicas, -1, -1, -1)
        k.records[tp] = record
        topic.tps.append(tp)
        made.append(tp)
        out.cue("CP-ELECT-NEW", CONTROLLER, f"leader {tp}", None, record.leader, tp=tp)
    for broker in k.brokers:
        states = [(tp, k.records[tp], True) for tp in made if broker in k.records[tp].isr]
        if states:
            send_leader_and_isr(k, broker, states, out)
    send_update_metadata(k, made, out)


# -- deleted ---------------------------------------------------------------------------------------


def delete_topic(k: Controller, name: str, out: Effects) -> int:
    """7.7, ZK 1, 2.  Delete a topic and return an error code.

    While one of its partitions is being moved the topic is not eligible: the deletion begins when
    the move ends.
    """
    topic = k.topics.get(name)
    if topic is None or name in k.deletions:
        return errors.UNKNOWN_TOPIC_OR_PARTITION
    k.deletions[name] = Deletion()
    if not any(k.records[tp].reassigning for tp in topic.tps):
        _begin(k, name, out)
    return errors.NONE


def after_reassignment(k: Controller, out: Effects) -> None:
    """7.7, ZK 2.  Begin a deletion that waited for reassignments."""
    for name, deletion in k.deletions.items():
        moving = any(k.records[tp].reassigning for tp in k.topics[name].tps if tp in k.records)
        if not deletion.records and not moving:
            _begin(k, name, out)


def _begin(k: Controller, name: str, out: Effects) -> None:
    """7.7, ZK 3, 4.  Begin: clients get leader -2; live replicas go, dead ones keep the topic."""
    deletion = k.deletions[name]
    for tp in k.topics[name].tps:
        record = k.records.pop(tp).copy()
        record.leader = DURING_DELETE
        deletion.records[tp] = record
        for broker in record.replicas:
            deletion.left.setdefault(broker, set()).add(tp)
    live = live_epochs(k)
    states = list(deletion.records.items())
    for broker, registration in k.brokers.items():
        epoch = registration.epoch
        sender.send(k, UpdateMetadata(CONTROLLER, broker, 0, k.epoch, epoch, states, live), out)
    dead = tuple(b for b in sorted(deletion.left) if not _deletable(k, b, deletion))
    if dead:
        out.cue("CP-7.7.ineligible", CONTROLLER, "topic", None, dead, about=name)
    for broker in sorted(deletion.left):
        _stop(k, broker, deletion, out)


def _deletable(k: Controller, broker: int, deletion: Deletion) -> bool:
    """Check whether the broker is live and its directories with the topic are all online."""
    left = deletion.left.get(broker, ())
    return is_live(k, broker) and not any((broker, tp) in k.offline for tp in left)


def _stop(k: Controller, broker: int, deletion: Deletion, out: Effects) -> None:
    """7.7, ZK 4.  Send StopReplica for what a live broker still holds of the topic."""
    states = [(tp, DURING_DELETE, True) for tp in sorted(deletion.left.get(broker, ()))]
    if states and _deletable(k, broker, deletion):
        send_stop_replica(k, broker, states, out)


def resume_for(k: Controller, broker: int, out: Effects) -> None:
    """7.7, ZK 2.  Go on with deletions on a broker that is back."""
    for deletion in k.deletions.values():
        _stop(k, broker, deletion, out)


def on_stop_replica_response(k: Controller, m: StopReplicaResponse, out: Effects) -> None:
    """7.7, ZK 5, 6.  Note a deleted replica; with the last one the topic is gone."""
    for name in list(k.deletions):
        deletion = k.deletions[name]
        left = deletion.left.get(m.src)
        if left is None:
            continue
        left.difference_update(tp for tp, error in m.answers if error == errors.NONE)
        if not left:
            del deletion.left[m.src]
        if not deletion.left:
            del k.deletions[name], k.topics[name]
            out.cue("CP-7.7.deleted", CONTROLLER, "topic", None, None, about=name)
