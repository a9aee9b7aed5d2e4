"""Guards of the data plane: what must be so for the high watermark, the ISR and an answer to move.

Each guard asks the function that the rule itself asks; nothing here decides anything.
"""

from __future__ import annotations

from typing import Final

from engine.controlplane import alter_partition, znodes
from engine.dataplane import insync, purgatory, watermark
from engine.dataplane.fetcher import thread_of
from engine.model.broker import Process
from engine.model.errors import (
    INELIGIBLE_REPLICA,
    KAFKA_STORAGE_ERROR,
    NONE,
    NOT_LEADER_OR_FOLLOWER,
    OPERATION_NOT_ATTEMPTED,
)
from engine.model.messages import PRODUCE_R, Message
from engine.model.state import COMMITTED, EXPAND, UP, DelayedProduce, Replica
from engine.moves.move_errors import label
from engine.sim.simulation import Simulation
from engine.story.entities import error, members, node, number, offset, records, say
from engine.view import wire
from engine.view.wire import Guard, Sentence
from engine.why import cures
from engine.why.cures import Cure

FETCHING: Final = "F-4"
"""Guards of this rule decide whether a fetch can happen at all; the others are the decision."""


def guard(rule: str, ok: bool, sentence: Sentence, needed: Cure | None = None) -> Guard:
    """Return one guard; its cure is left out where it is true."""
    remedy: wire.Cure | None = (
        None if ok or needed is None else {"say": needed[0], "move": needed[1]}
    )
    return {"rule": rule, "ok": ok, "say": sentence, "cure": remedy}


def all_hold(guards: list[Guard]) -> bool:
    return all(one["ok"] for one in guards)


# -- the high watermark ---------------------------------------------------------------------------


def of_mark(sim: Simulation, broker: Process, replica: Replica) -> list[Guard]:
    """H-2.  Return the guards of raising the leader's high watermark now."""
    log = replica.log
    b, hw, leo = node(broker.id), offset(log.hw), offset(log.leo)
    if log.leo > log.hw:
        guards = [guard("H-2", True, say("guard.mark.more", b=b, o=leo, h=hw))]
    else:
        needed = cures.appended(sim, replica.tp)
        guards = [guard("H-2", False, say("guard.mark.end", b=b, o=leo), needed)]
    guards += _followers(sim, broker, replica, log.hw + 1 if log.leo > log.hw else -1)
    if replica.profile.strict_min_isr:
        guards.append(_enough_to_commit(sim, broker, replica))
    return guards


def _followers(sim: Simulation, broker: Process, replica: Replica, target: int) -> list[Guard]:
    """H-2.  Return the guards that every counting replica is known to have all below `target`."""
    counting = watermark.waits_for(broker, replica, sim.now)
    blocking = watermark.short_of(broker, replica, target, sim.now)
    guards = []
    for follower, remote in replica.remote.items():
        f, leo = node(follower), offset(remote.leo)
        if follower not in counting:
            guards.append(guard("H-2", True, say("guard.mark.ignored", f=f)))
            continue
        short = follower in blocking
        if remote.leo < 0:
            sentence = say("guard.mark.unheard", f=f, b=node(broker.id))
        elif short:
            sentence = say("guard.mark.behind", f=f, o=leo, t=offset(target))
        else:
            sentence = say("guard.mark.known", f=f, o=leo)
        needed = cures.fetched(sim, replica, follower, target) if short else None
        guards.append(guard("H-2", not short, sentence, needed))
    return guards


def _enough_to_commit(sim: Simulation, broker: Process, replica: Replica) -> Guard:
    args = {"i": members(replica.isr), "n": number(replica.min_isr())}
    if not watermark.is_frozen(replica):
        return guard("CP-MINISR", True, say("guard.min.enough", **args))
    return guard("CP-MINISR", False, say("guard.min.few", **args), grown(sim, broker, replica))


def grown(sim: Simulation, broker: Process, replica: Replica) -> Cure:
    """Return the cure until the ISR has one member more."""
    outside = [follower for follower in replica.remote if follower not in replica.isr]
    # The least cure comes first: a running process before one that has to start.
    outside.sort(key=lambda follower: sim.brokers[follower].status != UP)
    for follower in outside:
        for condition in of_joining(sim, broker, replica, follower):
            if not condition["ok"] and condition["cure"] and condition["cure"]["move"]:
                return condition["cure"]["say"], condition["cure"]["move"]
    if outside:
        return cures.fetched(sim, replica, outside[0], max(replica.log.leo, 1))
    setting = f"set min.insync.replicas={max(1, len(replica.isr))}"
    return cures.cure(sim, say("cure.set", n=number(len(replica.isr))), setting)


