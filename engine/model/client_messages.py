"""A client's question for the leader of a partition, and its answer."""

from __future__ import annotations

from engine.model.compiling import mypyc_attr
from engine.model.messages import CLIENT_METADATA, CLIENT_METADATA_R, Message


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class ClientMetadata(Message):
    """A client asks a broker for the leader of `tp`."""

    __slots__ = ("tp",)
    kind = CLIENT_METADATA

    def __init__(self, src: int, dst: int, corr: int, tp: int) -> None:
        Message.__init__(self, src, dst, corr)
        self.tp = tp


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class ClientMetadataResponse(Message):
    __slots__ = ("leader", "leader_epoch", "tp")
    kind = CLIENT_METADATA_R

    def __init__(
        self, src: int, dst: int, corr: int, tp: int, leader: int, leader_epoch: int
    ) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.tp = tp
        self.leader = leader
        self.leader_epoch = leader_epoch
