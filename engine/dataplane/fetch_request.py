"""Builds fetch requests and validates their responses, with and without sessions."""

from __future__ import annotations

from typing import Final

from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.messages import (
    NO_EPOCH,
    FetchPartition,
    FetchRequest,
    FetchResponse,
)
from engine.model.session_client import SessionClient
from engine.model.session_messages import SessionAnswer, SessionFetch
from engine.model.sessions import INITIAL, PartitionRequest
from engine.model.state import FetcherThread

NAMES_VERSION: Final = 12  # the last Fetch that names topics: played topics have no ids


def build_fetch(
    broker: Process, thread: FetcherThread, parts: list[FetchPartition]
) -> FetchRequest | None:
    """F-5, X-6.  Return the request for the partitions that are ready; None if it would be empty.

    For a session whose partitions are all held up the request forgets them.
    """
    session = thread.session
    if not parts and (session is None or session.epoch == INITIAL or not session.partitions):
        return None
    configs = broker.configs
    thread.outstanding = broker.next_corr()
    request = FetchRequest(
        broker.id,
        thread.leader,
        thread.outstanding,
        parts,
        broker.id,
        broker.broker_epoch if broker.profile.isr_broker_epoch else NO_EPOCH,
        configs.fetch_wait_max_ms,
        configs.fetch_limits.at_least,
        configs.fetch_max_records,
        limits=configs.fetch_limits,
    )
    return request if session is None else in_session(session, request)


def in_session(session: SessionClient, m: FetchRequest) -> SessionFetch:
    """X-6.  Build a request with only those wanted partitions that the leader does not know yet."""
    parts = {str(fp.tp): fp for fp in m.partitions}
    said = session.build(
        {
            name: PartitionRequest(
                fp.offset, fp.log_start, m.max_records, fp.leader_epoch, fp.last_epoch, None
            )
            for name, fp in parts.items()
        }
    )
    return SessionFetch(
        m,
        [parts[name] for name in said.send],
        said.session_id,
        said.epoch,
        [int(name) for name in said.forget],
    )


def accepts(node: int, session: SessionClient, m: FetchResponse, out: Effects) -> bool:
    """X-6.  Check an answer; a session error touches no partition, and costs one round trip."""
    assert isinstance(m, SessionAnswer)
    if m.error:
        out.cue("X-6", node, "error", session.session_id, m.error)
    names = [str(data.tp) for data in m.partitions]
    return session.handle(m.error, m.session_id, names, NAMES_VERSION)