def of_following(sim: Simulation, replica: Replica, leader: Replica | None) -> list[Guard]:
    """H-4.  Return the guards of a follower's high watermark."""
    log, b = replica.log, node(replica.broker)
    if leader is None:
        return [guard("H-4", False, say("guard.leads.nobody"))]
    guards = [_fetches(sim, leader, replica.broker)]
    l_mark = offset(leader.log.hw)
    if leader.log.hw > log.hw:
        guards.append(guard("H-4", True, say("guard.follow.more", l=node(leader.broker), h=l_mark)))
    else:
        sentence = say("guard.follow.same", l=node(leader.broker), h=l_mark)
        needed = first_cure(of_mark(sim, sim.brokers[leader.broker].running, leader))
        guards.append(guard("H-4", False, sentence, needed))
    if log.leo > log.hw:
        sentence = say("guard.mark.more", b=b, o=offset(log.leo), h=offset(log.hw))
        guards.append(guard("H-4", True, sentence))
    else:
        needed = cures.fetched(sim, leader, replica.broker, log.hw + 1)
        guards.append(guard("H-4", False, say("guard.mark.end", b=b, o=offset(log.leo)), needed))
    return guards


def first_cure(guards: list[Guard]) -> Cure | None:
    """Return the cure of the first guard that is false."""
    for condition in guards:
        if not condition["ok"] and condition["cure"]:
            return condition["cure"]["say"], condition["cure"]["move"]
    return None


# -- the ISR --------------------------------------------------------------------------------------


def of_joining(sim: Simulation, broker: Process, replica: Replica, follower: int) -> list[Guard]:
    """S-7.  Return the guards of taking this follower into the ISR at its next fetch."""
    f, b = node(follower), node(broker.id)
    guards = [_nothing_in_flight(sim, broker, replica, follower)]
    if follower not in replica.assignment:
        target = " ".join(label(sim, member) for member in (*replica.assignment, follower))
        line = f"reassign {target}{cures.place(replica.tp)}"
        needed = cures.cure(sim, say("cure.assign", f=f), line)
        return [*guards, guard("S-7", False, say("guard.join.stranger", f=f), needed)]
    if follower in replica.isr:
        sentence = say("guard.join.counted", b=b, f=f)
        return [*guards, guard("S-7", False, sentence, cures.informed(sim, broker.id))]
    remote, log = replica.remote[follower], replica.log
    reaches, o = insync.reaches_mark(replica, remote), offset(remote.leo)
    if remote.leo < 0:
        sentence = say("guard.mark.unheard", f=f, b=b)
    else:
        sentence = say(
            "guard.join.mark" if reaches else "guard.join.short", f=f, o=o, h=offset(log.hw)
        )
    guards.append(guard("S-7", reaches, sentence, cures.fetched(sim, replica, follower, log.hw)))
    if replica.profile.join_needs_epoch_start:
        reaches, start = insync.reaches_epoch_start(replica, remote), offset(replica.epoch_start)
        sentence = say("guard.join.start" if reaches else "guard.join.early", f=f, s=start)
        needed = cures.fetched(sim, replica, follower, replica.epoch_start)
        guards.append(guard("S-7", reaches, sentence, needed))
    if replica.profile.isr_eligibility:
        guards.append(_eligible(sim, broker, replica, follower))
    guards.append(_acceptable(sim, broker, replica, follower))
    guards.append(_fetches(sim, replica, follower))
    return guards


def _nothing_in_flight(sim: Simulation, broker: Process, replica: Replica, follower: int) -> Guard:
    if replica.pending == COMMITTED and replica.tp not in broker.alter_queue:
        return guard("S-7", True, say("guard.flight.none"))
    i = members(replica.pending_isr)
    mine = replica.pending == EXPAND and follower in replica.pending_isr
    sentence = say("guard.flight.mine" if mine else "guard.flight.other", f=node(follower), i=i)
    return guard("CP-ALTER", False, sentence, cures.answered(sim, broker.id))


