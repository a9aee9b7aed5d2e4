"""Rules of the brokers as observers of the quorum: what they fetch, and from which voter (10.1).

An observer keeps no vote.  It appends records as a voter does, and applies them once it knows a
high watermark above them.
"""

from __future__ import annotations

from typing import Final

from engine.controlplane import membership
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.messages import METADATA_FETCH, REGISTER, Message
from engine.model.quorum import NO_VOTER, Observer, Quorum
from engine.model.quorum_messages import NotController, ObserverFetch, ObserverFetchResponse
from engine.model.state import STARTING, UP
from engine.model.timers import METADATA_RETRY
from engine.quorum import replication

RETRY_MS: Final = 50
"""First pause after a fetch that failed (`reconnect.backoff.ms`); doubles up to `RETRY_MOST_MS`."""
RETRY_MOST_MS: Final = 1_000


def target(quorum: Quorum, broker: int, kind: int) -> int:
    """CP-RAFT-OBSERVER.  Return the voter that a broker sends to, NO_VOTER without a leader.

    A fetch after a failure, and the first request of a process, go to a random voter, though not
    to the one asked last (`maybeSendAnyVoterFetch`); its answer names the leader.
    """
    observer = quorum.observers[broker]
    asks_any = kind == METADATA_FETCH and observer.attempt > 0
    if observer.leader == NO_VOTER and kind in (METADATA_FETCH, REGISTER):
        asks_any = True
    if asks_any:
        voters = [voter for voter in quorum.voters if voter != observer.asked] or [observer.asked]
        observer.asked = voters[quorum.chance.below(len(voters))]
        return observer.asked
    if kind == METADATA_FETCH:
        observer.asked = observer.leader
    return observer.leader


def learn(observer: Observer, epoch: int, leader: int) -> bool:
    """Take over a newer epoch, or the leader of this one; True if the leader is another one."""
    former = observer.leader
    if epoch > observer.epoch:
        observer.epoch, observer.leader = epoch, leader
    elif epoch == observer.epoch and former == NO_VOTER:
        observer.leader = leader
    return observer.leader not in (former, NO_VOTER)


def fetch_again(broker: Process, observer: Observer, out: Effects) -> None:
    """Fetch metadata again after a pause."""
    broker.metadata_corr = 0
    wait = min(RETRY_MS << min(observer.attempt, 5), RETRY_MOST_MS)
    observer.attempt += 1
    out.timer(broker.id, wait, METADATA_RETRY)


def follow(broker: Process, observer: Observer, epoch: int, leader: int, out: Effects) -> None:
    """CP-RAFT-OBSERVER.  Learn of a leader; what waited for a new one is sent to it."""
    if not learn(observer, epoch, leader):
        return
    out.cue("CP-RAFT-OBSERVER", broker.id, "quorum leader", None, leader)
    observer.attempt = 0
    if broker.status == UP:
        if not broker.metadata_corr:
            membership.fetch_metadata(broker, out)
        membership.send_heartbeat(broker, out)
        membership.on_alter_timer(broker, out)
    elif broker.status == STARTING and not broker.registered_corr and broker.broker_epoch < 0:
        membership.register(broker, 0, out)


def fetch_from(quorum: Quorum, m: Message) -> ObserverFetch:
    """CP-RAFT-FETCH.  Return the fetch of a broker as a voter takes it: with its epoch and HW."""
    observer = quorum.observers[m.src]
    log = observer.log
    place = log.end, log.last_epoch, observer.hw
    return ObserverFetch(m.src, m.dst, m.corr, observer.epoch, *place)


def on_refusal(broker: Process, observer: Observer, m: NotController, out: Effects) -> None:
    """Handle a refused registration, which names the leader."""
    if m.request_kind == REGISTER:
        follow(broker, observer, m.epoch, m.leader, out)


def on_fetch_response(
    broker: Process, observer: Observer, m: ObserverFetchResponse, out: Effects
) -> None:
    """CP-RAFT-FETCH.  Append what follows or truncate, apply what is committed, and fetch on.

    A response of an older epoch is not looked at (`maybeHandleCommonResponse`).
    """
    if m.corr != broker.metadata_corr:
        return
    if m.error:
        fetch_again(broker, observer, out)
        follow(broker, observer, m.epoch, m.leader, out)
        return
    observer.attempt = 0
    follow(broker, observer, m.epoch, m.leader, out)
    if m.epoch == observer.epoch and not replication.take(observer, m, out):
        broker.halted = True
        return
    records = observer.log.records[broker.metadata_offset : max(observer.hw, 0)]
    membership.apply_and_fetch(broker, records, out)
