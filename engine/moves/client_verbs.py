"""The verbs of clients: produce and read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.clients import client_setup
from engine.clients.clients import Producer, SentRecord
from engine.clients.consumers import RESETS, Consumer
from engine.clients.group_member import GroupMember
from engine.model.groups import OFFSETS_TOPIC
from engine.model.messages import FIRST_CONSUMER
from engine.model.state import PAUSED
from engine.moves import partitions
from engine.moves.move_errors import not_running, refuse
from engine.moves.moves import Args, Words, record_names, verb
from engine.sim import pacing
from engine.sim.kernel import CLIENT
from engine.sim.simulation import Simulation


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
            args["tp"] = partitions.read(words, word)
        elif word in ("retries=on", "idempotence=on"):
            args["how"] = word.partition("=")[0]
        else:
            raise words.fail("“{0}” is not expected there.", word)
    if args.get("how") == "idempotence" and args["acks"] != -1:
        raise words.fail("An idempotent producer needs acks=all.")
    return args


def _why_not_produce(sim: Simulation, args: Args) -> str:
    tp = partitions.number(sim, args["tp"])
    why = "" if tp >= 0 and args["to"] is not None else partitions.missing(sim, args["tp"])
    if why:
        return why
    if sim.cluster.names[max(tp, 0)].startswith(OFFSETS_TOPIC):
        return refuse(sim, "internal.topic")
    to = _addressee(sim, args)
    if to < 0:
        return refuse(sim, "no.leader.to.write")
    if sim.brokers[to].status == PAUSED:
        return ""  # 8.3: what clients send to a frozen process waits in its socket
    return not_running(sim, to)


def _addressee(sim: Simulation, args: Args) -> int:
    if args["to"] is not None:
        return int(args["to"])
    return sim.cluster.controller.records[partitions.number(sim, args["tp"])].leader


@verb(
    "produce",
    "clients",
    "produce m1 m2 [to B] [acks=all|1|0] [p=0|p=t-0] [retries=on|idempotence=on]",
    "A producer sends each record as a batch to a broker; it may retry, with or without numbers.",
    _parse_produce,
    _why_not_produce,
)
def _produce(sim: Simulation, args: Args) -> Iterator[None]:
    to, tp = _addressee(sim, args), partitions.number(sim, args["tp"])
    for value in args["values"]:
        numbered = args.get("how") == "idempotence"
        producer = client_setup.idempotent_producer(sim) if numbered else sim.producer()
        acks, patience = args["acks"], producer.timeout
        sent = SentRecord((value,), tp, acks, patience, sim.now, retries="how" in args)
        sim.act(CLIENT, producer.id, "produce", _sender(producer, sent, to))
        yield
        yield from pacing.pump(sim)


def _sender(producer: Producer, sent: SentRecord, to: int) -> Any:
    return lambda out: producer.send(sent, to, out)


def _parse_read(words: Words) -> Args:
    if not words.words:
        return {"client": FIRST_CONSUMER}
    return {"client": _consumer(words, words.words.pop(0))}


def _consumer(words: Words, word: str) -> int:
    client = words.client(word)
    if client is None or client > FIRST_CONSUMER:
        raise words.fail("“{0}” is no consumer.", word[:40])
    return client


def _why_not_read(sim: Simulation, args: Args) -> str:
    if args["client"] not in sim.clients:
        return refuse(sim, "no.consumer")
    consumer = sim.clients[args["client"]]
    if isinstance(consumer, GroupMember) and not (consumer.rejoins or consumer.is_ready()):
        return refuse(sim, "member.unsettled" if consumer.alive else "member.not.alive")
    tp = _read_from(sim, args)
    why = partitions.missing(sim, tp)
    if why:
        return why
    if sim.cluster.controller.records[tp].leader < 0:
        return refuse(sim, "no.leader.to.read")
    return ""


def _read_from(sim: Simulation, args: Args) -> int:
    consumer = sim.clients[args["client"]]
    assert isinstance(consumer, Consumer)
    return consumer.tp


@verb(
    "read",
    "clients",
    "read [C1]",
    "A consumer asks the leader for what lies past its position.",
    _parse_read,
    _why_not_read,
)
def _read(sim: Simulation, args: Args) -> Iterator[None]:
    consumer = _informed(sim, args)
    sim.act(CLIENT, consumer.id, "read", consumer.read_now)
    yield
    yield from pacing.pump(sim)


def _informed(sim: Simulation, args: Args) -> Consumer:
    """Return the consumer that acts, after it has fetched the metadata of its partitions."""
    consumer = sim.clients[args["client"]]
    assert isinstance(consumer, Consumer)
    for tp in consumer.partitions():
        if tp != consumer.tp:
            other = sim.cluster.controller.records[tp]
            consumer.leaders[tp], consumer.leader_epochs[tp] = other.leader, other.leader_epoch
    record = sim.cluster.controller.records[consumer.tp]
    consumer.update_leader(record.leader, record.leader_epoch)
    return consumer


def _parse_seek(words: Words) -> Args:
    word = words.take("latest or earliest")
    client = FIRST_CONSUMER
    if words.client(word) is not None:
        client, word = _consumer(words, word), words.take("latest or earliest")
    if word not in ("latest", "earliest"):
        raise words.fail("“{0}” is neither latest nor earliest.", word[:40])
    return {"client": client, "timestamp": RESETS[word]}


@verb(
    "seek",
    "clients",
    "seek latest | seek C1 earliest",
    "A consumer asks the leader for its latest or earliest offset and goes there.",
    _parse_seek,
    _why_not_read,
)
def _seek(sim: Simulation, args: Args) -> Iterator[None]:
    consumer = _informed(sim, args)
    timestamp = args["timestamp"]
    sim.act(CLIENT, consumer.id, "seek", lambda out: consumer.seek(timestamp, out))
    yield
    yield from pacing.pump(sim)
