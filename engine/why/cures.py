"""Cures: what is needed for something to happen, and the first possible move that helps."""

from __future__ import annotations

from typing import Final

from engine.dataplane.fetcher import thread_of
from engine.dataplane.partition_fetch_state import lag_of
from engine.model.errors import InputError
from engine.model.messages import CONTROLLER, PRODUCE, Message
from engine.model.state import DOWN, PAUSED, Replica
from engine.moves import moves
from engine.moves.move_errors import label
from engine.sim.simulation import Simulation
from engine.story.entities import node, number, offset, say
from engine.view.wire import Sentence

Cure = tuple[Sentence, str | None]
"""(what is needed, the move that brings it about or nearer; None or "" if there is none)"""

LONGER: Final = 3
"""Lag times that are enough for every check that watches the lag."""


def is_possible(sim: Simulation, line: str) -> bool:
    try:
        move = moves.parse(line, sim.scenario.brokers)
    except InputError:
        return False
    return not moves.why_not(sim, move)


def cure(sim: Simulation, needed: Sentence, *lines: str) -> Cure:
    """Return the first of the lines that is possible."""
    return needed, next((line for line in lines if is_possible(sim, line)), "")


def place(tp: int) -> str:
    """Return the name of this partition in a move; the first needs none."""
    return f" p={tp}" if tp else ""


def appended(sim: Simulation, tp: int) -> Cure:
    """Return the cure that appends a record; one that is on its way has to arrive."""
    for m in sim.network.under_way():
        if m.kind == PRODUCE:
            return arrival(sim, m)
    return cure(sim, say("cure.append"), f"produce x{sim.ledger.sent} acks=1{place(tp)}")


FAR: Final = 10
"""Records behind which a follower may need more rounds than one would make by hand."""


def arrival(sim: Simulation, m: Message) -> Cure:
    """Return the cure for a message that is under way by the clock."""
    return cure(sim, say("cure.deliver"), f"advance {max(1, m.due - sim.now)}")


# -- nodes and links ------------------------------------------------------------------------------


def run_again(sim: Simulation, broker: int) -> Cure | None:
    """Return the cure for a process that is paused or down; None if it runs."""
    status, who = sim.brokers[broker].status, label(sim, broker)
    if status == DOWN:
        return cure(sim, say("cure.restart", b=node(broker)), f"restart {who}")
    if status == PAUSED:
        return cure(sim, say("cure.resume", b=node(broker)), f"resume {who}")
    return None


def connect(sim: Simulation, here: int, other: int) -> Cure | None:
    """Return the cure for a cut link; None if messages pass both ways."""
    if not sim.network.is_cut(here, other):
        return None
    a, b = label(sim, here), label(sim, other)
    needed = say("cure.heal", a=node(here), b=node(other))
    return cure(sim, needed, f"heal {a} {b}", f"heal {b} {a}")


def informed(sim: Simulation, broker: int) -> Cure:
    """Return what stands between a broker and the newest metadata; at last only time."""
    who = label(sim, broker)
    remedy = run_again(sim, broker)
    if remedy is None and not sim.cluster.controller.alive:
        remedy = cure(sim, say("cure.controller"), "restart K")
    if remedy is None:
        remedy = connect(sim, broker, CONTROLLER)
    if remedy is None and broker in sim.network.held_metadata:
        remedy = cure(sim, say("cure.release.md", b=node(broker)), f"release md {who}")
    return remedy or cure(sim, say("cure.time"), "advance 5s")


def answered(sim: Simulation, leader: int) -> Cure:
    """Return the cure for an ISR change that is in flight."""
    if leader in sim.network.held_alter:
        needed = say("cure.release.alter", b=node(leader))
        return cure(sim, needed, f"release alter {label(sim, leader)}")
    return informed(sim, leader)


# -- fetching -------------------------------------------------------------------------------------


def fetched(sim: Simulation, leader: Replica, follower: int, target: int) -> Cure:
    """Return the cure until the leader knows that the follower has everything below `target`."""
    remedy = (
        run_again(sim, leader.broker)
        or run_again(sim, follower)
        or connect(sim, follower, leader.broker)
    )
    if remedy is not None:
        return remedy
    begun = begun_anew(sim, leader.tp, follower)
    if begun is not None:
        return begun
    thread = thread_of(sim.brokers[follower].running, leader.tp)
    if thread is None or thread.leader != leader.broker:
        return informed(sim, follower)
    f = node(follower)
    held = (
        taken_whole(sim, leader, follower)
        or unthrottled(sim, leader, follower)
        or disk_written(sim, follower)
        or store_mended(sim, leader, follower)
    )
    if held is not None:
        return held
    if sim.auto:
        return cure(sim, say("cure.fetch.time", f=f, o=offset(target)), "advance 2s")
    who = label(sim, follower)
    needed = say("cure.fetch", f=f, o=offset(target))
    own = sim.brokers[follower].machine.disks[leader.tp].log
    if target - own.leo > FAR:
        return cure(sim, needed, "settle")
    rounds = f"fetch {who}" if own.leo >= target else f"fetch {who} x2"
    return cure(sim, needed, rounds, f"fetch {who}", "settle")


