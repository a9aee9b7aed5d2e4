"""The verbs of operators on the topic: other replicas, and records that are no longer wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.controlplane import admin, reassignment, zk_reassign
from engine.dataplane import retention
from engine.model.messages import CONTROLLER
from engine.model.state import LEADER
from engine.sim import pacing
from engine.sim.kernel import TIMER
from engine.sim.moves import Args, Words, verb
from engine.sim.simulation import Simulation
from engine.sim.wording import label, not_running, refuse

HIGHEST_OFFSET = 10**9


# -- DeleteRecords --------------------------------------------------------------------------------


def _parse_delete(words: Words) -> Args:
    if words.take("the word “records”") != "records":
        raise words.fail("Only records can be deleted.")
    return {"offset": words.number(words.take("an offset"), HIGHEST_OFFSET)}


def _why_not_delete(sim: Simulation, args: Args) -> str:
    leader = sim.cluster.controller.records[0].leader
    if leader < 0:
        return refuse(sim, "no.leader")
    why = not_running(sim, leader)
    if why:
        return why
    replica = sim.brokers[leader].replicas.get(0)
    if replica is None or replica.role != LEADER:
        return refuse(sim, "leads.unknowing", b=leader)
    if args["offset"] > replica.log.hw:
        return refuse(sim, "beyond.mark", o=args["offset"], h=replica.log.hw)
    return ""


@verb(
    "delete",
    "admin",
    "delete records 3",
    "An operator deletes the records below an offset: the leader moves its log start.",
    _parse_delete,
    _why_not_delete,
)
def _delete(sim: Simulation, args: Args) -> Iterator[None]:
    leader = sim.cluster.controller.records[0].leader
    replica = sim.brokers[leader].replicas[0]
    offset = args["offset"]

    def act(out: Any) -> None:
        before = replica.log.log_start
        retention.delete_records(replica, offset)
        out.cue("L-9", leader, "delete records", before, offset)
        if replica.log.log_start != before:
            out.cue("L-7", leader, "log start", before, replica.log.log_start)

    sim.act(TIMER, leader, "delete records", act)
    yield
    yield from pacing.pump(sim)


# -- reassignment ---------------------------------------------------------------------------------


def _parse_reassign(words: Words) -> Args:
    first = words.take("a broker, or “cancel”,")
    if first == "cancel":
        return {"target": None}
    target = [words.broker_of(first)]
    while words.words:
        target.append(words.broker())
    if len(set(target)) != len(target):
        raise words.fail("A broker is named twice.")
    return {"target": tuple(target)}


def _why_not_reassign(sim: Simulation, args: Args) -> str:
    k = sim.cluster.controller
    record = k.records[0]
    if not k.alive:
        return refuse(sim, "controller.none", "restart K")
    if args["target"] is not None:
        absent = [broker for broker in args["target"] if broker not in k.brokers]
        if absent:
            return refuse(
                sim, "not.registered", f"restart {label(sim, absent[0])}", b=absent[0]
            )
        return ""
    if not record.reassigning:
        return refuse(sim, "no.reassignment")
    if sim.profile.mode == "kraft" and not k.unclean_for(0):
        left = reassignment.revert(record.replicas, record.isr, record.adding)
        if left.unclean:
            return refuse(sim, "former.not.in.sync")
    return ""


@verb(
    "reassign",
    "admin",
    "reassign 2 3 | reassign cancel",
    "An operator moves the partition to other brokers, or takes that back while it is under way.",
    _parse_reassign,
    _why_not_reassign,
)
def _reassign(sim: Simulation, args: Args) -> Iterator[None]:
    k = sim.cluster.controller
    change = zk_reassign.reassign if sim.profile.mode == "zk" else admin.reassign
    target = args["target"]

    def act(out: Any) -> None:
        out.cue("CP-REASSIGN", CONTROLLER, "replicas 0", k.records[0].replicas, target)
        change(k, 0, target, out)

    sim.act(TIMER, CONTROLLER, "reassign", act)
    yield
    yield from pacing.pump(sim)
