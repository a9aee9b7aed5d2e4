"""A client's question for the leader of a partition, and its answer."""

from __future__ import annotations

from engine.model.declared import acyclic
from engine.model.messages import CLIENT_METADATA, CLIENT_METADATA_R, Message


@acyclic
class ClientMetadata(Message):
    """A client asks a broker for the leader of `tp`."""

    tp: int
    kind = CLIENT_METADATA


@acyclic
class ClientMetadataResponse(Message):
    tp: int
    leader: int
    leader_epoch: int
    kind = CLIENT_METADATA_R
