"""The fields of a message that are shown, under Kafka's names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from engine.model.errors import name_of
from engine.model.group_messages import GroupRequest, GroupResponse
from engine.model.json_types import Json
from engine.model.log import Batch
from engine.model.messages import (
    ALTER_PARTITION,
    EARLIEST_LOCAL,
    EPOCH_END,
    EPOCH_END_R,
    FETCH,
    FETCH_R,
    LATEST,
    LIST_OFFSETS,
    LIST_OFFSETS_R,
    METADATA_FETCH_R,
    OFFSET_COMMIT,
    OFFSET_FETCH_R,
    PRODUCE,
    PRODUCE_R,
    Redirection,
)
from engine.model.session_messages import SessionAnswer, SessionFetch

CARRIED_SHOWN: Final = 8


def carried(batches: Iterable[Batch]) -> list[list[Any]]:
    """Return [offset, record, epoch] of the first records that an answer carries."""
    told = [[b.base + i, value, b.epoch] for b in batches for i, value in enumerate(b.values)]
    return told[:CARRIED_SHOWN]


WANTED: Final = {LATEST: "latest", EARLIEST_LOCAL: "earliest local"}


def fields_of(m: Any) -> Json:
    """Return the two or three fields of a message that matter, under Kafka's names."""
    kind = m.kind
    if kind == FETCH:
        if isinstance(m, SessionFetch):
            return _session_fields(m)
        if not m.partitions:
            return {}
        fp = m.partitions[0]
        fields = {"offset": fp.offset}
        if fp.last_epoch >= 0:
            fields["lastEpoch"] = fp.last_epoch
        if fp.leader_epoch >= 0:
            fields["epoch"] = fp.leader_epoch
        return fields
    if kind == FETCH_R:
        if isinstance(m, SessionAnswer):
            return _session_answer_fields(m)
        if not m.partitions:
            return {}
        data = m.partitions[0]
        if data.error:
            return {"error": name_of(data.error)}
        if data.diverging is not None:
            return {"diverging": list(data.diverging)}
        if isinstance(data, Redirection):
            return {"preferred": data.preferred}
        return {"hw": data.hw, "records": sum(len(b.values) for b in data.batches)}
    if kind == EPOCH_END and m.partitions:
        return {"epoch": m.partitions[0][1]}
    if kind == EPOCH_END_R and m.partitions:
        return {"epoch": m.partitions[0][2], "end": m.partitions[0][3]}
    if kind == LIST_OFFSETS:
        return {"wants": WANTED.get(m.timestamp, "earliest")}
    if kind == LIST_OFFSETS_R:
        return {"error": name_of(m.error)} if m.error else {"offset": m.offset}
    if kind == PRODUCE:
        return {"records": list(m.values), "acks": m.acks}
    if kind == PRODUCE_R:
        return {"offset": m.base, "error": name_of(m.error)}
    if kind == ALTER_PARTITION:
        return {"isr": [b for b, _ in m.items[0].isr], "pe": m.items[0].partition_epoch}
    if kind == METADATA_FETCH_R:
        return {"records": len(m.records)}
    if isinstance(m, GroupRequest | GroupResponse):
        return _group_fields(m)
    return {}


def _group_fields(m: GroupRequest | GroupResponse) -> Json:
    """Return the member and its generation, and the committed offsets by partition."""
    fields: Json = {}
    if isinstance(m, GroupRequest) and m.member:
        fields["member"] = m.member
    if isinstance(m, GroupResponse) and m.error:
        fields["error"] = name_of(m.error)
    if isinstance(m, GroupResponse) and m.node >= 0:
        fields["coordinator"] = m.node
    if m.generation >= 0:
        fields["generation"] = m.generation
    if m.kind in (OFFSET_COMMIT, OFFSET_FETCH_R):
        fields["offsets"] = [f"{tp}:{offset}" for tp, offset, _ in m.offsets]
    return fields


def _session_fields(m: Any) -> Json:
    """Return a session, the number of its fetch, and the partitions named or forgotten."""
    fields: Json = {"session": m.session_id, "number": m.session_epoch}
    fields["names"] = [f"{fp.tp}:{fp.offset}" for fp in m.partitions]
    if m.forgotten:
        fields["forgets"] = list(m.forgotten)
    return fields


def _session_answer_fields(m: SessionAnswer) -> Json:
    fields: Json = {"session": m.session_id}
    if m.error:
        fields["error"] = name_of(m.error)
    fields["news"] = [data.tp for data in m.partitions]
    fields["records"] = sum(len(b.values) for data in m.partitions for b in data.batches)
    return fields
