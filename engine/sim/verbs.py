"""The verbs of the language of moves, all but the faults: time, messages, clients, operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.controlplane import election, kraft, zookeeper
from engine.dataplane import insync, purgatory, watermark
from engine.model import timers
from engine.model.configs import CATALOGUE
from engine.model.errors import BadInput
from engine.model.messages import CONTROLLER, FIRST_CONSUMER, Message
from engine.model.state import DOWN, UP
from engine.sim import faults, pacing
from engine.sim.clients import Producer, Sent
from engine.sim.kernel import CLIENT, FAILURE, TIMER
from engine.sim.moves import Args, Words, record_names, verb
from engine.sim.simulation import Simulation

# -- shared ---------------------------------------------------------------------------------------


def name(sim: Simulation, node: int) -> str:
    return "the controller" if node == CONTROLLER else f"broker {sim.scenario.broker_name(node)}"


def named(sim: Simulation, node: int) -> str:
    """`name` at the beginning of a sentence."""
    text = name(sim, node)
    return text[0].upper() + text[1:]


def not_running(sim: Simulation, broker: int) -> str:
    status = sim.brokers[broker].status
    if status == DOWN:
        return f"{named(sim, broker)} is down; restart it first."
    if status != UP:
        return f"{named(sim, broker)} is {status}, not running."
    return ""


def is_up(sim: Simulation, args: Args) -> str:
    return not_running(sim, args["broker"])


def one_broker(words: Words) -> Args:
    return {"broker": words.broker()}


def nothing(words: Words) -> Args:
    return {}


# -- clients --------------------------------------------------------------------------------------


def _parse_produce(words: Words) -> Args:
    args: Args = {"values": tuple(record_names(words)), "to": None, "acks": -1, "tp": 0}
    while words.words:
        word = words.words.pop(0)
        if word == "to":
            args["to"] = words.broker()
        elif word in ("acks=all", "acks=-1", "acks=1", "acks=0"):
            args["acks"] = {"all": -1, "-1": -1}.get(word[5:])
            if args["acks"] is None:
                args["acks"] = int(word[5:])
        elif word.startswith("p="):
            args["tp"] = words.number(word[2:], 63)
        else:
            raise words.fail(f"“{word}” is not expected there.")
    return args


def _why_not_produce(sim: Simulation, args: Args) -> str:
    if args["tp"] >= len(sim.cluster.names):
        return f"There is no partition {args['tp']}; there are {len(sim.cluster.names)}."
    to = _addressee(sim, args)
    if to < 0:
        return "The partition has no leader to write to; name a broker with “to”."
    return not_running(sim, to)


def _addressee(sim: Simulation, args: Args) -> int:
    if args["to"] is not None:
        return int(args["to"])
    return sim.cluster.controller.records[args["tp"]].leader


@verb(
    "produce",
    "clients",
    "produce m1 m2 [to B] [acks=all|1|0] [p=0]",
    "A producer sends each record as a batch to the broker it believes to lead.",
    _parse_produce,
    _why_not_produce,
)
def _produce(sim: Simulation, args: Args) -> Iterator[None]:
    to = _addressee(sim, args)
    for value in args["values"]:
        producer = sim.producer()
        sent = Sent(
            (value,), args["tp"], args["acks"], producer.timeout, sim.now, retries=False
        )
        sim.act(CLIENT, producer.id, "produce", _sender(producer, sent, to))
        yield
        yield from pacing.pump(sim)


def _sender(producer: Producer, sent: Sent, to: int) -> Any:
    return lambda out: producer.send(sent, to, out)


def _parse_read(words: Words) -> Args:
    if not words.words:
        return {"client": FIRST_CONSUMER}
    word = words.words.pop(0)
    if not word.startswith("C") or not word[1:].isdecimal() or len(word) > 3:
        raise words.fail(f"“{word}” is no consumer.")
    return {"client": FIRST_CONSUMER - (int(word[1:]) - 1)}


def _why_not_read(sim: Simulation, args: Args) -> str:
    if args["client"] not in sim.clients:
        return "There is no such consumer."
    if sim.cluster.controller.records[0].leader < 0:
        return "The partition has no leader to read from."
    return ""


@verb(
    "read",
    "clients",
    "read [C1]",
    "A consumer asks the leader for what lies past its position.",
    _parse_read,
    _why_not_read,
)
def _read(sim: Simulation, args: Args) -> Iterator[None]:
    consumer = sim.clients[args["client"]]
    consumer.leaders[0] = sim.cluster.controller.records[0].leader
    sim.act(CLIENT, consumer.id, "read", consumer.fetch)  # type: ignore[attr-defined]
    yield
    yield from pacing.pump(sim)


# -- replication by hand --------------------------------------------------------------------------


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
            return (
                f"{named(sim, broker)}'s fetcher has given up the partition until it "
                "hears of a newer leader epoch."
            )
        return f"{named(sim, broker)} follows nobody now."
    if sim.auto:
        return "Followers fetch by themselves in this run; “fetching manual” changes that."
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
    return f"Nothing is under way from {name(sim, src)} to {name(sim, dst)}."


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


# -- time -----------------------------------------------------------------------------------------


@verb(
    "settle",
    "time",
    "settle",
    "Messages arrive and followers fetch until nothing changes any more.",
    nothing,
)
def _settle(sim: Simulation, args: Args) -> Iterator[None]:
    yield from pacing.settle(sim)


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
        "" if args["ms"] >= sim.now else f"The clock shows {sim.now} ms already."
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
    left = args["count"]
    while left and sim.kernel.pending:
        if sim.fire_next():
            left -= 1
            yield


def _is_noticed(sim: Simulation, broker: int) -> bool:
    k = sim.cluster.controller
    registration = k.brokers.get(broker)
    return registration is None or registration.fenced


def _why_not_detect(sim: Simulation, args: Args) -> str:
    broker = args["broker"]
    running = sim.brokers[broker].status == UP
    if running and not sim.network.is_cut(broker, CONTROLLER):
        return f"{named(sim, broker)} is alive and reaches the controller."
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
    """Sets producers, consumers and the fault plan going until `stop_at` ms."""
    for client in sim.clients.values():
        if isinstance(client, Producer) and client.interval:
            client.stop_at = stop_at
            first = client.chance.between(1, client.interval)
            sim.kernel.schedule(first, TIMER, client.id, (timers.CLIENT_TICK, None, 0))
    for number in range(sim.scenario.workload.consumers):
        consumer = sim.consumer(number + 1)
        if not consumer.running:
            consumer.running = True
            sim.kernel.schedule(0, TIMER, consumer.id, (timers.CLIENT_TICK, None, 0))
    faults.schedule_plans(sim, stop_at)


def _parse_fetching(words: Words) -> Args:
    mode = words.take("auto or manual")
    if mode not in ("auto", "manual"):
        raise words.fail(f"“{mode}” is neither auto nor manual.")
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
            broker.auto_fetch = sim.auto
        sim.network.drive(by_hand=not sim.auto)
        if sim.auto:
            for broker in sim.brokers.values():
                for key, thread in broker.fetchers.items():
                    if not thread.outstanding:
                        thread.waking = out.now
                        out.timer(broker.id, 0, timers.FETCHER_WORK, key)

    sim.act(TIMER, CONTROLLER, "fetching", switch)
    yield
    yield from pacing.pump(sim)


# -- operators and housekeeping -------------------------------------------------------------------


@verb("tick", "time", "tick B", "isr-expiration runs on a broker now.", one_broker, is_up)
def _tick(sim: Simulation, args: Args) -> Iterator[None]:
    broker = sim.brokers[args["broker"]]

    def tick(out: Any) -> None:
        for replica in broker.replicas.values():
            insync.maybe_shrink_isr(broker, replica, out)

    sim.act(TIMER, broker.id, "isr-expiration", tick)
    yield
    yield from pacing.pump(sim)


@verb(
    "checkpoint",
    "admin",
    "checkpoint [B]",
    "The high watermarks are written to disk, on one broker or on all.",
    lambda words: {"broker": words.broker() if words.words else None},
    lambda sim, args: "" if args["broker"] is None else not_running(sim, args["broker"]),
)
def _checkpoint(sim: Simulation, args: Args) -> Iterator[None]:
    for broker in sim.brokers.values():
        if broker.status == UP and args["broker"] in (None, broker.id):
            sim.act(TIMER, broker.id, "checkpoint", _checkpointer(broker))
            yield


def _checkpointer(broker: Any) -> Any:
    return lambda out: watermark.checkpoint(broker, out)


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
        for disk in broker.disks.values():
            upto = disk.log.leo if args["upto"] is None else args["upto"]
            before = disk.log.flushed
            disk.log.flush(upto)
            disk.recovery_checkpoint = disk.log.flushed
            out.cue("L-10", broker.id, "flushed", before, disk.log.flushed)

    sim.act(TIMER, broker.id, "flush", flush)
    yield


def _parse_elect(words: Words) -> Args:
    who = words.take("preferred, unclean or a broker")
    if who in ("preferred", "PREFERRED"):
        return {"kind": election.PREFERRED, "broker": None}
    if who in ("unclean", "UNCLEAN"):
        return {"kind": election.UNCLEAN, "broker": None}
    return {"kind": election.ONLINE, "broker": words.broker_of(who)}


def _why_not_elect(sim: Simulation, args: Args) -> str:
    k = sim.cluster.controller
    record = k.records[0]
    if args["broker"] is not None:
        if args["broker"] not in record.isr:
            return f"{named(sim, args['broker'])} is not in the ISR."
        if not _is_active(sim, args["broker"]):
            return f"{named(sim, args['broker'])} is not alive for the controller."
        if record.leader == args["broker"]:
            return f"{named(sim, args['broker'])} leads already."
    elif args["kind"] == election.PREFERRED:
        if record.leader == record.replicas[0]:
            return "The preferred replica leads already (ELECTION_NOT_NEEDED)."
        if record.leader >= 0 and not (
            record.replicas[0] in record.isr and _is_active(sim, record.replicas[0])
        ):
            return "AR[0] is not alive and in sync (PREFERRED_LEADER_NOT_AVAILABLE)."
    elif record.leader >= 0:
        return "The partition has a leader (ELECTION_NOT_NEEDED)."
    elif not any(_is_active(sim, b) for b in record.replicas):
        return "No replica is alive (ELIGIBLE_LEADERS_NOT_AVAILABLE)."
    return ""


def _is_active(sim: Simulation, broker: int) -> bool:
    k = sim.cluster.controller
    return k.active(broker) if sim.profile.mode == "kraft" else zookeeper.is_live(k, broker)


@verb(
    "elect",
    "admin",
    "elect preferred|unclean|B",
    "An operator asks for an election, or moves leadership to an in-sync broker.",
    _parse_elect,
    _why_not_elect,
)
def _elect(sim: Simulation, args: Args) -> Iterator[None]:
    k = sim.cluster.controller
    broker, kind = args["broker"], args["kind"]

    def act(out: Any) -> None:
        out.cue("CP-ELECT-ADMIN", CONTROLLER, "elect", kind, broker)
        if sim.profile.mode == "kraft":
            if broker is not None:
                kraft.move_leadership(k, 0, broker, out)
            else:
                kraft.elect(k, 0, kind, out)
        elif broker is not None:
            zookeeper.admin_elect(k, 0, election.REASSIGN, out, unclean=False, only=broker)
        elif kind == election.PREFERRED:
            zookeeper.admin_elect(k, 0, election.PREFERRED_REPLICA, out, unclean=False)
        else:
            zookeeper.admin_elect(k, 0, election.OFFLINE, out, unclean=True)

    sim.act(TIMER, CONTROLLER, "elect", act)
    yield
    yield from pacing.pump(sim)


def _parse_set(words: Words) -> Args:
    key, sep, value = words.take("a setting such as min.insync.replicas=2").partition("=")
    if not sep:
        raise words.fail("A setting needs a value.")
    if key not in CATALOGUE:
        raise words.fail(f"There is no configuration “{key[:60]}”.")
    return {"key": key, "value": value}


def _why_not_set(sim: Simulation, args: Args) -> str:
    try:
        sim.configs.changed(sim.profile, args["key"], args["value"])
    except BadInput as error:
        return error.sentence
    return ""


@verb(
    "set",
    "admin",
    "set min.insync.replicas=2",
    "An operator changes a configuration while the cluster runs.",
    _parse_set,
    _why_not_set,
)
def _set(sim: Simulation, args: Args) -> Iterator[None]:
    k = sim.cluster.controller
    before = sim.configs
    after = before.changed(sim.profile, args["key"], args["value"])

    def act(out: Any) -> None:
        out.cue("CP-12", CONTROLLER, "config", args["key"], args["value"])
        sim.configs = sim.cluster.configs = after
        if sim.profile.mode == "kraft":
            kraft.set_configs(k, after, args["key"] == "min.insync.replicas", out)
            return
        for broker in sim.brokers.values():
            broker.configs = after
            for replica in broker.replicas.values():
                replica.configs = after
        zookeeper.set_configs(k, after, after.unclean and not before.unclean, out)

    sim.act(TIMER, CONTROLLER, "set", act)
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


@verb(
    "release",
    "deliver",
    "release md B | release alter B",
    "What was held is delivered now.",
    _parse_hold,
    lambda sim, args: (
        ""
        if args["broker"]
        in (sim.network.held_metadata if args["metadata"] else sim.network.held_alter)
        else f"Nothing of {name(sim, args['broker'])} is held."
    ),
)
def _release(sim: Simulation, args: Args) -> Iterator[None]:
    def act(out: Any) -> None:
        sim.network.release(args["broker"], args["metadata"])
        out.cue("CP-5.4.release", args["broker"], "held", args["metadata"], None)

    sim.act(FAILURE, args["broker"], "release", act)
    yield
    yield from pacing.pump(sim)


