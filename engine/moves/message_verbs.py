"""The verbs of messages: fetch rounds by hand, delivering, dropping, holding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.dataplane import purgatory
from engine.model.control_messages import MetadataRecords
from engine.model.messages import CONTROLLER, REPLIES, Message
from engine.model.state import DOWN, UP
from engine.moves.move_errors import label, not_running, one_broker, refuse, voter
from engine.moves.moves import Args, Words, label_of, verb
from engine.sim import pacing
from engine.sim.kernel import FAILURE
from engine.sim.simulation import Simulation


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
    threads = pacing.threads_of(sim, broker)
    if all(thread.dead for thread in threads):
        if threads:
            return refuse(sim, "fetcher.dead", b=broker)
        if sim.brokers[broker].running.failed:
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


def _parse_message(words: Words) -> Args:
    src, dst = words.way()
    return {"src": src, "dst": dst, "kind": words.message_kind()}


def _nobody(sim: Simulation, args: Args) -> str:
    """Return why one end is a client or a voter that this run does not have, or ""."""
    for node in (args["src"], args["dst"]):
        if node < CONTROLLER and node not in sim.clients and voter(sim, node) is None:
            return refuse(sim, "no.client", b=node)
    return ""


def _why_not_deliver(sim: Simulation, args: Args) -> str:
    src, dst = args["src"], args["dst"]
    if _on_link(sim, args) is not None or (not args["kind"] and _can_appear(sim, src, dst)):
        return ""
    for node in (src, dst):
        if node >= 0 and sim.brokers[node].status == DOWN:
            return not_running(sim, node)
    return _nobody(sim, args) or _nothing(sim, args)


def _nothing(sim: Simulation, args: Args) -> str:
    src, dst = args["src"], args["dst"]
    if args["kind"]:
        return refuse(sim, "nothing.such.sent", s=label_of(args["kind"]), b=src, d=dst)
    return refuse(sim, "nothing.sent", b=src, d=dst)


def _on_link(sim: Simulation, args: Args) -> Message | None:
    return sim.network.waiting_on(args["src"], args["dst"], args["kind"])


def _can_appear(sim: Simulation, src: int, dst: int) -> bool:
    """Check whether a message can be made to travel.

    It is an idle fetcher's request, or the answer of a parked Fetch.
    """
    if sim.auto or src < 0 or dst < 0:
        return False
    process = sim.brokers[src].process
    if process is None or process.status != UP:
        return False
    if any(t.leader == dst and t.is_idle() for t in pacing.threads_of(sim, src)):
        return True
    return purgatory.parked_from(process, dst) is not None


def _bring_about(sim: Simulation, args: Args) -> Iterator[None]:
    """Make the message that is to travel from `src` to `dst`, if there is none yet."""
    src, dst = args["src"], args["dst"]
    if _on_link(sim, args) is not None:
        return
    process = sim.brokers[src].process
    parked = None if process is None else purgatory.parked_from(process, dst)
    if process is not None and parked is not None:
        pacing.expire(sim, process, parked)
        yield
        return
    for thread in pacing.threads_of(sim, src):
        if thread.leader == dst and thread.is_idle():
            pacing.make_fetcher_work(sim, src, thread)
            yield


@verb(
    "deliver",
    "deliver",
    "deliver 2->1 [Fetch]",
    "The oldest message on its way arrives; an idle follower sends its fetch first.",
    _parse_message,
    _why_not_deliver,
)
def _deliver(sim: Simulation, args: Args) -> Iterator[None]:
    yield from _bring_about(sim, args)
    m = _on_link(sim, args)
    if m is not None and sim.take(m):
        yield
    yield from pacing.pump(sim)


@verb(
    "drop",
    "deliver",
    "drop 1->2 [FetchResponse]",
    "The oldest message on its way is lost, and its connection breaks.",
    _parse_message,
    _why_not_deliver,
)
def _drop(sim: Simulation, args: Args) -> Iterator[None]:
    src, dst = args["src"], args["dst"]
    yield from _bring_about(sim, args)
    m = _on_link(sim, args)
    if m is not None:

        def lose(out: Any) -> None:
            out.cue("CP-8.5.drop", src, "lost", m.kind, (src, dst))
            sim.network.drop(m)

        sim.act(FAILURE, src, "drop", lose)
        yield
    yield from pacing.pump(sim)


# -- holding --------------------------------------------------------------------------------------


def _parse_hold(words: Words) -> Args:
    if any("->" in word for word in words.words[:2]):
        return _parse_message(words)
    what = words.take("md, alter or a direction")
    if what not in ("md", "alter"):
        raise words.fail("“{0}” is neither md nor alter nor a direction.", what)
    return {"metadata": what == "md", "broker": words.broker()}


def _way(args: Args) -> tuple[int, int, int]:
    return args["src"], args["dst"], args["kind"]


def _why_not_hold(sim: Simulation, args: Args) -> str:
    if "broker" in args:
        return ""
    if _way(args) in sim.network.held_ways:
        return refuse(sim, "held.already", d=args["dst"])
    return _nobody(sim, args)


@verb(
    "hold",
    "deliver",
    "hold 2->1 [Fetch] | hold md B | hold alter B",
    "Messages on a way, metadata for a broker, or its AlterPartition requests, stay on the wire.",
    _parse_hold,
    _why_not_hold,
)
def _hold(sim: Simulation, args: Args) -> Iterator[None]:
    network = sim.network

    def hold_kind(out: Any) -> None:
        network.hold(args["broker"], args["metadata"])
        out.cue("CP-5.4.hold", args["broker"], "held", None, args["metadata"])

    def hold_way(out: Any) -> None:
        network.hold_way(*_way(args))
        out.cue("CP-8.5.hold", args["src"], "held", args["kind"], (args["src"], args["dst"]))

    if "broker" in args:
        sim.act(FAILURE, args["broker"], "hold", hold_kind)
    else:
        sim.act(FAILURE, args["src"], "hold", hold_way)
    yield


def _why_not_release(sim: Simulation, args: Args) -> str:
    network = sim.network
    if "broker" not in args:
        if _way(args) in network.held_ways:
            return ""
        return refuse(sim, "nothing.way.held", b=args["src"], d=args["dst"])
    broker = args["broker"]
    if broker in (network.held_metadata if args["metadata"] else network.held_alter):
        return ""
    what = "md" if args["metadata"] else "alter"
    return refuse(sim, "nothing.held", f"hold {what} {label(sim, broker)}", b=broker)


@verb(
    "release",
    "deliver",
    "release 2->1 [Fetch] | release md B | release alter B",
    "What was held goes on its way now.",
    _parse_hold,
    _why_not_release,
)
def _release(sim: Simulation, args: Args) -> Iterator[None]:
    network = sim.network

    def release_kind(out: Any) -> None:
        if args["metadata"]:
            _complete_metadata(sim, args["broker"])
        network.release(args["broker"], args["metadata"])
        out.cue("CP-5.4.release", args["broker"], "held", args["metadata"], None)

    def release_way(out: Any) -> None:
        network.release_way(*_way(args))
        out.cue("CP-8.5.release", args["src"], "held", args["kind"], (args["src"], args["dst"]))

    if "broker" in args:
        sim.act(FAILURE, args["broker"], "release", release_kind)
    else:
        sim.act(FAILURE, args["src"], "release", release_way)
    yield
    yield from pacing.pump(sim)


def _complete_metadata(sim: Simulation, broker: int) -> None:
    """CP-KR-APPLY.  Update the held answer to all that is committed by now.

    `MetadataLoader.handleCommit` at 3.9.0 loads every batch of a reader into one delta, and
    `TopicDelta` keeps the last state of each partition.
    """
    controller, held = sim.cluster.controller, sim.network.held
    for place, m in enumerate(held):
        if m.dst == broker and isinstance(m, MetadataRecords) and controller.alive:
            records = controller.log[m.offset : controller.committed]
            whole = MetadataRecords(m.src, m.dst, m.corr, m.offset, records)
            whole.id, whole.sent, whole.due = m.id, m.sent, m.due
            held[place] = whole


# -- one message ----------------------------------------------------------------------------------


def _parse_delay(words: Words) -> Args:
    src, dst = words.way()
    return {"src": src, "dst": dst, "ms": words.duration(), "kind": words.message_kind()}


def _why_not_delay(sim: Simulation, args: Args) -> str:
    m = _on_link(sim, args)
    if m is None:
        return _nobody(sim, args) or _nothing(sim, args)
    if m in sim.network.hands:
        return refuse(sim, "by.hand")
    return refuse(sim, "is.held") if m in sim.network.held else ""


@verb(
    "delay",
    "deliver",
    "delay 2->1 500ms [Fetch]",
    "The oldest message on its way arrives later; nothing behind it overtakes it.",
    _parse_delay,
    _why_not_delay,
)
def _delay(sim: Simulation, args: Args) -> Iterator[None]:
    m = _on_link(sim, args)
    assert m is not None

    def act(out: Any) -> None:
        out.cue("CP-8.5.delay", m.src, "due", m.kind, (m.src, m.dst, args["ms"]))
        sim.network.delay(m, args["ms"])

    sim.act(FAILURE, m.src, "delay", act)
    yield


def _why_not_duplicate(sim: Simulation, args: Args) -> str:
    m = _on_link(sim, args)
    if m is None:
        return _nobody(sim, args) or _nothing(sim, args)
    if m.kind in REPLIES:
        return refuse(sim, "answer.once")
    if m.corr < 0:
        return refuse(sim, "copy.once")
    return ""


@verb(
    "duplicate",
    "deliver",
    "duplicate P1->1 [Produce]",
    "A retry: the sender loses the connection and sends the request again; both copies arrive.",
    _parse_message,
    _why_not_duplicate,
)
def _duplicate(sim: Simulation, args: Args) -> Iterator[None]:
    m = _on_link(sim, args)
    assert m is not None

    def act(out: Any) -> None:
        out.cue("CP-8.5.duplicate", m.src, "copies", m.kind, (m.src, m.dst))
        sim.network.duplicate(m)

    sim.act(FAILURE, m.src, "duplicate", act)
    yield
