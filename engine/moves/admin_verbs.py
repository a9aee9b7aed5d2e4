"""The verbs of operators: checkpoint, flush, elect, set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from engine.controlplane import election, kraft, znodes, zookeeper
from engine.dataplane import fetcher, retention, watermark
from engine.model.configs import CATALOGUE
from engine.model.errors import InputError
from engine.model.messages import CONTROLLER
from engine.model.state import UP
from engine.moves import partitions
from engine.moves.move_errors import is_up, not_running, refuse
from engine.moves.moves import Args, Words, verb
from engine.sim import pacing
from engine.sim.kernel import TIMER
from engine.sim.simulation import Simulation

TOPIC: Final = "topic"
CLUSTER: Final = "cluster"
BROKER: Final = "broker"
LEVELS: Final = (TOPIC, CLUSTER, BROKER)
"""Levels of a setting; a topic's own goes before the cluster's."""
MIN_ISR: Final = "min.insync.replicas"


@verb(
    "checkpoint",
    "admin",
    "checkpoint [B]",
    "High watermarks and log starts are written to disk, on one broker or on all.",
    lambda words: {"broker": words.broker() if words.words else None},
    lambda sim, args: "" if args["broker"] is None else not_running(sim, args["broker"]),
)
def _checkpoint(sim: Simulation, args: Args) -> Iterator[None]:
    for broker in sim.brokers.values():
        if broker.status == UP and args["broker"] in (None, broker.id):
            sim.act(TIMER, broker.id, "checkpoint", _checkpointer(broker.running))
            yield


def _checkpointer(broker: Any) -> Any:
    def act(out: Any) -> None:
        watermark.checkpoint(broker, out)
        retention.checkpoint(broker, out)

    return act


def _parse_flush(words: Words) -> Args:
    args: Args = {"broker": words.broker(), "upto": None}
    if words.words:
        if words.words.pop(0) != "upto":
            raise words.fail("Only “upto” may follow.")
        args["upto"] = words.number(words.take("an offset"), 10**9)
    return args


@verb("flush", "admin", "flush B [upto O]", "The log is forced to disk.", _parse_flush, is_up)
def _flush(sim: Simulation, args: Args) -> Iterator[None]:
    broker = sim.brokers[args["broker"]]

    def flush(out: Any) -> None:
        for tp, disk in broker.machine.disks.items():
            upto = disk.log.leo if args["upto"] is None else args["upto"]
            before = disk.log.flushed
            disk.log.flush(upto)
            disk.recovery_checkpoint = disk.log.flushed
            out.cue("L-10", broker.id, "flushed", before, disk.log.flushed, tp=tp)

    sim.act(TIMER, broker.id, "flush", flush)
    yield


def _parse_elect(words: Words) -> Args:
    tp = partitions.take(words)
    who = words.take("preferred, unclean or a broker")
    if who in ("preferred", "PREFERRED"):
        return {"kind": election.PREFERRED, "broker": None, "tp": tp}
    if who in ("unclean", "UNCLEAN"):
        return {"kind": election.UNCLEAN, "broker": None, "tp": tp}
    return {"kind": election.ONLINE, "broker": words.broker_of(who), "tp": tp}


def _without_controller(sim: Simulation) -> str:
    """Return that no voter is the active controller, which an operator's request needs."""
    if sim.cluster.quorum is None or sim.cluster.controller.alive:
        return ""
    return refuse(sim, "controller.none", "advance 5s")


def _why_not_elect(sim: Simulation, args: Args) -> str:
    k = sim.cluster.controller
    why = _without_controller(sim) or partitions.missing(sim, args["tp"])
    if why:
        return why
    record = k.records[partitions.number(sim, args["tp"])]
    if args["broker"] is not None:
        if args["broker"] not in record.isr:
            return refuse(sim, "not.in.isr", b=args["broker"])
        if not _is_active(sim, args["broker"]):
            return refuse(sim, "not.alive", b=args["broker"])
        if record.leader == args["broker"]:
            return refuse(sim, "leads.already", b=args["broker"])
    elif args["kind"] == election.PREFERRED:
        if record.leader == record.replicas[0]:
            return refuse(sim, "preferred.leads")
        preferred = record.replicas[0]
        if record.leader >= 0 and not _is_active(sim, preferred):
            return refuse(sim, "preferred.away", b=preferred)
        if record.leader >= 0 and preferred not in record.isr:
            return refuse(sim, "preferred.behind", b=preferred)
    elif not sim.profile.elect_unclean:
        return refuse(sim, "unclean.later")
    elif record.leader >= 0:
        return refuse(sim, "has.leader")
    elif not any(_is_active(sim, b) for b in record.replicas):
        return refuse(sim, "nobody.alive")
    return ""


