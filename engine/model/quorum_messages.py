"""Messages between the voters of a KRaft quorum (KIP-595), and their refusal of a broker.

Every response has the responder's epoch and the leader that it knows (NO_VOTER: none), as all
responses of these requests do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.model.compiling import mypyc_attr
from engine.model.messages import (
    BEGIN_EPOCH,
    BEGIN_EPOCH_R,
    END_EPOCH,
    END_EPOCH_R,
    NOT_CONTROLLER_R,
    QUORUM_FETCH,
    QUORUM_FETCH_R,
    VOTE,
    VOTE_R,
    Message,
)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class VoteRequest(Message):
    """A candidate's epoch, and where its log ends: (`last_epoch`, `end`).

    A pre-vote (KIP-996) has the epoch that its sender is in already.
    """

    __slots__ = ("end", "epoch", "last_epoch", "pre_vote")
    kind = VOTE

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        epoch: int,
        last_epoch: int,
        end: int,
        pre_vote: bool = False,
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.epoch = epoch
        self.last_epoch = last_epoch
        self.end = end
        self.pre_vote = pre_vote


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class VoteResponse(Message):
    """`pre_vote` is that of the request: Kafka's sender knows it by the correlation id."""

    __slots__ = ("epoch", "error", "granted", "leader", "pre_vote")
    kind = VOTE_R

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        error: int,
        epoch: int,
        leader: int,
        granted: bool,
        pre_vote: bool = False,
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.error = error
        self.epoch = epoch
        self.leader = leader
        self.granted = granted
        self.pre_vote = pre_vote


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class BeginQuorumEpochRequest(Message):
    """A new leader announces its epoch; it is the sender."""

    __slots__ = ("epoch",)
    kind = BEGIN_EPOCH

    def __init__(self, src: int, dst: int, corr: int, epoch: int) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.epoch = epoch


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class BeginQuorumEpochResponse(Message):
    __slots__ = ("epoch", "error", "leader")
    kind = BEGIN_EPOCH_R

    def __init__(self, src: int, dst: int, corr: int, error: int, epoch: int, leader: int) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.error = error
        self.epoch = epoch
        self.leader = leader


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class EndQuorumEpochRequest(Message):
    """A resigned leader's farewell; `successors` have the longest log first."""

    __slots__ = ("epoch", "successors")
    kind = END_EPOCH

    def __init__(
        self, src: int, dst: int, corr: int, epoch: int, successors: tuple[int, ...]
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.epoch = epoch
        self.successors = successors


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class EndQuorumEpochResponse(Message):
    __slots__ = ("epoch", "error", "leader")
    kind = END_EPOCH_R

    def __init__(self, src: int, dst: int, corr: int, error: int, epoch: int, leader: int) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.error = error
        self.epoch = epoch
        self.leader = leader


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class QuorumFetchRequest(Message):
    """A voter's Fetch of __cluster_metadata-0: its end, its last epoch, and the epoch it is in.

    `hw` is the mark that it knows; a leader looks at it since KIP-1166 (4.1).
    """

    __slots__ = ("epoch", "hw", "last_epoch", "offset")
    kind = QUORUM_FETCH

    def __init__(
        self, src: int, dst: int, corr: int, epoch: int, offset: int, last_epoch: int, hw: int
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.epoch = epoch
        self.offset = offset
        self.last_epoch = last_epoch
        self.hw = hw


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class QuorumFetchResponse(Message):
    """`batches`: (epoch, records) from the requested offset on; `hw` the leader's mark (or -1).

    `diverging`: (epoch, end offset) to truncate to, else None.
    """

    __slots__ = ("batches", "diverging", "epoch", "error", "hw", "leader")
    kind = QUORUM_FETCH_R

    def __init__(
        self,
        src: int,
        dst: int,
        corr: int,
        error: int,
        epoch: int,
        leader: int,
        hw: int,
        batches: Sequence[tuple[int, list[tuple[Any, ...]]]] = (),
        diverging: tuple[int, int] | None = None,
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.error = error
        self.epoch = epoch
        self.leader = leader
        self.hw = hw
        self.batches = batches
        self.diverging = diverging


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class NotController(Message):
    """A voter that is no active controller refuses a broker's request (NOT_CONTROLLER).

    For a fetch of metadata the error is NOT_LEADER_OR_FOLLOWER.
    """

    __slots__ = ("epoch", "error", "leader", "request_kind")
    kind = NOT_CONTROLLER_R

    def __init__(
        self, src: int, dst: int, corr: int, error: int, epoch: int, leader: int, request_kind: int
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.error = error
        self.epoch = epoch
        self.leader = leader
        self.request_kind = request_kind