def _eligible(sim: Simulation, broker: Process, replica: Replica, follower: int) -> Guard:
    """S-7, KIP-841.  Return in words what this broker has heard of the follower."""
    f, b, peer = node(follower), node(broker.id), broker.peers.get(follower)
    if insync.may_be_proposed(broker, replica, follower):
        return guard("S-7", True, say("guard.join.eligible", f=f))
    if peer is None or not peer.alive:
        sentence = say("guard.join.dead", f=f, b=b)
    elif peer.fenced:
        sentence = say("guard.join.fenced", f=f, b=b)
    elif peer.shutting_down:
        sentence = say("guard.join.leaving", f=f, b=b)
    else:
        sentence = say("guard.join.incarnation", f=f, b=b)
    registered = broker.profile.mode == "kraft" and sim.cluster.controller.active(follower)
    needed = cures.informed(sim, broker.id if registered else follower)
    if registered and peer is not None and not (peer.fenced or peer.shutting_down):
        needed = cures.fetched(sim, replica, follower, replica.log.hw)
    return guard("S-7", False, sentence, needed)


def refusal(sim: Simulation, broker: Process, replica: Replica, follower: int) -> int:
    """CP-ALTER.  Return the error with which the controller would refuse this follower, or NONE."""
    k, profile = sim.cluster.controller, sim.profile
    item = insync.proposal(broker, replica, insync.with_follower(replica, follower))
    record = k.records[replica.tp]
    if not profile.alter_partition:
        return alter_partition.check_direct_write(record, item, broker.id, profile)[0]
    registration = k.brokers.get(broker.id)
    current = None if registration is None else registration.epoch
    if profile.kraft:
        return alter_partition.check_sender(
            current, broker.broker_epoch
        ) or alter_partition.check_kr(
            record,
            item,
            broker.id,
            k.brokers,
            version=insync.alter_version(profile),
            isr_eligibility=profile.isr_eligibility,
            isr_broker_epoch=profile.isr_broker_epoch,
        )
    return (
        alter_partition.check_sender(current, broker.broker_epoch)
        or (
            alter_partition.check_zk(
                record,
                item,
                lambda b: znodes.is_live(k, b),
                profile,
                version=insync.alter_version(profile),
            )[0]
        )
    )


def _acceptable(sim: Simulation, broker: Process, replica: Replica, follower: int) -> Guard:
    code, f = refusal(sim, broker, replica, follower), node(follower)
    if code == NONE:
        return guard("CP-ALTER", True, say("guard.join.accepted", f=f))
    if code not in (INELIGIBLE_REPLICA, OPERATION_NOT_ATTEMPTED):
        needed = cures.informed(sim, broker.id)
    elif sim.profile.kraft and sim.cluster.controller.active(follower):
        # Alive, but known here by the last fetch of its former incarnation (KIP-903).
        needed = cures.fetched(sim, replica, follower, replica.log.hw)
    else:
        needed = cures.informed(sim, follower)
    return guard("CP-ALTER", False, say("guard.join.refused", f=f, x=error(code)), needed)


def _fetches(sim: Simulation, leader: Replica, follower: int) -> Guard:
    """F-4.  Return the guard that the follower runs, reaches the leader and fetches from it."""
    process = sim.brokers[follower].process
    f, b = node(follower), node(leader.broker)
    thread = None if process is None else thread_of(process, leader.tp)
    follows = thread is not None and thread.leader == leader.broker
    stopped = cures.run_again(sim, follower) or cures.run_again(sim, leader.broker)
    cut = cures.connect(sim, follower, leader.broker)
    begun = cures.begun_anew(sim, leader.tp, follower)
    if follows and stopped is None and cut is None and begun is None:
        return _may_receive(sim, leader, follower)
    if process is None or process.status != UP:
        sentence = say("guard.fetch.stopped", f=f)
    elif cut is not None:
        sentence = say("guard.fetch.cut", f=f, b=b)
    elif leader.tp in process.failed:
        sentence = say("guard.fetch.failed", f=f)
    elif begun is not None:
        sentence = say("guard.fetch.thread", f=f)
    elif not follows:
        sentence = say("guard.fetch.elsewhere", f=f, b=b)
    else:
        sentence = say("guard.fetch.stopped", f=b)
    return guard(
        FETCHING, False, sentence, stopped or cut or begun or cures.informed(sim, follower)
    )


