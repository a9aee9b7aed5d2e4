"""JSON of user interfaces and client libraries, of plans, and of `kcat -J`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from app.reading.facts import (
    MIN_ISR,
    MOST_EPOCH,
    MOST_ID,
    MOST_NUMBER,
    UNCLEAN,
    Facts,
    PastedPartition,
    PasteError,
    checked,
)
from app.reading.format import PasteContext, PastedLine, TextFormat
from app.reading.formats.table import in_sync_of
from app.reading.json_text import broken, decoded
from app.reading.names import TOPIC

MOST_DEPTH: Final = 12
MOST_PARTITIONS: Final = 5_000
_PLAN: Final = re.compile(
    r"(?:Current|Proposed) partition (?:replica assignment|reassignment configuration)"
    r"|Save this to use as the --reassignment-json-file.*"
)
_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "replicas": ("replicas", "replicanodes", "replicaids", "assignedreplicas", "nodes", "brokers"),
    "isr": ("isr", "isrs", "insyncreplicas", "isrnodes", "insync", "insyncreplicaids", "isrids"),
    "leader": ("leader", "leaderid", "leadernode", "leaderbroker", "leaderbrokerid"),
    "number": ("partition", "partitionid", "partitionindex", "partitionnumber", "partnum", "id",
               "index"),
    "topic": ("topic", "topicname", "name"),
    "epoch": ("leaderepoch",),
    "end": ("highwatermark", "watermarkhigh", "offsetmax", "lastoffset", "endoffset",
            "latestoffset", "newestoffset", "maxoffset"),
    "offline": ("offlinereplicas",),
    "elr": ("elr", "eligibleleaderreplicas"),
    "last": ("lastknownelr",),
    "observers": ("observers",),
    "broker": ("id", "broker", "brokerid", "nodeid", "node", "replica", "replicaid"),
    "in_sync": ("insync", "insyncs", "isinsync", "isr", "isisr"),
    "leads": ("leader", "isleader"),
}  # fmt: skip


def _read(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    if _PLAN.match(lines[at].text):
        return 1
    document = decoded(lines, at)
    if document is not None:
        _take(document[0], lines[at].number, context)
        return document[1]
    count = broken(lines, at)
    if count:
        context.facts.problem(lines[at].number, "json")
    return count


def _take(value: Any, line: int, context: PasteContext) -> None:
    facts = context.facts
    if isinstance(value, dict) and isinstance(value.get("brokers"), list):
        facts.alive.update(_living(value["brokers"]))
    partitions = list(_partitions(value, context.topic, "", 0))
    for topic, number, data in partitions[:MOST_PARTITIONS]:
        try:
            facts.add(checked(facts, _partition(topic, number, data, line, facts)))
        except PasteError as bad:
            facts.refuse(line, bad)
    _settings(value, context.topic, facts, 0)
    if not partitions:
        plan = isinstance(value, dict) and isinstance(value.get("partitions"), list)
        is_log_dirs = isinstance(value, dict) and {"logDirs", "logdirs"} & _keys(
            value.get("brokers")
        )
        if plan and any(problem.key == "paste.plan" for problem in facts.problems):
            return  # the current one and the proposed one are printed together
        facts.problem(line, "plan" if plan else "log_dirs" if is_log_dirs else "json_other")


def _keys(value: Any) -> set[str]:
    if not isinstance(value, list):
        return set()
    return {str(key) for one in value if isinstance(one, dict) for key in one}


def _living(brokers: list[Any]) -> Iterator[int]:
    for one in brokers:
        broker = _id(one)
        if broker is not None and broker >= 0:
            yield broker


def _get(data: Mapping[str, object], name: str) -> Any:
    """Return the value under one of the usual spellings, or None."""
    spelt = {re.sub(r"[^a-z]", "", str(key).lower()): one for key, one in data.items()}
    return next((spelt[one] for one in _NAMES[name] if spelt.get(one) is not None), None)


def _has(data: Mapping[str, object], name: str) -> bool:
    return any(re.sub(r"[^a-z]", "", str(key).lower()) in _NAMES[name] for key in data)


def _partitions(
    value: Any, topic: str, key: str, depth: int
) -> Iterator[tuple[str, Any, Mapping[str, object]]]:
    """Yield (topic, number, fields) of everything that has replicas and a leader."""
    if depth > MOST_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _partitions(item, topic, "", depth + 1)
        return
    if not isinstance(value, dict):
        return
    replicas = _get(value, "replicas")
    if isinstance(replicas, list) and replicas and _leads(value, replicas):
        own = value.get("topic", value.get("topicName", value.get("topic_name")))
        number = _get(value, "number")
        yield (
            own if isinstance(own, str) else topic,
            key if number is None and key.isdigit() else number,
            value,
        )
        return
    named = _get(value, "topic")
    for name, item in value.items():
        inner = named if isinstance(named, str) else topic
        yield from _partitions(item, inner or str(name), str(name), depth + 1)


def _leads(value: Mapping[str, object], replicas: list[Any]) -> bool:
    """Return whether this is a partition: the replicas of a plan have no leader."""
    flagged = any(isinstance(one, dict) and _flag(one, "leads") is not None for one in replicas)
    return flagged or _has(value, "leader")


def _flag(data: Mapping[str, object], name: str) -> bool | None:
    value = _get(data, name)
    return value if isinstance(value, bool) else None


def _id(value: Any) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, dict):
        return _id(_get(value, "broker"))
    if isinstance(value, int):
        return value if value <= MOST_ID else None
    if isinstance(value, str):
        match = re.fullmatch(r"(-?\d{1,6})(?:\s*\(.*\)|:.*)?", value.strip())
        return int(match[1]) if match else None
    return None


def _ids(value: Any, column: str) -> tuple[int, ...]:
    if value is None:
        return ()
    listed = value if isinstance(value, list) else re.findall(r"\d+", str(value))
    ids_read = [_id(item) for item in listed]
    ids = tuple(number for number in ids_read if number is not None and number >= 0)
    if len(ids) < len(ids_read):
        raise PasteError("ids", column=column, text=json.dumps(value)[:200])
    return tuple(dict.fromkeys(ids))


def _whole(value: Any, most: int) -> int | None:
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
    return value if known else None


def _partition(
    topic: Any, number: Any, data: Mapping[str, object], line: int, facts: Facts
) -> PastedPartition:
    if not isinstance(topic, str) or not TOPIC.fullmatch(topic):
        raise PasteError("json_topic")
    index = _whole(number, MOST_ID)
    if index is None:
        raise PasteError("json_number", topic=topic)
    listed = _get(data, "replicas")
    replicas = _ids(listed, "replicas")
    offline = _ids(_get(data, "offline"), "offlineReplicas")
    facts.offline.update(offline)
    flagged = [item for item in listed if isinstance(item, dict)]
    isr, isr_known = _get(data, "isr"), True
    if isinstance(isr, list):
        members = _ids(isr, "isr")
    elif flagged and any(_flag(replica, "in_sync") is not None for replica in flagged):
        members = _ids([replica for replica in flagged if _flag(replica, "in_sync")], "isr")
    elif _has(data, "isr"):
        members = ()
    else:
        members, isr_known = in_sync_of(replicas, offline, facts), False
    leader = _id(_get(data, "leader"))
    if leader is None:
        leads = [_id(replica) for replica in flagged if _flag(replica, "leads")]
        leader = leads[0] if leads and leads[0] is not None else -1
    return PastedPartition(
        topic,
        index,
        max(leader, -1),
        replicas,
        members,
        _ids(_get(data, "elr"), "elr"),
        _ids(_get(data, "last"), "lastKnownElr"),
        line=line,
        leader_epoch=_whole(_get(data, "epoch"), MOST_EPOCH),
        end=_whole(_get(data, "end"), MOST_NUMBER),
        observers=_ids(_get(data, "observers"), "observers"),
        offline_known=_has(data, "offline"),
        isr_known=isr_known,
    )


def _settings(value: Any, topic: str, facts: Facts, depth: int) -> None:
    """Read {"min.insync.replicas": "2"} or {"name": …, "value": …} of a topic."""
    if depth > MOST_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            _settings(item, topic, facts, depth + 1)
    if not isinstance(value, dict):
        return
    own = value.get("topic", value.get("topicName", value.get("name")))
    if isinstance(own, str) and ("partitions" in value or "configs" in value):
        topic = own
    if isinstance(own, str) and "value" in value:
        value = {own: value["value"]}
    for name in (MIN_ISR, UNCLEAN):
        if topic and isinstance(value.get(name), str | int):
            with suppress(PasteError):
                facts.set(topic, name, str(value[name]))
    for item in value.values():
        if isinstance(item, dict | list):
            _settings(item, topic, facts, depth + 1)


FORMAT: Final = TextFormat(
    "json", commands=("AKHQ", "Kafka UI", "Redpanda Console"), read_lines=_read
)
