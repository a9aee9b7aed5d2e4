"""The verbs of messages: fetch rounds by hand, delivering, dropping, holding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.dataplane import purgatory
from engine.model.messages import Message
from engine.model.state import DOWN, UP
from engine.sim import pacing
from engine.sim.kernel import FAILURE
from engine.sim.moves import Args, Words, verb
from engine.sim.simulation import Simulation
from engine.sim.wording import label, not_running, one_broker, refuse


def _parse_fetch(words: Words) -> Args:
    args: Args = {"broker": words.broker(), "times": 1}
    if words.words and words.words[0].startswith("x"):
        args["times"] = max(1, words.number(words.words.pop(0)[1:], 100))
    return args


def _why_not_fetch(sim: Simulation, args: Args) -> str:
    broker = args["broker"]
    why = not_running(sim, broker)
    if why:
        return why
    if not sim.brokers[broker].fetchers:
        if sim.brokers[broker].failed:
            return refuse(sim, "fetcher.failed", b=broker)
        return refuse(sim, "follows.nobody", b=broker)
    if sim.auto:
        return refuse(sim, "auto", "fetching manual")
    return ""


@verb(
    "fetch",
    "deliver",
    "fetch B [xN]",
    "One complete fetch round of a follower, truncation included if it is due.",
    _parse_fetch,
    _why_not_fetch,
)
def _fetch(sim: Simulation, args: Args) -> Iterator[None]:
    for _ in range(args["times"]):
        for thread in pacing.threads_of(sim, args["broker"]):
            yield from pacing.fetch_round(sim, args["broker"], thread)
        yield from pacing.pump(sim)


@verb(
    "ask",
    "deliver",
    "ask B",
    "A follower's fetch reaches the leader; the answer stays on the wire.",
    one_broker,
    _why_not_fetch,
)
def _ask(sim: Simulation, args: Args) -> Iterator[None]:
    for thread in pacing.threads_of(sim, args["broker"]):
        yield from pacing.fetch_round(sim, args["broker"], thread, withhold=True)
    yield from pacing.pump(sim)


def _parse_direction(words: Words) -> Args:
    a, b, both = words.link()
    if both:
        raise words.fail("Say which way, such as 2->1.")
    return {"src": a, "dst": b}


def _why_not_deliver(sim: Simulation, args: Args) -> str:
    src, dst = args["src"], args["dst"]
    if _on_link(sim, src, dst) is not None or _can_appear(sim, src, dst):
        return ""
    for node in (src, dst):
        if node >= 0 and sim.brokers[node].status == DOWN:
            return not_running(sim, node)
    return refuse(sim, "nothing.sent", b=src, d=dst)


def _on_link(sim: Simulation, src: int, dst: int) -> Message | None:
    return sim.network.waiting_on(src, dst)


def _can_appear(sim: Simulation, src: int, dst: int) -> bool:
    """Could a message be made to travel: an idle fetcher's request, or a parked Fetch's answer?"""
    if sim.auto or src < 0 or dst < 0:
        return False
    if sim.brokers[src].status != UP:
        return False
    if any(t.leader == dst and not t.outstanding for t in pacing.threads_of(sim, src)):
        return True
    return purgatory.parked_from(sim.brokers[src], dst) is not None


def _bring_about(sim: Simulation, src: int, dst: int) -> Iterator[None]:
    """Makes the message that is to travel from `src` to `dst`, if there is none yet."""
    if _on_link(sim, src, dst) is not None:
        return
    parked = purgatory.parked_from(sim.brokers[src], dst)
    if parked is not None:
        pacing.expire(sim, sim.brokers[src], parked)
        yield
        return
    for thread in pacing.threads_of(sim, src):
        if thread.leader == dst and not thread.outstanding:
            pacing.make_fetcher_work(sim, src, thread)
            yield


@verb(
    "deliver",
    "deliver",
    "deliver 2->1",
    "The oldest message on its way arrives; an idle follower sends its fetch first.",
    _parse_direction,
    _why_not_deliver,
)
def _deliver(sim: Simulation, args: Args) -> Iterator[None]:
    src, dst = args["src"], args["dst"]
    yield from _bring_about(sim, src, dst)
    m = _on_link(sim, src, dst)
    if m is not None and sim.take(m):
        yield
    yield from pacing.pump(sim)


@verb(
    "drop",
    "deliver",
    "drop 1->2",
    "The oldest message on its way is lost, and its connection breaks.",
    _parse_direction,
    _why_not_deliver,
)
def _drop(sim: Simulation, args: Args) -> Iterator[None]:
    src, dst = args["src"], args["dst"]
    yield from _bring_about(sim, src, dst)
    m = _on_link(sim, src, dst)
    if m is not None:

        def lose(out: Any) -> None:
            out.cue("CP-8.5.drop", src, "lost", m.kind, (src, dst))
            sim.network.drop(m)

        sim.act(FAILURE, src, "drop", lose)
        yield
    yield from pacing.pump(sim)


def _parse_hold(words: Words) -> Args:
    what = words.take("md or alter")
    if what not in ("md", "alter"):
        raise words.fail(f"“{what}” is neither md nor alter.")
    return {"metadata": what == "md", "broker": words.broker()}


@verb(
    "hold",
    "deliver",
    "hold md B | hold alter B",
    "Control messages for a broker, or its AlterPartition requests, stay on the wire.",
    _parse_hold,
)
def _hold(sim: Simulation, args: Args) -> Iterator[None]:
    network = sim.network

    def act(out: Any) -> None:
        network.hold(args["broker"], args["metadata"])
        out.cue("CP-5.4.hold", args["broker"], "held", None, args["metadata"])

    sim.act(FAILURE, args["broker"], "hold", act)
    yield


def _is_held(sim: Simulation, args: Args) -> str:
    network, broker = sim.network, args["broker"]
    if broker in (network.held_metadata if args["metadata"] else network.held_alter):
        return ""
    what = "md" if args["metadata"] else "alter"
    return refuse(sim, "nothing.held", f"hold {what} {label(sim, broker)}", b=broker)


@verb(
    "release",
    "deliver",
    "release md B | release alter B",
    "What was held is delivered now.",
    _parse_hold,
    _is_held,
)
def _release(sim: Simulation, args: Args) -> Iterator[None]:
    def act(out: Any) -> None:
        sim.network.release(args["broker"], args["metadata"])
        out.cue("CP-5.4.release", args["broker"], "held", args["metadata"], None)

    sim.act(FAILURE, args["broker"], "release", act)
    yield
    yield from pacing.pump(sim)