def _is_active(sim: Simulation, broker: int) -> bool:
    k = sim.cluster.controller
    return k.active(broker) if sim.profile.mode == "kraft" else znodes.is_live(k, broker)


@verb(
    "elect",
    "admin",
    "elect preferred|unclean|B [p=0]",
    "An operator asks for an election, or moves leadership to an in-sync broker.",
    _parse_elect,
    _why_not_elect,
)
def _elect(sim: Simulation, args: Args) -> Iterator[None]:
    k = sim.cluster.controller
    broker, kind = args["broker"], args["kind"]
    tp = partitions.number(sim, args["tp"])

    def act(out: Any) -> None:
        out.cue("CP-ELECT-ADMIN", CONTROLLER, "elect", kind, broker, tp=tp)
        if sim.profile.mode == "kraft":
            if broker is not None:
                kraft.move_leadership(k, tp, broker, out)
            else:
                kraft.elect(k, tp, kind, out)
        elif broker is not None:
            zookeeper.admin_elect(k, tp, election.REASSIGN, out, unclean=False, only=broker)
        elif kind == election.PREFERRED:
            zookeeper.admin_elect(k, tp, election.PREFERRED_REPLICA, out, unclean=False)
        else:
            zookeeper.admin_elect(k, tp, election.OFFLINE, out, unclean=True)

    sim.act(TIMER, CONTROLLER, "elect", act)
    yield
    yield from pacing.pump(sim)


def _parse_set(words: Words) -> Args:
    key, sep, value = words.take("a setting such as min.insync.replicas=2").partition("=")
    if not sep:
        raise words.fail("A setting needs a value.")
    if key not in CATALOGUE:
        raise words.fail("There is no configuration “{0}”.", key[:60])
    args: Args = {"key": key, "value": value}
    if words.words:
        level = words.words.pop(0).removeprefix("level=")
        if level not in LEVELS:
            raise words.fail("A level is one of {0}.", ", ".join(LEVELS))
        args["level"] = level
    return args


def _why_not_set(sim: Simulation, args: Args) -> str:
    level = args.get("level", TOPIC)
    if level != TOPIC and CATALOGUE[args["key"]].scope != "topic":
        return "Only a setting of a topic has levels."
    if level == BROKER and args["key"] == MIN_ISR and sim.configs.elr:
        return "With ELR no broker has a min.insync.replicas of its own (INVALID_CONFIG)."
    if level == BROKER:
        return "A setting of one broker alone is not played; set that of the cluster."
    try:
        sim.configs.changed(sim.profile, args["key"], args["value"])
    except InputError as error:
        return error.sentence
    return _without_controller(sim)


@verb(
    "set",
    "admin",
    "set min.insync.replicas=2 [level=topic|cluster|broker]",
    "An operator changes a configuration while the cluster runs.",
    _parse_set,
    _why_not_set,
)
def _set(sim: Simulation, args: Args) -> Iterator[None]:
    k = sim.cluster.controller
    before, key, of_cluster = sim.configs, args["key"], args.get("level") == CLUSTER
    change = before.changed_default if of_cluster else before.changed
    after = change(sim.profile, key, args["value"])

    def act(out: Any) -> None:
        field = "cluster config" if of_cluster else "config"
        out.cue("CP-12", CONTROLLER, field, key, args["value"])
        sim.configs = sim.cluster.configs = after
        sim.tell_fetchers()
        if sim.profile.mode == "kraft":
            if (
                not of_cluster
                and before.has(key, args["value"])
                and CATALOGUE[key].scope == "topic"
            ):
                return  # no ConfigRecord, and nothing that follows from one
            kraft.set_configs(k, after, key == MIN_ISR, out)
            return
        for broker in sim.brokers.values():
            process = broker.process
            if process is None:
                broker.machine.configs = after
                continue
            fetcher.configure(process, after, out)
            if process.status == UP:
                retention.arm(process, out)
        unclean_enabled = after.unclean and not before.unclean
        zookeeper.set_configs(k, after, unclean_enabled, out, of_cluster)

    sim.act(TIMER, CONTROLLER, "set", act)
    yield
    yield from pacing.pump(sim)
