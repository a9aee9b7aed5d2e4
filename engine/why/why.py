"""Guards of something that does not happen, at one step of a run.

A subject is a line: `hw [B]`, `isr B`, `ack RECORD`, `leader [B]`, `move LINE`; all but the last
may end with `p=N`, a partition.  The answer is made of sentences of the catalogue and of moves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from engine.clients.clients import Producer
from engine.model.broker import Broker, Process
from engine.model.errors import InputError
from engine.model.messages import PRODUCE, PRODUCE_R
from engine.model.records import NO_LEADER
from engine.model.state import LEADER, UP, Replica
from engine.scenarios.parts import find_broker
from engine.sim.simulation import Simulation
from engine.story.entities import error, node, offset, records, say, word
from engine.view.wire import Guard, Sentence, Why
from engine.why import guards, guards_control

MAX_SUBJECT: Final = 440
GRAMMAR: Final = "hw [B], isr B, ack RECORD, leader [B] or move LINE"

Found = tuple[Sentence, list[Guard], bool, Sentence]
"""(what is asked about, its guards, whether it would happen now, what follows)"""


def why(sim: Simulation, subject: str) -> Why:
    """Return {subject, about, holds, guards, then}.  Raises InputError for an unknown subject."""
    if len(subject) > MAX_SUBJECT:
        raise InputError("invalid", "A subject has at most {0} characters.", MAX_SUBJECT)
    kind, _, rest = subject.strip().partition(" ")
    answer = _SUBJECTS.get(kind)
    if answer is None:
        raise InputError("invalid", "“{0}” is no subject; it is written: {1}.", kind[:40], GRAMMAR)
    about, conditions, holds, then = answer(sim, rest.strip())
    return {
        "subject": subject.strip(),
        "about": about,
        "holds": holds,
        "guards": conditions,
        "then": then,
    }


def _place(sim: Simulation, rest: str) -> tuple[str, int]:
    """Return the rest without its partition, and the partition."""
    match = re.fullmatch(r"(.*)\bp=(\d{1,4})", rest)
    text, tp = (match[1].rstrip(), int(match[2])) if match else (rest, 0)
    if tp not in sim.cluster.controller.records:
        raise InputError("unknown", "There is no partition {0}.", tp)
    return text, tp


def _broker(sim: Simulation, name: str) -> Broker:
    return sim.brokers[find_broker(name, sim.scenario.brokers)]


def _leader(sim: Simulation, tp: int) -> tuple[Process, Replica] | None:
    """Return the broker that the controller names, if it knows that it leads."""
    replica = sim.cluster.current_leader(tp)
    return None if replica is None else (sim.brokers[replica.broker].running, replica)


def _nobody(sim: Simulation, tp: int) -> list[Guard]:
    """Return the guards of a missing leader, without which nothing moves."""
    record = sim.cluster.controller.records[tp]
    if record.leader != NO_LEADER:
        return guards_control.of_leading(sim, tp, record.leader)
    needed = guards_control.election_cure(sim, tp)
    return [guards.guard(guards_control.rule_of(sim), False, say("guard.leads.nobody"), needed)]


# -- subjects -------------------------------------------------------------------------------------


def _hw(sim: Simulation, rest: str) -> Found:
    name, tp = _place(sim, rest)
    leader = _leader(sim, tp)
    if not name:
        if leader is None:
            return say("ask.mark.none"), _nobody(sim, tp), False, say("then.not")
        broker = sim.brokers[leader[0].id]
    else:
        broker = _broker(sim, name)
    replica = broker.replicas.get(tp)
    if replica is None or broker.status != UP:
        conditions = [guards.stopped(sim, broker.id)]
        return say("ask.mark.off", b=node(broker.id)), conditions, False, say("then.not")
    about = say("ask.mark", b=node(broker.id), o=offset(replica.log.hw))
    if replica.role == LEADER:
        conditions = guards.of_mark(sim, broker.running, replica)
        then = say("then.mark", b=node(broker.id))
    else:
        conditions = guards.of_following(sim, replica, leader[1] if leader else None)
        then = say("then.follow", b=node(broker.id))
    holds = guards.all_hold(conditions)
    return about, conditions, holds, then if holds else say("then.not")


def _isr(sim: Simulation, rest: str) -> Found:
    name, tp = _place(sim, rest)
    member = _broker(sim, name).id
    b = node(member)
    inside = member in sim.cluster.controller.records[tp].isr
    about = say("ask.isr.in" if inside else "ask.isr.out", b=b)
    leader = _leader(sim, tp)
    if leader is None or leader[0].status != UP:
        conditions = _nobody(sim, tp)
        return about, conditions, False, say("then.not")
    broker, replica = leader
    if member == broker.id:
        leads = guards.guard("S-8", False, say("guard.isr.leader", b=b))
        return about, [leads], False, say("then.never", b=b)
    # Its leader may not know of it (S86): that one asks whether it joins, and never removes it.
    if inside and member in replica.remote and member in replica.isr:
        conditions = guards.of_leaving(sim, broker, replica, member)
        holds = guards.all_hold(conditions)
        return (
            about,
            conditions,
            holds,
            say("then.leaves", b=b) if holds else say("then.stays", b=b),
        )
    conditions = guards.of_joining(sim, broker, replica, member)
    holds = guards.all_hold(conditions)
    return about, conditions, holds, say("then.joins", b=b) if holds else say("then.not")


def _ack(sim: Simulation, rest: str) -> Found:
    value = re.sub(r"(?<!\s)\s+p=\d{1,4}$", "", rest)
    m = records([value])
    about = say("ask.ack", m=m)
    if any(value in batch.values for acked in sim.ledger.acked for batch in acked):
        return say("ask.acked", m=m), [], True, say("then.acked", m=m)
    for broker in sim.brokers.values():
        for replica in broker.replicas.values():
            for waiting in replica.waiting:
                if value in waiting.request.values:
                    conditions = guards.of_answer(sim, broker.running, replica, waiting)
                    holds = guards.all_hold(conditions)
                    then = say("then.answer", b=node(broker.id), m=m)
                    return about, conditions, holds, then if holds else say("then.not")
    for message in sim.network.under_way():
        if message.kind in (PRODUCE, PRODUCE_R) and value in getattr(message, "values", ()):
            conditions = [guards.on_its_way(sim, value, message)]
            return about, conditions, False, say("then.not")
    if value in sim.ledger.failed:
        answered = say("guard.ack.failed", m=m, x=error(sim.ledger.failed[value]))
        return about, [guards.guard("P-6", False, answered)], False, say("then.not")
    for client in sim.clients.values():
        if isinstance(client, Producer) and any(value in s.values for s in client.queue):
            answered = say("guard.ack.queued", m=m)
            needed = guards_control.leaderless_cure(sim)
            return about, [guards.guard("P-6", False, answered, needed)], False, say("then.not")
    raise InputError("unknown", "No record “{0}” waits for an answer here.", value[:40])


def _leads(sim: Simulation, rest: str) -> Found:
    name, tp = _place(sim, rest)
    record = sim.cluster.controller.records[tp]
    if not name and record.leader == NO_LEADER:
        conditions = guards_control.of_election(sim, tp)
        holds = conditions[0]["ok"] and any(condition["ok"] for condition in conditions[1:])
        then = say("then.elect") if holds else say("then.not.elected")
        return say("ask.lead.nobody"), conditions, holds, then
    broker = _broker(sim, name) if name else sim.brokers[record.leader]
    b = node(broker.id)
    conditions = guards_control.of_leading(sim, tp, broker.id)
    holds = guards.all_hold(conditions)
    if record.leader == broker.id:
        about, yes, no = say("ask.lead.recorded", b=b), "then.leads", "then.leads.not"
    else:
        about, yes, no = say("ask.lead.other", b=b), "then.chosen", "then.leads.not"
    return about, conditions, holds, say(yes if holds else no, b=b)


def _move(sim: Simulation, rest: str) -> Found:
    text, found = guards_control.of_move(sim, rest)
    holds = guards.all_hold(found)
    then = say("then.possible") if holds else say("then.impossible")
    return say("ask.move", v=word(text)), found, holds, then


_SUBJECTS: Final[dict[str, Callable[[Simulation, str], Found]]] = {
    "hw": _hw,
    "isr": _isr,
    "ack": _ack,
    "leader": _leads,
    "move": _move,
}
