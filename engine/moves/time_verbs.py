"""The verbs of time: settle, advance, run, and what waits or ticks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from engine.clients.clients import Producer
from engine.dataplane import futures, insync, retention, tiering
from engine.faults import fault_plan
from engine.model import timers
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.phrases import phrase
from engine.model.state import UP
from engine.moves.move_errors import is_up, label, nothing, one_broker, refuse
from engine.moves.moves import Args, Words, verb
from engine.sim import pacing
from engine.sim.kernel import FAILURE, TIMER
from engine.sim.simulation import Simulation


@verb(
    "settle",
    "time",
    "settle",
    "Messages arrive and followers fetch until nothing changes any more.",
    nothing,
)
def _settle(sim: Simulation, args: Args) -> Iterator[None]:
    yield from pacing.settle(sim, pauses=True)


@verb(
    "advance",
    "time",
    "advance 500|1.5s",
    "Time passes; whatever is due fires.",
    lambda words: {"ms": words.duration()},
)
def _advance(sim: Simulation, args: Args) -> Iterator[None]:
    yield from pacing.run_until(sim, sim.now + args["ms"])


@verb(
    "at",
    "time",
    "at 15s",
    "Time passes until the clock shows this.",
    lambda words: {"ms": words.duration()},
    lambda sim, args: (
        "" if args["ms"] >= sim.now else phrase("The clock shows {0} ms already.", sim.now)
    ),
)
def _at(sim: Simulation, args: Args) -> Iterator[None]:
    yield from pacing.run_until(sim, args["ms"])


@verb(
    "step",
    "time",
    "+40",
    "The clock fires so many events.",
    lambda words: {"count": words.number(words.take("a number"), 100_000)},
)
def _step(sim: Simulation, args: Args) -> Iterator[None]:
    left, kernel = args["count"], sim.kernel
    give_up = sim.now + pacing.PATIENCE_MS  # of a dead cluster only idle timers are left
    while left and kernel.pending and kernel.due() <= give_up:
        if sim.fire_next():
            left -= 1
            give_up = sim.now + pacing.PATIENCE_MS
            yield


def _is_noticed(sim: Simulation, broker: int) -> bool:
    k = sim.cluster.controller
    registration = k.brokers.get(broker)
    return registration is None or registration.fenced


def _why_not_detect(sim: Simulation, args: Args) -> str:
    broker = args["broker"]
    if sim.brokers[broker].status == UP and not sim.network.is_out_of_touch(broker):
        return refuse(sim, "alive", f"kill {label(sim, broker)}", b=broker)
    return ""


@verb(
    "detect",
    "time",
    "detect B",
    "Time passes until the controller has noticed that a broker is gone.",
    one_broker,
    _why_not_detect,
)
def _detect(sim: Simulation, args: Args) -> Iterator[None]:
    yield from pacing.run_while(sim, lambda: not _is_noticed(sim, args["broker"]))
    yield from pacing.pump(sim)


@verb(
    "run",
    "time",
    "run [60s]",
    "The workload and the fault plan play by the clock for so long.",
    lambda words: {"ms": words.duration() if words.words else 0},
)
def _run(sim: Simulation, args: Args) -> Iterator[None]:
    duration = args["ms"] or sim.scenario.duration_ms
    start_workload(sim, sim.now + duration)
    yield from pacing.run_until(sim, sim.now + duration)


def start_workload(sim: Simulation, stop_at: int) -> None:
    """Start producers, consumers and the fault plan, until `stop_at` ms."""
    for client in sim.clients.values():
        if isinstance(client, Producer) and client.interval:
            client.stop_at = stop_at
            if client.ticking:
                continue  # an earlier run's last tick goes on from there
            client.ticking = True
            first = client.chance.between(1, client.interval)
            if client.pace is not None and client.pace.steady:
                first = client.interval
            sim.kernel.schedule(first, TIMER, client.id, (timers.CLIENT_TICK, None, 0))
    for number in range(len(sim.scenario.workload.consumers)):
        consumer = sim.consumer(number + 1)
        if not consumer.running:
            consumer.running = True
            sim.kernel.schedule(0, TIMER, consumer.id, (timers.CLIENT_TICK, None, 0))
    sim.plans += fault_plan.scheduled_plans(sim, stop_at)


@verb(
    "future",
    "time",
    "future 7",
    "From here on chance is drawn anew: another future of the same present.",
    lambda words: {"number": words.number(words.take("a number"), 100_000_000)},
)
def _future(sim: Simulation, args: Args) -> Iterator[None]:
    def draw_anew(out: Any) -> None:
        sim.draw_anew(args["number"])

    sim.act(FAILURE, CONTROLLER, "future", draw_anew)
    yield


def _parse_fetching(words: Words) -> Args:
    mode = words.take("auto or manual")
    if mode not in ("auto", "manual"):
        raise words.fail("“{0}” is neither auto nor manual.", mode)
    return {"auto": mode == "auto"}


@verb(
    "fetching",
    "time",
    "fetching auto|manual",
    "Do followers fetch by themselves, or only when a hand says so?",
    _parse_fetching,
)
def _fetching(sim: Simulation, args: Args) -> Iterator[None]:
    def switch(out: Any) -> None:
        sim.auto = args["auto"]
        for broker in sim.brokers.values():
            broker.machine.auto_fetch = sim.auto
        sim.network.drive(by_hand=not sim.auto)
        if sim.auto:
            for process in filter(None, (broker.process for broker in sim.brokers.values())):
                futures.wake(process, out)
                for key, thread in process.fetchers.items():
                    if not thread.outstanding:
                        thread.waking = out.now
                        out.timer(process.id, 0, timers.FETCHER_WORK, key)

    sim.act(TIMER, CONTROLLER, "fetching", switch)
    yield
    yield from pacing.pump(sim)


def _check_isr(broker: Process, out: Effects) -> None:
    for replica in broker.replicas.values():
        insync.maybe_shrink_isr(broker, replica, out)


TASKS: Final = {
    "": ("isr-expiration", _check_isr),
    "remote": ("remote log tasks", tiering.run_tasks),
    "retention": ("log retention", retention.delete_old),
}
"""Argument of `tick` -> name of the event, and the function that runs."""


def _parse_tick(words: Words) -> Args:
    args: Args = {"broker": words.broker(), "task": words.words.pop(0) if words.words else ""}
    if args["task"] not in TASKS:
        raise words.fail("“{0}” is neither remote nor retention.", args["task"][:40])
    return args


def _why_not_tick(sim: Simulation, args: Args) -> str:
    if args["task"] == "remote" and sim.cluster.store is None:
        return refuse(sim, "no.store")
    return is_up(sim, args)


@verb(
    "tick",
    "time",
    "tick B [remote|retention]",
    "A broker checks its ISRs now, or copies and expires remote segments, or deletes local ones.",
    _parse_tick,
    _why_not_tick,
)
def _tick(sim: Simulation, args: Args) -> Iterator[None]:
    broker = sim.brokers[args["broker"]].running
    name, task = TASKS[args["task"]]
    sim.act(TIMER, broker.id, name, lambda out: task(broker, out))
    yield
    yield from pacing.pump(sim)
