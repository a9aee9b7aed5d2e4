"""Guards of the control plane: eligible leaders, brokers that know them, and impossible moves."""

from __future__ import annotations

from typing import Final

from engine.controlplane import election, elr, liveness, znodes
from engine.model.messages import CONTROLLER
from engine.model.records import NO_LEADER, PartitionRecord
from engine.model.state import DOWN, LEADER, UP
from engine.moves import moves
from engine.moves.move_errors import Refused, label
from engine.sim.simulation import Simulation
from engine.story.entities import epoch, members, node, number, say, word
from engine.view.wire import Guard, Sentence
from engine.why import cures
from engine.why.cures import Cure
from engine.why.guards import guard


def acceptable(sim: Simulation, tp: int, broker: int) -> bool:
    """Check whether the controller lets this broker lead: alive, its directory online."""
    k = sim.cluster.controller
    if sim.profile.kraft:
        return k.acceptable(tp)(broker)
    return znodes.may_lead(k, tp, broker)


def chosen(sim: Simulation, tp: int, replicas: tuple[int, ...] | None = None) -> int:
    """CP-ELECT-KR, CP-ELECT-ZK.  Return the controller's choice now, of all or of these only.

    The present leader has no privilege here, so that each candidate can be asked for itself.
    """
    k = sim.cluster.controller
    record, unclean = k.records[tp], k.unclean_for(tp)
    candidates = record.replicas if replicas is None else replicas
    if not sim.profile.kraft:
        return election.choose_zk(
            election.OFFLINE,
            candidates,
            record.isr,
            lambda b: znodes.may_lead(k, tp, b),
            unclean=unclean,
        )[0]
    last = NO_LEADER
    if k.configs.elr:
        last = elr.last_known_leader(record, record.isr, record.elr, candidates)
    kind = election.UNCLEAN if unclean else election.ONLINE
    return election.choose_kr(
        kind, NO_LEADER, candidates, record.isr, record.elr, k.acceptable(tp), last
    )[0]


# -- no leader -----------------------------------------------------------------------------------


def of_election(sim: Simulation, tp: int) -> list[Guard]:
    """CP-ELECT-KR, CP-ELECT-ZK.  Return why no replica is elected; one candidate is enough."""
    record = sim.cluster.controller.records[tp]
    return [_controller(sim), *(_candidate(sim, tp, record, b) for b in record.replicas)]


def rule_of(sim: Simulation) -> str:
    return "CP-ELECT-KR" if sim.profile.kraft else "CP-ELECT-ZK"


def _controller(sim: Simulation) -> Guard:
    if sim.cluster.controller.alive:
        return guard("CP-10", True, say("guard.controller.alive"))
    needed = cures.cure(sim, say("cure.controller"), "restart K")
    return guard("CP-10", False, say("guard.controller.gone"), needed)


def _candidate(sim: Simulation, tp: int, record: PartitionRecord, broker: int) -> Guard:
    b, i = node(broker), members(record.isr or record.elr)
    if chosen(sim, tp, (broker,)) == broker:
        return guard(rule_of(sim), True, say("guard.elect.yes", b=b, i=i))
    candidates = record.isr or record.elr
    if not candidates and sim.cluster.controller.unclean_for(tp):
        candidates = record.replicas  # no replica is trusted, and any may lead
    clean = broker in candidates
    if acceptable(sim, tp, broker):
        needed = cures.cure(sim, say("cure.unclean", b=b), f"elect unclean{cures.place(tp)}")
        return guard(rule_of(sim), False, say("guard.elect.outside", b=b, i=i), needed)
    if not clean:
        return guard(rule_of(sim), False, say("guard.elect.neither", b=b, i=i))
    needed = cures.informed(sim, broker)
    return guard(rule_of(sim), False, say("guard.elect.away", b=b), needed)


def election_cure(sim: Simulation, tp: int) -> Cure | None:
    """Return the cure for a missing leader: of the controller, then of a clean candidate."""
    guards = of_election(sim, tp)
    false = [condition["cure"] for condition in guards if not condition["ok"] and condition["cure"]]
    if not guards[0]["ok"]:
        return false[0]["say"], false[0]["move"]
    clean = [remedy for remedy in false if remedy["say"]["key"] != "cure.unclean"]
    best = next((remedy for remedy in [*clean, *false] if remedy["move"]), None)
    return None if best is None else (best["say"], best["move"])


def leaderless_cure(sim: Simulation) -> Cure | None:
    """Return the cure for the first partition without a leader."""
    records = sim.cluster.controller.records
    alone = [tp for tp, record in records.items() if record.leader == NO_LEADER]
    return election_cure(sim, alone[0]) if alone else None


# -- one broker leads, or does not ----------------------------------------------------------------