def begun_anew(sim: Simulation, tp: int, follower: int) -> Cure | None:
    """Return the cure for a partition stopped by an unexpected error; None if none was.

    Its thread ended before 2.3 (F-8), since then it is set aside; a new process begins with new
    threads.
    """
    process = sim.brokers[follower].process
    if process is None:
        return None
    thread = thread_of(process, tp)
    if tp not in process.failed and (thread is None or not thread.dead):
        return None
    who = label(sim, follower)
    return cure(sim, say("cure.anew", f=node(follower)), f"stop {who}", f"kill {who}")


def taken_whole(sim: Simulation, leader: Replica, follower: int) -> Cure | None:
    """Return the cure for a batch that is larger than a fetch may be; None if there is none.

    It matters where the first batch is not sent whole (before KIP-74).
    """
    size = oversized(sim, leader, follower)
    if not size:
        return None
    needed = say("cure.bytes", n=number(size))
    keys = ("replica.fetch.max.bytes", "replica.fetch.response.max.bytes")
    limits = sim.brokers[follower].running.configs.fetch_limits
    return cure(sim, needed, f"set {keys[limits.partition >= size]}={size}")


def oversized(sim: Simulation, leader: Replica, follower: int) -> int:
    """Return bytes of the batch that the follower needs next, if it can never get it; else 0."""
    asks, sends = sim.brokers[follower].process, sim.brokers[leader.broker].process
    own = None if asks is None else asks.replicas.get(leader.tp)
    if asks is None or sends is None or own is None or leader.profile.fair_order:
        return 0
    next_ = next((batch for batch in leader.log.batches if batch.end > own.log.leo), None)
    if next_ is None:
        return 0
    size = (next_.end - next_.base) * sends.configs.record_bytes
    limits = asks.configs.fetch_limits
    return size if size > min(limits.partition, limits.response) else 0


def unthrottled(sim: Simulation, leader: Replica, follower: int) -> Cure | None:
    """Return the cure for a quota that holds this follower back now, or None (Q-2, Q-3)."""
    side = throttle(sim, leader, follower)
    if not side:
        return None
    key = f"{side}.replication.throttled.replicas"
    return cure(sim, say("cure.quota", f=node(follower)), f"set {key}=", "advance 10s")


def throttle(sim: Simulation, leader: Replica, follower: int) -> str:
    """Return the side whose replication quota holds this follower back now, or ""."""
    sends, asks = sim.brokers[leader.broker].running, sim.brokers[follower].running
    in_sync = follower in leader.isr
    if sends.quotas is not None and sends.quotas.leader_would(leader.tp, in_sync, sim.now):
        return "leader"
    lag = lag_of(asks, leader.tp)
    if asks.quotas is not None and asks.quotas.follower_would(leader.tp, lag, sim.now):
        return "follower"
    return ""


def disk_written(sim: Simulation, broker: int) -> Cure | None:
    """Return the cure for a disk that is still writing; None if it is done (8.6)."""
    if disk_ms(sim, broker) <= 0:
        return None
    needed = say("cure.disk", b=node(broker))
    return cure(sim, needed, f"advance {disk_ms(sim, broker)}")


def disk_ms(sim: Simulation, broker: int) -> int:
    return -(-sim.brokers[broker].running.disk_free_us // 1000) - sim.now


def store_mended(sim: Simulation, leader: Replica, follower: int) -> Cure | None:
    """Return the cure for a store that fails while a follower needs it (R-5); None if it works."""
    store = sim.cluster.store
    thread = thread_of(sim.brokers[follower].running, leader.tp)
    if store is None or store.up or thread is None:
        return None
    if thread.partitions[leader.tp].offset >= leader.log.local_start:
        return None
    return cure(sim, say("cure.store", f=node(follower)), "store up")


def fallen_behind(sim: Simulation, replica: Replica, follower: int) -> Cure:
    """Return the cure until a member is late: no fetch for longer than the lag time allows."""
    lag = replica.configs.lag_time_max_ms
    a, b = label(sim, replica.broker), label(sim, follower)
    f = node(follower)
    if replica.profile.leo_equal_is_insync and replica.remote[follower].leo == replica.log.leo:
        return appended(sim, replica.tp)
    if connect(sim, follower, replica.broker) is None and run_again(sim, follower) is None:
        return cure(sim, say("cure.cut", a=node(replica.broker), b=f), f"cut {a} {b}")
    return cure(sim, say("cure.lag", f=f, n=offset(lag)), f"advance {LONGER * lag}")
