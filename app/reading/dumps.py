"""Output of `kafka-dump-log`, of the metadata log and of segments.  Values are not needed."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from typing import Any, Final

from app.kafka import metadata
from engine.model.json_types import Json

BEGINS: Final = b"Dumping "
BATCH_WORDS: Final = b"baseOffset: "
RECORD_WORDS: Final = b"| offset: "
WORDS: Final = (BATCH_WORDS, RECORD_WORDS, b"isvalid: true keysize: ")
BARE: Final = re.compile(r"Dumping (?:\./)?(\d{20})\.log")
"""A dump that was made inside the folder of its partition."""
FILE: Final = re.compile(r"Dumping (?:[^\r\n]*[/\\])?([A-Za-z0-9._-]+-\d+)[/\\](\d{20})\.log")
"""Its path, also of Windows, has the partition."""
OLD_RECORD: Final = re.compile(r"offset: (\d++) position: \d++ (?:\w+Time: (-?\d++) )?isvalid: ")
"""A record as brokers print it to 2.0, without batches and leader epochs."""
BATCH: Final = re.compile(
    r"baseOffset: (?P<base>\d++) lastOffset: (?P<last>\d++) (?>.*?partitionLeaderEpoch: )"
    r"(?P<epoch>-?\d++)(?>.*? CreateTime: )(?P<time>-?\d+)"
)
_PAYLOAD: Final = re.compile(r"\| offset: (\d++) CreateTime: (-?\d++) (?>.*?payload: )(\{.*\})\s*$")

_CHANGES: Final = {
    "isr": "isr",
    "replicas": "replicas",
    "removingReplicas": "removing",
    "addingReplicas": "adding",
    "eligibleLeaderReplicas": "elr",
    "lastKnownElr": "last_known_elr",
}


def record_of(line: str) -> tuple[int, int, metadata.Record] | None:
    """Return (offset, time in ms, record) of one line of a dumped metadata log."""
    match = _PAYLOAD.search(line)
    if match is None:
        return None
    try:
        payload = json.loads(match[3])
        record = _READERS[payload["type"]](payload["data"])
    except (ValueError, KeyError, TypeError, binascii.Error):
        return None
    return None if record is None else (int(match[1]), int(match[2]), record)


def _id(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _ids(data: Any) -> tuple[int, ...]:
    return tuple(int(one) for one in data or ())


def _partition(data: Json) -> metadata.Record:
    state = metadata.PartitionMetadata(
        data["leader"],
        data["leaderEpoch"],
        data["partitionEpoch"],
        _ids(data["isr"]),
        _ids(data["replicas"]),
        _ids(data.get("eligibleLeaderReplicas")),
        _ids(data.get("lastKnownElr")),
        bool(data.get("leaderRecoveryState", 0)),
        _ids(data.get("addingReplicas")),
        _ids(data.get("removingReplicas")),
    )
    return metadata.MetadataPartitionRecord(_id(data["topicId"]), data["partitionId"], state)


def _change(data: Json) -> metadata.Record:
    changes: dict[str, tuple[int, ...] | int | bool] = {
        ours: _ids(data[theirs])
        for theirs, ours in _CHANGES.items()
        if data.get(theirs) is not None
    }
    if "leader" in data:
        changes["leader"] = int(data["leader"])
    if data.get("leaderRecoveryState", -1) >= 0:
        changes["recovering"] = bool(data["leaderRecoveryState"])
    return metadata.PartitionChangeRecord(_id(data["topicId"]), data["partitionId"], changes)


def _registration(data: Json) -> metadata.Record | None:
    what = {1: "fenced", -1: "unfenced"}.get(data.get("fenced", 0), "")
    if not what and data.get("inControlledShutdown", 0) == 1:
        what = "leaving"
    return metadata.BrokerRecord(data["brokerId"], data["brokerEpoch"], what) if what else None


_READERS: Final[dict[str, Callable[[Json], metadata.Record | None]]] = {
    "TOPIC_RECORD": lambda data: metadata.TopicRecord(data["name"], _id(data["topicId"])),
    "REMOVE_TOPIC_RECORD": lambda data: metadata.RemoveTopicRecord(_id(data["topicId"])),
    "PARTITION_RECORD": _partition,
    "PARTITION_CHANGE_RECORD": _change,
    "CLEAR_ELR_RECORD": lambda data: metadata.ClearElrRecord(data.get("topicName") or None),
    "REGISTER_BROKER_RECORD": lambda data: metadata.BrokerRecord(
        data["brokerId"], data["brokerEpoch"], "registered"
    ),
    "BROKER_REGISTRATION_CHANGE_RECORD": _registration,
    "FENCE_BROKER_RECORD": lambda data: metadata.BrokerRecord(data["id"], data["epoch"], "fenced"),
    "UNFENCE_BROKER_RECORD": lambda data: metadata.BrokerRecord(
        data["id"], data["epoch"], "unfenced"
    ),
    "CONFIG_RECORD": lambda data: metadata.ConfigRecord(
        data["resourceType"], data["resourceName"], data["name"], data.get("value")
    ),
}
