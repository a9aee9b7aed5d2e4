"""Messages between the voters of a KRaft quorum (KIP-595), and their refusal of a broker.

Every response has the responder's epoch and the leader that it knows (NO_VOTER: none), as all
responses of these requests do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.model.declared import acyclic
from engine.model.messages import (
    BEGIN_EPOCH,
    BEGIN_EPOCH_R,
    END_EPOCH,
    END_EPOCH_R,
    METADATA_FETCH,
    METADATA_FETCH_R,
    NOT_CONTROLLER_R,
    QUORUM_FETCH,
    QUORUM_FETCH_R,
    VOTE,
    VOTE_R,
    Message,
)


@acyclic
class VoteRequest(Message):
    """A candidate's epoch, and where its log ends: (`last_epoch`, `end`).

    A pre-vote (KIP-996) has the epoch that its sender is in already.  `directory` is that of the
    voter that it is meant for (KIP-853).
    """

    epoch: int
    last_epoch: int
    end: int
    pre_vote: bool = False
    directory: int = 0
    kind = VOTE


@acyclic
class VoteResponse(Message):
    """`pre_vote` is that of the request: Kafka's sender knows it by the correlation id."""

    error: int
    epoch: int
    leader: int
    granted: bool
    pre_vote: bool = False
    kind = VOTE_R


@acyclic
class BeginQuorumEpochRequest(Message):
    """A new leader announces its epoch; it is the sender."""

    epoch: int
    kind = BEGIN_EPOCH


@acyclic
class BeginQuorumEpochResponse(Message):
    error: int
    epoch: int
    leader: int
    kind = BEGIN_EPOCH_R


@acyclic
class EndQuorumEpochRequest(Message):
    """A resigned leader's farewell; `successors` have the longest log first."""

    epoch: int
    successors: tuple[int, ...]
    kind = END_EPOCH


@acyclic
class EndQuorumEpochResponse(Message):
    error: int
    epoch: int
    leader: int
    kind = END_EPOCH_R


@acyclic
class QuorumFetchRequest(Message):
    """A voter's Fetch of __cluster_metadata-0: its end, its last epoch, and the epoch it is in.

    `hw` is the high watermark that it knows; a leader looks at it since KIP-1166 (4.1).
    `directory` is that of the sender.
    """

    epoch: int
    offset: int
    last_epoch: int
    hw: int
    directory: int = 0
    kind = QUORUM_FETCH


@acyclic
class QuorumFetchResponse(Message):
    """`batches`: (epoch, records) from the requested offset on; `hw` is the leader's HW (or -1).

    `diverging`: (epoch, end offset) to truncate to, else None.
    """

    error: int
    epoch: int
    leader: int
    hw: int
    batches: Sequence[tuple[int, list[tuple[Any, ...]]]] = ()
    diverging: tuple[int, int] | None = None
    kind = QUORUM_FETCH_R


@acyclic
class ObserverFetch(QuorumFetchRequest):
    """A broker's fetch of the metadata log: as that of a voter, but it counts for no majority."""

    kind = METADATA_FETCH


@acyclic
class ObserverFetchResponse(QuorumFetchResponse):
    """Response to a broker; records past `hw` are not known to be committed."""

    kind = METADATA_FETCH_R

    @property
    def records(self) -> list[tuple[Any, ...]]:
        return [record for _, records in self.batches for record in records]


@acyclic
class NotController(Message):
    """A voter that is no active controller refuses a broker's request (NOT_CONTROLLER)."""

    error: int
    epoch: int
    leader: int
    request_kind: int
    kind = NOT_CONTROLLER_R