def _may_receive(sim: Simulation, leader: Replica, follower: int) -> Guard:
    """Q-2, Q-3, 8.6.  Return the guard that the follower gets records and its disk keeps up."""
    f, b = node(follower), node(leader.broker)
    held, slow = cures.unthrottled(sim, leader, follower), cures.disk_written(sim, follower)
    large = cures.taken_whole(sim, leader, follower)
    if large is not None:
        n = number(cures.oversized(sim, leader, follower))
        return guard("F-7.oversized", False, say("guard.fetch.oversized", f=f, n=n), large)
    if held is not None:
        rule = "Q-2" if cures.throttle(sim, leader, follower) == "leader" else "Q-3"
        return guard(rule, False, say("guard.fetch.held", f=f), held)
    if slow is not None:
        n = number(cures.disk_ms(sim, follower))
        return guard("CP-8.6", False, say("guard.fetch.disk", f=f, n=n), slow)
    return guard(FETCHING, True, say("guard.fetch.runs", f=f, b=b))


def of_leaving(sim: Simulation, broker: Process, replica: Replica, member: int) -> list[Guard]:
    """S-8.  Return the guards of removing this member at the leader's next check."""
    f, remote = node(member), replica.remote[member]
    guards = [_nothing_in_flight(sim, broker, replica, member)]
    late = insync.is_late(replica, remote, sim.now)
    limit = number(replica.configs.lag_time_max_ms)
    ago = number(max(0, sim.now - max(0, remote.last_caught_up_ms)))
    if late:
        sentence = say("guard.late", f=f, n=ago, k=limit)
    elif replica.profile.leo_equal_is_insync and remote.leo == replica.log.leo:
        sentence = say("guard.late.equal", f=f, o=offset(remote.leo))
    else:
        sentence = say("guard.late.not", f=f, n=ago, k=limit)
    guards.append(guard("S-8", late, sentence, cures.fallen_behind(sim, replica, member)))
    return guards


# -- a produce that waits -------------------------------------------------------------------------


def of_answer(
    sim: Simulation, broker: Process, replica: Replica, waiting: DelayedProduce
) -> list[Guard]:
    """P-4.  Return the guards of acknowledging this produce now."""
    b, due = node(broker.id), number(max(0, waiting.deadline - sim.now))
    required = waiting.required
    decided = purgatory.fate(broker, replica, required)
    if decided in (NOT_LEADER_OR_FOLLOWER, KAFKA_STORAGE_ERROR):
        return [guard("P-4", False, say("guard.ack.error", b=b, x=error(decided)))]
    guards = [guard("P-4", True, say("guard.ack.time", n=due))]
    if decided == purgatory.UNDECIDED:
        guards += _followers(sim, broker, replica, required)
        if replica.profile.strict_min_isr:
            guards.append(_enough_to_commit(sim, broker, replica))
    enough = purgatory.has_enough_in_sync(replica)
    args = {"i": members(replica.maximal_isr), "n": number(replica.min_isr())}
    sentence = say("guard.ack.enough" if enough else "guard.ack.few", **args)
    guards.append(guard("P-4", enough, sentence, grown(sim, broker, replica)))
    if all_hold(guards) and decided == purgatory.UNDECIDED:
        # H-3: the mark moves with the next append, fetch or ISR change, not by itself.
        reach = say("guard.ack.mark", b=b, h=offset(replica.log.hw), o=offset(required))
        guards.append(guard("H-3", False, reach, cures.appended(sim, replica.tp)))
    return guards


def on_its_way(sim: Simulation, value: str, m: Message) -> Guard:
    """Return the guard that the request, or its answer, has still to arrive."""
    answered = m.kind == PRODUCE_R
    to = m.src if answered else m.dst
    key = "guard.ack.answering" if answered else "guard.ack.asking"
    needed = cures.run_again(sim, to) if to >= 0 else None
    sentence = say(key, m=records([value]), b=node(to))
    return guard("P-3", False, sentence, needed or cures.arrival(sim, m))


def stopped(sim: Simulation, broker: int) -> Guard:
    """Return the guard that a process that does not run decides nothing."""
    told = say("guard.fetch.stopped", f=node(broker))
    return guard("CP-8.1", False, told, cures.run_again(sim, broker) or cures.informed(sim, broker))
