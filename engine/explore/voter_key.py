"""Key of the voters of a quorum: time stands in a search, so their timeouts are moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from engine.explore.broker_key import RelativeNumbers
from engine.explore.key_exclusions import PLAIN, frozen
from engine.model import timers
from engine.model.controller import Controller
from engine.model.messages import BROKEN, REPLIES, Message
from engine.model.quorum import Observer, Quorum, Voter, VoterProgress
from engine.sim.simulation import Simulation
from engine.sim.voter_timers import repeating


def voters_key(
    sim: Simulation, quorum: Quorum, said: RelativeNumbers, controller: Callable[[Controller], Any]
) -> Any:
    """Return voters, their pending timers and messages, and what the brokers know of them.

    `next_draw`: a back-off of 0 ms ends at once, so the stream of chance is part of a state.
    """
    next_draw = quorum.chance.copy().below(1 << 53)
    return (
        next_draw,
        tuple([_voter(sim, v, said, controller) for v in quorum.voters.values()]),
        tuple([(broker, PLAIN[Observer](one)) for broker, one in quorum.observers.items()]),
    )


def _voter(
    sim: Simulation, v: Voter, said: RelativeNumbers, controller: Callable[[Controller], Any]
) -> Any:
    """Return a voter; of one that is down its log, its file, and the mark that was seen."""
    log = tuple(v.log.epochs), frozen(v.log.records)
    if not v.alive:
        return v.epoch, v.voted_for, v.leader, v.hw, log
    return (
        PLAIN[Voter](v),
        log,
        said.number(v.id, v.fetching),
        tuple([(voter, PLAIN[VoterProgress](one)) for voter, one in v.progress.items()]),
        tuple([(voter, said.message(m)) for voter, m in sorted(v.parked.items())]),
        v.controller and (v.controller is sim.cluster.controller, controller(v.controller)),
        tuple(sorted(_waiting(sim, v))),
    )


def _waiting(sim: Simulation, v: Voter) -> Iterator[tuple[int, ...]]:
    for event in repeating(sim, v):
        kind, data, _ = event[4]
        yield (kind, *data[:2]) if kind == timers.VOTER_RESEND else (kind,)


def is_stale(quorum: Quorum, m: Message) -> bool:
    """Check whether the voter that waits for a response has closed that connection since."""
    asker = m.dst if m.kind in REPLIES or m.kind == BROKEN else m.src
    v = quorum.voters.get(asker)
    return v is not None and m.corr <= v.since
