"""The verbs by which a broker leaves a cluster for good."""

from __future__ import annotations

from collections.abc import Iterator

from engine.controlplane import admin, election, kraft, reassignment, zookeeper
from engine.faults import faults
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.records import Ids
from engine.model.state import DOWN
from engine.moves.move_errors import label, not_running, one_broker, refuse
from engine.moves.moves import Args, verb
from engine.moves.topic_verbs import reassign
from engine.sim import pacing
from engine.sim.kernel import TIMER
from engine.sim.simulation import Simulation

# -- unregister ------------------------------------------------------------------------------------


def _why_not_unregister(sim: Simulation, args: Args) -> str:
    k, broker = sim.cluster.controller, args["broker"]
    if sim.profile.mode == "zk":
        return refuse(sim, "zookeeper.forgets")
    if not k.alive:
        return refuse(sim, "controller.none", "restart K")
    if broker not in k.brokers:
        return refuse(sim, "id.unknown", b=broker)
    if sim.brokers[broker].status != DOWN:
        return refuse(sim, "shut.first", f"shutdown {label(sim, broker)}", b=broker)
    return ""


@verb(
    "unregister",
    "admin",
    "unregister B",
    "The KRaft controller forgets a broker that does not come back.",
    one_broker,
    _why_not_unregister,
)
def _unregister(sim: Simulation, args: Args) -> Iterator[None]:
    broker = args["broker"]
    k = sim.cluster.controller
    sim.act(TIMER, CONTROLLER, "unregister", lambda out: admin.unregister(k, broker, out))
    yield
    yield from pacing.pump(sim)


# -- decommission ----------------------------------------------------------------------------------


def hosted(sim: Simulation, broker: int) -> list[int]:
    """Return the partitions that list the broker among their replicas."""
    records = sim.cluster.controller.records
    return [tp for tp, record in records.items() if broker in record.replicas]


def targets(sim: Simulation, broker: int) -> dict[int, Ids]:
    """CP-DECOMMISSION 1.  Return the new replicas of a broker's partitions.

    In the broker's place comes, each time, the one that has the fewest replicas and is not among
    them yet.  A partition without such a broker is missing.
    """
    k = sim.cluster.controller
    able = [b for b in sorted(k.brokers) if b != broker and not _leaving(sim, b)]
    load = dict.fromkeys(able, 0)
    for record in k.records.values():
        for member in record.replicas:
            if member in load:
                load[member] += 1
    by_partition = {}
    for tp in hosted(sim, broker):
        record = k.records[tp]
        now = reassignment.target_of(record.replicas, record.removing)
        free = [b for b in able if b not in now]
        if broker not in now or not free:
            continue
        chosen = min(free, key=lambda b: (load[b], b))
        load[chosen] += 1
        by_partition[tp] = tuple(chosen if b == broker else b for b in now)
    return by_partition


def _leaving(sim: Simulation, broker: int) -> bool:
    registration = sim.cluster.controller.brokers[broker]
    return registration.fenced or registration.shutting_down


def _why_not_decommission(sim: Simulation, args: Args) -> str:
    broker = args["broker"]
    why = not_running(sim, broker)
    if why:
        return why
    if not sim.cluster.controller.alive:
        return refuse(sim, "controller.none", "restart K")
    records = sim.cluster.controller.records
    if any(records[tp].reassigning for tp in hosted(sim, broker)):
        return refuse(sim, "reassigning")
    stuck = [tp for tp in hosted(sim, broker) if tp not in targets(sim, broker)]
    if stuck:
        return refuse(sim, "nobody.takes.over", s=sim.cluster.names[stuck[0]])
    return ""


@verb(
    "decommission",
    "admin",
    "decommission B",
    "A broker is emptied, then shut down and, with KRaft, forgotten.",
    one_broker,
    _why_not_decommission,
)
def _decommission(sim: Simulation, args: Args) -> Iterator[None]:
    """CP-DECOMMISSION.  Move its replicas, wait, balance the leaderships, shut down, unregister.

    Where the replicas cannot move, because a new one never catches up, it stays and serves.
    """
    broker = args["broker"]
    plan = targets(sim, broker)

    def move(out: Effects) -> None:
        out.cue("CP-DECOMMISSION", CONTROLLER, "broker", None, len(plan), about=broker)
        for tp, target in plan.items():
            reassign(sim, tp, target, out)

    sim.act(TIMER, CONTROLLER, "decommission", move)
    yield
    yield from _until_moved(sim, broker)
    if hosted(sim, broker):
        return
    away = [tp for tp in plan if election.imbalanced(sim.cluster.controller.records[tp])]
    if away:
        sim.act(TIMER, CONTROLLER, "elect", lambda out: _balance(sim, away, out))
        yield
        yield from pacing.pump(sim)
    faults.shut_down(sim, broker)
    yield
    yield from pacing.run_while(sim, lambda: sim.brokers[broker].status != DOWN)
    yield from pacing.pump(sim)
    if sim.profile.mode == "kraft" and sim.brokers[broker].status == DOWN:
        yield from _unregister(sim, args)


def _until_moved(sim: Simulation, broker: int) -> Iterator[None]:
    """CP-DECOMMISSION 3.  Wait until no partition lists the broker, or nothing moves."""
    yield from pacing.pump(sim)
    if sim.auto:
        yield from pacing.run_while(sim, lambda: bool(hosted(sim, broker)))
    else:
        yield from pacing.settle(sim)


def _balance(sim: Simulation, tps: list[int], out: Effects) -> None:
    """CP-DECOMMISSION 5.  Run a preferred election of every partition that was moved."""
    k = sim.cluster.controller
    for tp in tps:
        out.cue("CP-ELECT-ADMIN", CONTROLLER, "elect", election.PREFERRED, None)
        if sim.profile.mode == "kraft":
            kraft.elect(k, tp, election.PREFERRED, out)
        else:
            zookeeper.admin_elect(k, tp, election.PREFERRED_REPLICA, out, unclean=False)
