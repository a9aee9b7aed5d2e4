"""Quotas and fetch sessions of a broker: INV-28, INV-29."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from engine.checks.invariant import ALWAYS, About, Invariant, Observation
from engine.dataplane.partition_fetch_state import lag_of
from engine.model.broker import Process
from engine.model.quotas import Quotas
from engine.model.session_client import SessionClient
from engine.model.sessions import INITIAL, Session, next_epoch


class IsrNotThrottled(Invariant):
    about: ClassVar = About(
        "INV-28",
        "A quota throttles no in-sync follower.",
        "A quota throttled an in-sync follower.",
        ALWAYS,
        broken_by=("quota_covers_in_sync", "waiting_fetch_throttled"),  # KAFKA-4313, KAFKA-6937
    )

    def on_broker(self, run: Observation, process: Process) -> None:
        quotas = process.quotas
        if quotas is None:
            return
        decisions: dict[int, int] = self.memory(run)  # broker -> decisions that were seen
        checked = decisions.get(process.id, 0)
        if checked != quotas.decisions:
            decisions[process.id] = quotas.decisions
            for follower in held_in_sync(process, quotas, checked):
                names = run.name(process.id), run.name(follower)
                self.report(run, "{0} holds {1} back, in sync", *names)


def held_in_sync(broker: Process, quotas: Quotas, checked: int) -> Iterator[int]:
    """Yield the in-sync followers that this broker's quotas held back since decision `checked`.

    Such a follower is one of its own, or the broker itself as the follower of another leader.
    """
    for (tp, follower), number in quotas.held.items():
        if number <= checked:
            continue
        if follower != broker.id:
            in_sync = follower in broker.replicas[tp].isr
        else:
            lag = lag_of(broker, tp)
            in_sync = lag is not None and lag <= 0
        if in_sync:
            yield follower


class SessionInStep(Invariant):
    """Looked at while a response is under way.

    Then the leader's epoch is one ahead, and both sides speak of the same request.  With any other
    epoch the next exchange ends in an error (X-3); a follower at INITIAL has given the session up
    and sends a full request.
    """

    about: ClassVar = About(
        "INV-29",
        "A leader's fetch session has each partition as the fetcher last sent it.",
        "A fetch session and its fetcher do not match.",
        ALWAYS,
    )

    def on_broker(self, run: Observation, process: Process) -> None:
        if not process.sessions:
            return
        brokers = run.cluster.brokers
        for session in process.sessions.sessions.values():
            follower = brokers.get(-1 if session.owner is None else session.owner)
            if follower is None or follower.process is None:
                continue
            for thread in follower.process.fetchers.values():
                client = thread.session
                if (
                    client is not None
                    and thread.leader == process.id
                    and client.session_id == session.id
                    and client.epoch != INITIAL
                    and next_epoch(client.epoch) == session.epoch
                    and not _agree(session, client)
                ):
                    self.report(
                        run,
                        "broker {0} remembers of session {1} {2}; broker {3} said {4}",
                        brokers[process.id].name,
                        session.id,
                        {
                            tp: partition.wanted.offset
                            for (_, tp), partition in session.partitions.items()
                        },
                        follower.name,
                        {
                            int(name): partition.offset
                            for name, partition in client.partitions.items()
                        },
                    )
                    return


def _agree(session: Session, client: SessionClient) -> bool:
    known = {str(partition): one.wanted for (_, partition), one in session.partitions.items()}
    sent = client.partitions
    return known.keys() == sent.keys() and all(sent[name].same(known[name]) for name in sent)