def of_leading(sim: Simulation, tp: int, broker: int) -> list[Guard]:
    """CP-ELECT-KR, 5.8.  Return the guards of this broker's leading and knowing it."""
    record = sim.cluster.controller.records[tp]
    if record.leader == broker:
        return _recorded(sim, tp, record, broker)
    conditions = [_controller(sim)]
    b = node(broker)
    if broker not in record.replicas:
        return [*conditions, guard(rule_of(sim), False, say("guard.elect.stranger", b=b))]
    conditions.append(_candidate(sim, tp, record, broker))
    if record.leader != NO_LEADER:
        conditions.append(_leader_stands(sim, tp, broker))
    else:
        first = chosen(sim, tp)
        if first not in (broker, NO_LEADER):
            sentence = say("guard.elect.before", b=b, l=node(first))
            conditions.append(guard(rule_of(sim), False, sentence))
    replica = sim.brokers[broker].replicas.get(tp)
    if replica is not None and replica.role == LEADER:
        conditions.append(_has_heard(sim, tp, record, broker))
    return conditions


def _recorded(sim: Simulation, tp: int, record: PartitionRecord, broker: int) -> list[Guard]:
    """Return the guards where the record names the broker: still true, and known to it."""
    b, e = node(broker), epoch(record.leader_epoch)
    conditions = [guard(rule_of(sim), True, say("guard.lead.recorded", b=b, e=e))]
    alive = sim.brokers[broker].status == UP
    sentence = say("guard.lead.runs", b=b) if alive else say("guard.fetch.stopped", f=b)
    conditions.append(guard("CP-8.1", alive, sentence, cures.run_again(sim, broker)))
    if alive:
        conditions.append(_has_heard(sim, tp, record, broker))
    return conditions


def _has_heard(sim: Simulation, tp: int, record: PartitionRecord, broker: int) -> Guard:
    """5.8.  Return the guard that the broker acts on the controller's newest record."""
    replica = sim.brokers[broker].replicas.get(tp)
    epoch_there = -1 if replica is None else replica.leader_epoch
    b, e = node(broker), epoch(record.leader_epoch)
    heard = epoch_there >= record.leader_epoch
    rule = "CP-KR-APPLY" if sim.profile.kraft else "CP-LISR"
    if heard:
        return guard(rule, True, say("guard.lead.heard", b=b, e=e))
    sentence = say("guard.lead.unheard", b=b, e=e, o=epoch(epoch_there))
    return guard(rule, False, sentence, cures.informed(sim, broker))


def _leader_stands(sim: Simulation, tp: int, candidate: int) -> Guard:
    """CP-ELECT-KR 3.  Return the guard of a leader that stays: valid, or its session lives."""
    leader = sim.cluster.controller.records[tp].leader
    stands, b = node(leader), node(candidate)
    status = sim.brokers[leader].status
    cut = cures.connect(sim, leader, CONTROLLER) is not None
    if not acceptable(sim, tp, leader):
        return guard(rule_of(sim), True, say("guard.elect.gone", l=stands))
    if status != DOWN and not cut:
        line = f"elect {label(sim, candidate)}{cures.place(tp)}"
        needed = cures.cure(sim, say("cure.elect", b=b), line)
        return guard(rule_of(sim), False, say("guard.elect.kept", l=stands), needed)
    rule = "CP-KR-FENCE" if sim.profile.kraft else "CP-ZK-BROKERS"
    noticed = f"detect {label(sim, leader)}"
    needed = cures.cure(sim, say("cure.detect", l=stands), noticed, "advance 20s")
    sentence = say("guard.elect.session", l=stands, n=number(_session_left_ms(sim, leader)))
    return guard(rule, False, sentence, needed)


def _session_left_ms(sim: Simulation, broker: int) -> int:
    registration = sim.cluster.controller.brokers.get(broker)
    timeout = sim.configs.session_timeout_ms
    if not liveness.has_valid_session(registration, sim.now, timeout) or registration is None:
        return 0
    return registration.last_contact + timeout - sim.now


# -- moves ----------------------------------------------------------------------------------------


def of_move(sim: Simulation, line: str) -> tuple[str, list[Guard]]:
    """Return (the move as it is read, its guards).  Raises InputError for what is no move."""
    move = moves.parse(line, sim.scenario.brokers)
    v = word(move.text)
    conditions = [guard("", True, say("guard.move.read", v=v, g=word(move.verb.grammar)))]
    why = moves.why_not(sim, move)
    if not why:
        return move.text, [*conditions, guard("", True, say("guard.move.possible"))]
    needed = _cure_of_move(sim, why)
    return move.text, [*conditions, guard("", False, refusal(why), needed)]


WHOLE: Final = "entity.sentence"
"""Key of a sentence without a key of its own: its only value is the whole of it."""


def refusal(why: str) -> Sentence:
    """Return why a move is impossible, as a sentence of the catalogue where it has one."""
    if isinstance(why, Refused):
        return {"key": why.key, "args": why.args}
    return say(WHOLE, s={"s": why})


def _cure_of_move(sim: Simulation, why: str) -> Cure | None:
    if not isinstance(why, Refused):
        return None
    needed = say("cure.move")
    if why.cure:
        return cures.cure(sim, needed, why.cure, "advance 5s")
    # An election, a produce or a read needs a leader, an ISR, or a live replica.
    if why.key in ("cannot.no.leader", "cannot.no.leader.to.write", "cannot.no.leader.to.read"):
        return leaderless_cure(sim)
    if why.key in ("cannot.not.alive", "cannot.follows.nobody") and "b" in why.args:
        return cures.informed(sim, int(why.args["b"]["b"]))
    if why.key == "cannot.nobody.alive":
        return leaderless_cure(sim)
    return None
