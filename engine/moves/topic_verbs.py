"""The verbs of operators on the topic: other replicas, and records that are no longer wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.controlplane import admin, reassignment, zk_reassign
from engine.dataplane import retention
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.records import Ids
from engine.model.state import LEADER
from engine.moves import partitions
from engine.moves.move_errors import label, not_running, refuse
from engine.moves.moves import Args, Words, verb
from engine.scenarios.parts import MOST_REPLICAS
from engine.sim import pacing, topics
from engine.sim.kernel import TIMER
from engine.sim.simulation import Simulation

HIGHEST_OFFSET = 10**9


# -- DeleteRecords --------------------------------------------------------------------------------


def _parse_delete(words: Words) -> Args:
    if words.take("the word “records”") != "records":
        raise words.fail("Only records can be deleted.")
    tp = partitions.take(words)
    return {"offset": words.number(words.take("an offset"), HIGHEST_OFFSET), "tp": tp}


def _why_not_delete(sim: Simulation, args: Args) -> str:
    if not sim.profile.delete_records:
        return refuse(sim, "delete.later")
    why = partitions.missing(sim, args["tp"])
    if why:
        return why
    tp = partitions.number(sim, args["tp"])
    leader = sim.cluster.controller.records[tp].leader
    if leader < 0:
        return refuse(sim, "no.leader")
    why = not_running(sim, leader)
    if why:
        return why
    replica = sim.brokers[leader].replicas.get(tp)
    if replica is None or replica.role != LEADER:
        return refuse(sim, "leads.unknowing", b=leader)
    if args["offset"] > replica.log.hw:
        return refuse(sim, "beyond.mark", o=args["offset"], h=replica.log.hw)
    return ""


@verb(
    "delete",
    "admin",
    "delete records 3 [p=0]",
    "An operator deletes the records below an offset: the leader moves its log start.",
    _parse_delete,
    _why_not_delete,
)
def _delete(sim: Simulation, args: Args) -> Iterator[None]:
    tp = partitions.number(sim, args["tp"])
    leader = sim.cluster.controller.records[tp].leader
    replica = sim.brokers[leader].replicas[tp]
    offset = args["offset"]

    def act(out: Any) -> None:
        before = replica.log.log_start
        retention.delete_records(replica, offset)
        retention.arm_checkpoint(sim.brokers[leader].running, replica.log, out)
        out.cue("L-9", leader, "delete records", before, offset, tp=replica.tp)
        if replica.log.log_start != before:
            out.cue("L-7", leader, "log start", before, replica.log.log_start, tp=replica.tp)

    sim.act(TIMER, leader, "delete records", act)
    yield
    yield from pacing.pump(sim)


# -- reassignment ---------------------------------------------------------------------------------


def _parse_reassign(words: Words) -> Args:
    tp = partitions.take(words)
    first = words.take("a broker, or “cancel”,")
    if first == "cancel":
        return {"target": None, "tp": tp}
    target = [words.broker_of(first)]
    while words.words:
        target.append(words.broker())
    if len(set(target)) != len(target):
        raise words.fail("A broker is named twice.")
    return {"target": tuple(target), "tp": tp}


def _why_not_reassign(sim: Simulation, args: Args) -> str:
    k = sim.cluster.controller
    if not k.alive:
        return refuse(sim, "controller.none", "restart K")
    why = partitions.missing(sim, args["tp"])
    if why:
        return why
    tp = partitions.number(sim, args["tp"])
    record = k.records[tp]
    if args["target"] is not None:
        absent = [broker for broker in args["target"] if broker not in k.brokers]
        if absent:
            return refuse(sim, "not.registered", f"restart {label(sim, absent[0])}", b=absent[0])
        if len(set(args["target"]) - set(record.replicas)) > (room := topics.replicas_left(sim)):
            return refuse(sim, "replicas.full", n=MOST_REPLICAS, o=room)
    elif not record.reassigning:
        return refuse(sim, "no.reassignment")
    if sim.profile.mode == "zk":
        target = args["target"] or reassignment.original(record.replicas, record.adding)
        if zk_reassign.strands(record, target):
            return refuse(sim, "former.not.in.sync")
    elif args["target"] is None and not k.unclean_for(tp):
        left = reassignment.revert(record.replicas, record.isr, record.adding)
        if left.unclean:
            return refuse(sim, "former.not.in.sync")
    return ""


@verb(
    "reassign",
    "admin",
    "reassign 2 3 [p=0] | reassign cancel [p=0]",
    "An operator moves the partition to other brokers, or takes that back while it is under way.",
    _parse_reassign,
    _why_not_reassign,
)
def _reassign(sim: Simulation, args: Args) -> Iterator[None]:
    tp, target = partitions.number(sim, args["tp"]), args["target"]
    sim.act(TIMER, CONTROLLER, "reassign", lambda out: reassign(sim, tp, target, out))
    yield
    yield from pacing.pump(sim)


def reassign(sim: Simulation, tp: int, target: Ids | None, out: Effects) -> None:
    """Request other replicas, as an operator does; None takes it back."""
    k = sim.cluster.controller
    change = zk_reassign.reassign if sim.profile.mode == "zk" else admin.reassign
    out.cue("CP-REASSIGN", CONTROLLER, f"replicas {tp}", k.records[tp].replicas, target, tp=tp)
    change(k, tp, target, out)
