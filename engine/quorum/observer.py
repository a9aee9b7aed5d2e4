"""Rules of the brokers as observers of the quorum: which voter they send to (10.1).

An observer keeps no vote.  What it fetches beyond the high watermark is never applied and not
played: it gets committed records only.
"""

from __future__ import annotations

from typing import Final

from engine.controlplane import membership
from engine.model.broker import Process
from engine.model.control_messages import MetadataRecords
from engine.model.effects import Effects
from engine.model.messages import METADATA_FETCH, REGISTER
from engine.model.quorum import NO_VOTER, Observer, Quorum
from engine.model.quorum_messages import NotController
from engine.model.state import STARTING, UP
from engine.model.timers import METADATA_RETRY

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
        voters = [one for one in quorum.voters if one != observer.asked] or [observer.asked]
        observer.asked = voters[quorum.chance.below(len(voters))]
        return observer.asked
    if kind == METADATA_FETCH:
        observer.asked = observer.leader
    return observer.leader


def learn(observer: Observer, epoch: int, leader: int) -> bool:
    """Take over a newer epoch, or the leader of this one; True if the leader is another one."""
    known = observer.leader
    if epoch > observer.epoch:
        observer.epoch, observer.leader = epoch, leader
    elif epoch == observer.epoch and known == NO_VOTER:
        observer.leader = leader
    return observer.leader not in (known, NO_VOTER)


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


def on_refusal(broker: Process, observer: Observer, m: NotController, out: Effects) -> None:
    """Handle NOT_LEADER_OR_FOLLOWER of a fetch, or a refused registration: both name the leader."""
    if m.request_kind == METADATA_FETCH and m.corr == broker.metadata_corr:
        fetch_again(broker, observer, out)
    if m.request_kind in (METADATA_FETCH, REGISTER):
        follow(broker, observer, m.epoch, m.leader, out)


def on_records(broker: Process, observer: Observer, m: MetadataRecords, out: Effects) -> bool:
    """Learn the leader from its answer; False if that is all, so that the broker fetches on."""
    observer.attempt = 0
    if not m.records and m.corr == broker.metadata_corr:
        broker.metadata_corr = 0
    follow(broker, observer, observer.epoch, m.src, out)
    if not m.records and not broker.metadata_corr:
        membership.fetch_metadata(broker, out)
    return len(m.records) > 0
