"""The verbs of clients: produce and read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engine.model.messages import FIRST_CONSUMER
from engine.model.state import PAUSED
from engine.sim import pacing
from engine.sim.clients import Consumer, Producer, Sent
from engine.sim.kernel import CLIENT
from engine.sim.moves import Args, Words, record_names, verb
from engine.sim.simulation import Simulation
from engine.sim.wording import not_running, refuse


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
        return refuse(sim, "no.leader.to.write")
    if sim.brokers[to].status == PAUSED:
        return ""  # 8.3: what clients send to a frozen process waits in its socket
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
    if not re.fullmatch(r"C[1-9][0-9]?", word):
        raise words.fail(f"“{word[:40]}” is no consumer.")
    return {"client": FIRST_CONSUMER - (int(word[1:]) - 1)}


def _why_not_read(sim: Simulation, args: Args) -> str:
    if args["client"] not in sim.clients:
        return "There is no such consumer."
    if sim.cluster.controller.records[0].leader < 0:
        return refuse(sim, "no.leader.to.read")
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
    assert isinstance(consumer, Consumer)
    consumer.leaders[0] = sim.cluster.controller.records[0].leader
    sim.act(CLIENT, consumer.id, "read", consumer.fetch)
    yield
    yield from pacing.pump(sim)
