"""INV-29: a fetch session and its fetcher are in step."""

from __future__ import annotations

from engine.model.cluster import Cluster
from engine.model.phrases import phrase
from engine.model.session_client import SessionClient
from engine.model.sessions import INITIAL, Session, SessionCache, next_epoch


def out_of_step(cluster: Cluster, leader: int, cache: SessionCache) -> str:
    """Return why a session of this leader differs from its follower's last request, or "".

    Looked at while an answer is under way: then the leader's epoch is one ahead, and both sides
    speak of the same request.  With any other epoch the next exchange ends in an error (X-3); a
    follower at INITIAL has given the session up and sends a full request.
    """
    for session in cache.sessions.values():
        follower = cluster.brokers.get(-1 if session.owner is None else session.owner)
        if follower is None or follower.process is None:
            continue
        for thread in follower.process.fetchers.values():
            client = thread.session
            if (
                client is not None
                and thread.leader == leader
                and client.session_id == session.id
                and client.epoch != INITIAL
                and next_epoch(client.epoch) == session.epoch
                and not _agree(session, client)
            ):
                return phrase(
                    "broker {0} remembers of session {1} {2}; broker {3} said {4}",
                    cluster.brokers[leader].name,
                    session.id,
                    _served_offsets(session),
                    follower.name,
                    _requested_offsets(client),
                )
    return ""


def _agree(session: Session, client: SessionClient) -> bool:
    known = {str(partition): one.wanted for (_, partition), one in session.partitions.items()}
    said = client.partitions
    return known.keys() == said.keys() and all(said[name].same(known[name]) for name in said)


def _served_offsets(session: Session) -> dict[int, int]:
    """Return partition -> the offset it is fetched from."""
    return {partition: one.wanted.offset for (_, partition), one in session.partitions.items()}


def _requested_offsets(client: SessionClient) -> dict[int, int]:
    return {int(name): wanted.offset for name, wanted in client.partitions.items()}
