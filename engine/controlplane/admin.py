"""Operators' requests to the KRaft controller: topics, elections, reassignments (2 - 3.6, 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.controlplane import election, elr, liveness, placement, reassignment
from engine.controlplane.kraft import append, change, fence, lose_uncleanly
from engine.controlplane.membership import R_PARTITION, R_REMOVE, R_UNREGISTER
from engine.controlplane.placement import Candidate
from engine.model import errors
from engine.model.controller import Controller, Topic
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.records import Ids

# -- topics ----------------------------------------------------------------------------------------


def create_manually(k: Controller, name: str, assignments: Sequence[Ids], out: Effects) -> int:
    """2.5.  Create a topic whose replica lists are all given; nothing is random."""
    if name in k.topics:
        return errors.TOPIC_ALREADY_EXISTS
    error = placement.check_manual(assignments, k.brokers)
    topic = Topic()
    error = error or _add_partitions(k, topic, assignments, out)
    if error == errors.NONE:
        k.topics[name] = topic
    return error


def create_partitions(
    k: Controller, name: str, count: int, assignments: Sequence[Ids], out: Effects
) -> int:
    """2.  Grow a topic to `count` partitions; new ones have as many replicas as its first one."""
    topic = k.topics.get(name)
    if topic is None:
        return errors.UNKNOWN_TOPIC_OR_PARTITION
    more = count - len(topic.tps)
    if more <= 0:
        return errors.INVALID_PARTITIONS
    factor = len(k.records[topic.tps[0]].replicas)
    if len(assignments) != more:
        return errors.INVALID_REPLICA_ASSIGNMENT
    error = placement.check_manual(assignments, k.brokers, factor)
    return error or _add_partitions(k, topic, assignments, out)


def candidates(k: Controller) -> list[Candidate]:
    """2.4.  Return the brokers that may get new replicas: all but the leaving ones."""
    return [
        Candidate(broker, k.brokers[broker].rack or None, fenced)
        for broker, fenced in liveness.usable(k.brokers)
    ]


def _add_partitions(k: Controller, topic: Topic, assignments: Sequence[Ids], out: Effects) -> int:
    """CP-ELECT-NEW.  Add all partitions or none; an error if one had no active replica."""
    made = []
    for replicas in assignments:
        record = election.new_partition(replicas, k.active)
        if record is None:
            return errors.INVALID_REPLICA_ASSIGNMENT
        made.append(record)
    records: list[tuple[Any, ...]] = []
    for tp, record in enumerate(made, k.take_numbers(len(made))):
        out.cue("CP-ELECT-NEW", CONTROLLER, f"leader {tp}", None, record.leader, tp=tp)
        k.records[tp] = record
        topic.tps.append(tp)
        records.append((R_PARTITION, tp, record))
    append(k, records, out)
    return errors.NONE


def delete_topic(k: Controller, name: str, out: Effects) -> int:
    """7.7.  Delete a topic at once; brokers delete their replicas when they apply the record."""
    topic = k.topics.pop(name, None)
    if topic is None:
        return errors.UNKNOWN_TOPIC_OR_PARTITION
    for tp in topic.tps:
        del k.records[tp]
    out.cue("CP-7.7.deleted", CONTROLLER, "topic", None, None, about=name)
    append(k, [(R_REMOVE, tp) for tp in topic.tps], out)
    return errors.NONE


def effective_min_isr(k: Controller, name: str) -> int:
    """CP-MINISR 4.8, controller.  Bound it by the replication factor of the first partition."""
    first = k.topics[name].tps[0]
    return elr.effective_min_isr(k.min_isr_for(first), len(k.records[first].replicas))


# -- brokers ---------------------------------------------------------------------------------------


def unregister(k: Controller, broker: int, out: Effects) -> int:
    """7.5, 7.  Remove a broker, and its replicas from ISRs and ELRs."""
    if broker not in k.brokers:
        return errors.BROKER_ID_NOT_REGISTERED
    records = [] if k.brokers[broker].fenced else fence(k, broker, out)
    records += lose_uncleanly(k, broker, out)
    del k.brokers[broker]
    k.readers.pop(broker, None)
    out.cue("CP-DECOMMISSION.forget", CONTROLLER, "broker", "registered", None, about=broker)
    append(k, [*records, (R_UNREGISTER, broker)], out)
    return errors.NONE


# -- elections -------------------------------------------------------------------------------------


def elect_leader(k: Controller, tp: int, unclean: bool, out: Effects) -> int:
    """CP-PREFERRED, CP-UNCLEAN-TRIGGERS.  Run ElectLeaders for one partition (KIP-460)."""
    record = k.records.get(tp)
    if record is None:
        return errors.UNKNOWN_TOPIC_OR_PARTITION
    satisfied = record.leader >= 0 if unclean else not election.imbalanced(record)
    if satisfied:
        return errors.ELECTION_NOT_NEEDED
    kind = election.UNCLEAN if unclean else election.PREFERRED
    outcome, records = change(k, tp, out, kind=kind)
    append(k, records, out)
    if outcome.changed:
        return errors.NONE
    if unclean:
        return errors.ELIGIBLE_LEADERS_NOT_AVAILABLE
    return errors.PREFERRED_LEADER_NOT_AVAILABLE


# -- reassignment ----------------------------------------------------------------------------------


def reassign(k: Controller, tp: int, target: Ids | None, out: Effects) -> int:
    """CP-REASSIGN-KR 1.  Start a reassignment, or cancel it with None; return an error code.

    A new target replaces a running one, so that what was being added is removed again unless the
    new target wants it.
    """
    record = k.records.get(tp)
    if record is None:
        return errors.UNKNOWN_TOPIC_OR_PARTITION
    if target is None:
        return _cancel(k, tp, out)
    error = placement.check_manual([target], k.brokers)
    if error:
        return error
    plan = reassignment.plan(record.replicas, target)
    _, records = change(
        k,
        tp,
        out,
        election.Target(replicas=plan.replicas, adding=plan.adding, removing=plan.removing),
        kind=election.ONLINE,
    )
    append(k, records, out)
    return errors.NONE


def _cancel(k: Controller, tp: int, out: Effects) -> int:
    """7.2, cancel.  Revert; this may need an unclean election, which the topic must permit."""
    record = k.records[tp]
    if not record.reassigning:
        return errors.NO_REASSIGNMENT_IN_PROGRESS
    left = reassignment.revert(record.replicas, record.isr, record.adding)
    if left.unclean and not k.unclean_for(tp):
        return errors.INVALID_REPLICA_ASSIGNMENT
    _, records = change(
        k,
        tp,
        out,
        election.Target(isr=left.isr, replicas=left.replicas, adding=(), removing=()),
        kind=election.UNCLEAN if left.unclean else election.ONLINE,
    )
    append(k, records, out)
    return errors.NONE
