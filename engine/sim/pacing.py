"""Progress of a run: by the clock, until a condition holds, or until nothing changes any more."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, Final

from engine.dataplane import fetcher, futures, purgatory
from engine.model.broker import Process
from engine.model.messages import CONTROLLER, FETCH, FetchResponse, Message
from engine.model.session_messages import SessionAnswer
from engine.model.state import NEVER, UP, FetcherThread
from engine.sim.kernel import TIMER
from engine.sim.simulation import Simulation

PUMP_LIMIT: Final = 20_000
SETTLE_ROUNDS: Final = 200
PATIENCE_MS: Final = 120_000


def run_until(sim: Simulation, time: int) -> Generator[None, None, None]:
    """Fire everything due up to `time`, then let the clock stand there."""
    if sim.rush:
        sim.run_until(time)
        return
    kernel = sim.kernel
    pending = kernel.pending
    fire = sim.fire_next
    sim.clock_until = time
    try:
        while pending and pending[0][0] <= time:
            if fire():
                yield
                if sim.events > sim.budget:
                    return
        kernel.now = max(kernel.now, time)
    finally:
        sim.clock_until = -1


def pump(sim: Simulation) -> Iterator[None]:
    """Play all that is due now: time stands.  Control messages without delay arrive this way."""
    kernel = sim.kernel
    for _ in range(PUMP_LIMIT):
        if not kernel.pending or kernel.pending[0][0] > kernel.now:
            return
        if sim.fire_next() and not sim.rush:
            yield


def run_while(
    sim: Simulation, condition: Callable[[], bool], patience: int = PATIENCE_MS
) -> Iterator[None]:
    """Let the clock run as long as `condition` holds, at most `patience` ms."""
    end = sim.now + patience
    kernel = sim.kernel
    while condition():
        due = kernel.due()
        if due < 0 or due > end or sim.events > sim.budget:
            return
        if sim.fire_next() and not sim.rush:
            yield


def until_informed(sim: Simulation, broker_id: int) -> Iterator[None]:
    """Wait until it is registered, unfenced and has applied all metadata not held back."""
    broker = sim.brokers[broker_id]
    k = sim.cluster.controller

    def waits() -> bool:
        process = broker.process
        if process is None or process.status != UP:
            return process is not None
        behind = sim.profile.mode == "kraft" and process.metadata_offset < k.committed
        return behind and broker_id not in sim.network.held_metadata

    if k.alive and not sim.network.is_cut(broker_id, CONTROLLER):
        yield from run_while(sim, waits)
    yield from pump(sim)


# -- by hand --------------------------------------------------------------------------------------


def threads_of(sim: Simulation, follower: int) -> list[FetcherThread]:
    process = sim.brokers[follower].process
    return [] if process is None else list(process.fetchers.values())


def make_fetcher_work(sim: Simulation, follower: int, thread: FetcherThread) -> bool:
    """F-4 by hand.  Run the loop now, back-off or not; True if a request went out."""
    broker = sim.brokers[follower].running

    def work(out: Any) -> None:
        for state in thread.partitions.values():
            state.delay_until = NEVER
        fetcher.do_work(broker, thread, out)

    sim.act(TIMER, follower, "fetcher", work)
    return thread.outstanding != 0


def hand_step(sim: Simulation, follower: int, thread: FetcherThread) -> Message | None:
    """Take an outstanding request one step: deliver it, end its wait, or answer it.

    The message that was handled, or None when nothing could be done.
    """
    leader = thread.leader
    for src, dst in ((leader, follower), (follower, leader)):
        for m in sim.network.hands:
            if m.src == src and m.dst == dst and m.corr == thread.outstanding:
                sim.take(m)
                return m
    broker = sim.brokers.get(leader)
    target = None if broker is None else broker.process
    if target is not None and target.status == UP:
        parked = purgatory.parked_from(target, follower, thread.outstanding)
        if parked is not None:
            expire(sim, target, parked)
            return parked.request
    return None


def expire(sim: Simulation, leader: Process, parked: Any) -> None:
    """S-6 by hand.  Answer the waiting Fetch now, as when its time is over."""
    sim.act(
        TIMER,
        leader.id,
        "fetch expires",
        lambda out: purgatory.complete_fetch(leader, parked, out),
    )


def _backs_off(thread: FetcherThread, now: int) -> bool:
    """F-8.  Check whether every partition of a fetcher without a request waits for a back-off."""
    waits = all(state.delay_until > now for state in thread.partitions.values())
    return waits and not thread.outstanding


def fetch_round(
    sim: Simulation, follower: int, thread: FetcherThread, withhold: bool = False
) -> Iterator[None]:
    """Play a complete round: truncation if due, then one Fetch, its answer, and what that asks for.

    With `withhold` it ends when the leader has handled the Fetch; the answer stays on the wire.
    """
    broker, answered = sim.brokers[follower], False
    for _ in range(SETTLE_ROUNDS):
        process = broker.process
        if process is None or process.fetchers.get((thread.leader, thread.fetcher)) is not thread:
            return
        if not thread.outstanding:
            if not make_fetcher_work(sim, follower, thread):
                yield
                return
            yield
        m = hand_step(sim, follower, thread)
        if m is None:
            yield from pump(sim)
            if thread.outstanding == 0:
                return
            if hand_step(sim, follower, thread) is None:
                return
        yield
        if m is not None and m.kind == FETCH and withhold:
            return
        if sim.cluster.store is not None and _backs_off(thread, sim.now):
            return  # it rebuilt in vain
        if isinstance(m, FetchResponse):
            yield from pump(sim)
            answered = not (isinstance(m, SessionAnswer) and m.error)  # it costs a round trip
        if answered and not thread.outstanding:
            return


def settle(sim: Simulation, first: int = 0, pauses: bool = False) -> Generator[None, None, None]:
    """Deliver control messages and let live followers fetch until nothing changes; time stands.

    With automatic fetching the clock runs instead, until the in-sync replicas agree.  With `pauses`
    a listener gets one before each round, where `first` lets a copy go on (`settle_round`).
    """
    if sim.auto:
        yield from run_while(sim, lambda: not is_quiet(sim), 60_000)
        if is_calm(sim):
            sim.checker.on_settled(sim.events)
        return
    yield from pump(sim)
    for number in range(first, SETTLE_ROUNDS):
        if pauses and sim.listener is not None:
            sim.settle_round = number
            yield
            sim.settle_round = -1
        before = fingerprint(sim)
        answered = False
        for follower in sorted(sim.brokers):
            if sim.brokers[follower].status == UP:
                for thread in threads_of(sim, follower):
                    held = thread.outstanding
                    yield from fetch_round(sim, follower, thread)
                    answered |= held != 0 and thread.outstanding == 0
                    yield from pump(sim)
        yield from copy_all(sim)
        if fingerprint(sim) == before and not answered:
            return  # an answer that was held back may be older than the newest record


def copy_all(sim: Simulation) -> Iterator[None]:
    """D-2 by hand.  Copy logs that move to another directory, as far as the quota allows."""
    for broker in sim.brokers.values():
        while broker.machine.futures and (process := broker.process) and process.status == UP:
            if futures.next_partition(process) < 0:
                break
            if not copy_round(sim, process):
                return
            yield
            yield from pump(sim)


def copy_round(sim: Simulation, broker: Process) -> bool:
    """D-2 by hand.  Copy one round; False if the quota is used up."""
    done: list[bool] = []
    sim.act(TIMER, broker.id, "copy", lambda out: done.append(futures.work(broker, out)))
    return done[0]


def fingerprint(sim: Simulation) -> tuple[Any, ...]:
    """Return the state that `settle` waits on: logs, marks, roles, epochs, ISR."""
    parts: list[Any] = []
    for broker in sim.brokers.values():
        for tp, replica in broker.replicas.items():
            log = replica.log
            parts.append(
                (
                    broker.id,
                    tp,
                    log.leo,
                    log.hw,
                    log.log_start,
                    len(log.epochs.epochs),
                    replica.role,
                    replica.leader_epoch,
                    replica.isr,
                    replica.pending,
                )
            )
        parts.append(() if broker.process is None else tuple(sorted(broker.process.failed)))
        moves = broker.machine.futures
        if moves:
            parts.append(tuple((tp, move.disk.log.leo) for tp, move in moves.items()))
    records = sim.cluster.controller.records.values()
    parts += [(record.leader_epoch, record.partition_epoch) for record in records]
    return tuple(parts)


def is_quiet(sim: Simulation) -> bool:
    """Check that all live replicas of every partition with a leader are equal and in sync."""
    for tp, record in sim.cluster.controller.records.items():
        leader = sim.cluster.current_leader(tp)
        if record.leader >= 0 and leader is None:
            return False
        if leader is None:
            continue
        for broker_id in record.replicas:
            broker = sim.brokers[broker_id]
            process = broker.process
            if process is None or tp in process.offline:
                continue
            replica = process.replicas.get(tp)
            if replica is None or broker_id not in record.isr or tp in broker.machine.futures:
                return False
            if replica.log.leo != leader.log.leo or replica.log.hw != leader.log.hw:
                return False
    return True


def is_calm(sim: Simulation) -> bool:
    """Check that all faults are healed and traffic over, so that the replicas converge (I13).

    A directory that has failed counts as healed once the controller has heard of it (8.4).
    """
    network = sim.network
    controller = sim.cluster.controller
    return (
        controller.alive
        and sim.cluster.zombie is None
        and not any(
            tp in controller.records and (node, tp) not in controller.offline
            for node, broker in sim.brokers.items()
            for tp in (() if broker.process is None else broker.process.offline)
        )
        and all(broker.status == UP for broker in sim.brokers.values())
        and all(controller.active(broker) for broker in sim.brokers)
        and not (network.links or network.held_metadata or network.held_alter)
        and not network.settings.loss
        and not any(client.is_busy(sim.now) for client in sim.clients.values())
    )
