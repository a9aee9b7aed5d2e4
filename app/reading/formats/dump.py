"""Output of `kafka-dump-log`, of the metadata log or of segments.  Values are not needed."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from app.kafka import metadata
from app.kafka.history import EpochEntry
from app.reading.events import Event
from app.reading.files import (
    Gathered,
    IncidentFile,
    folder_partition,
    lines_of,
    named_owner,
    owner_of,
)
from app.reading.format import FormatRow, PasteContext, PastedLine, TextFormat
from app.reading.formats.metadata_log import METADATA, apply
from app.reading.names import PARTITION_FORM, TopicIdentity, partition_named
from app.reading.sampling import FileSample, is_dumped
from engine.model.json_types import Json
from engine.model.phrases import phrase

_STARTS: Final = ("Starting offset: ", "Log starting offset: ", "Snapshot end offset: ")
_IN_NAME: Final = re.compile(r"([A-Za-z0-9._-]+?-\d{1,6})(?:[-_.](?:dump|segment|log))*\.\w+")
_PROMPT: Final = re.compile(rf"[\s:/]({PARTITION_FORM})\]?\s*[$#>](?:\s|$)")
_BARE: Final = re.compile(r"Dumping (?:\./)?(\d{20})\.log")
"""A dump that was made inside the folder of its partition."""
_FILE: Final = re.compile(rf"Dumping (?:[^\r\n]*[/\\])?({PARTITION_FORM})[/\\](\d{{20}})\.log")
"""Its path, also of Windows, has the partition."""
_OLD_RECORD: Final = re.compile(r"offset: (\d++) position: \d++ (?:\w+Time: (-?\d++) )?isvalid: ")
"""A record as brokers print it to 2.0, without batches and leader epochs."""
_BATCH: Final = re.compile(
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


def _recognise(path: Path, node: str, sample: Callable[[], FileSample]) -> IncidentFile | None:
    sampled = sample()
    if not sampled.dumped or sampled.dumped < sampled.logged:
        return None
    match = _IN_NAME.fullmatch(path.name)
    partition = (partition_named(match[1]) if match else None) or folder_partition(path)
    owner = node or owner_of(path) or named_owner(path)
    return IncidentFile(path, "dump", owner, partition=partition, encoding=sampled.encoding)


def _read(source: IncidentFile, gathered: Gathered) -> Iterator[Event]:
    about, named = _guessed(source.partition, gathered.wanted), True
    for number, line in lines_of(source.path, source.encoding):
        text = line.decode(errors="replace")
        header = _FILE.search(text)
        if header:
            about, named = partition_named(header[1]), True
            if about is not None and str(about) != METADATA:
                gathered.dumped.setdefault(about, source.path)
            continue
        if _BARE.search(text):
            named = about is not None
            continue
        record = record_of(text)
        if record is not None:
            where = f"{source.path.name}:{number}"
            yield from apply(gathered, EpochEntry(record[0], record[1], record[2]), where)
            continue
        batch = _batch(text)
        if batch is None:
            prompt = _PROMPT.search(text)
            about = _guessed(partition_named(prompt[1]), gathered.wanted) if prompt else about
            continue
        gathered.old_dump |= batch[0] is None
        if gathered.wanted is None or str(about) == METADATA:
            continue
        sentence = _unusable(source, number, about, named, gathered.wanted)
        if sentence:
            gathered.complain(sentence)
            return
        if about == gathered.wanted:
            gathered.add_batch(source.node, *batch)


def _batch(text: str) -> tuple[int | None, int, int, int] | None:
    """Return (epoch, first offset, last, time in ms) of a batch, or of a record up to 2.0."""
    batch = _BATCH.search(text)
    if batch is not None:
        epoch, base, last, time_ms = (
            int(batch[name]) for name in ("epoch", "base", "last", "time")
        )
        return epoch, base, last, time_ms
    record = _OLD_RECORD.match(text)
    offset = int(record[1]) if record else 0
    return (None, offset, offset, int(record[2] or -1)) if record else None


def _guessed(about: TopicIdentity | None, partition: TopicIdentity | None) -> TopicIdentity | None:
    """Return the partition in the name of a file, a folder or a prompt.

    Only if it is one of the topic that is looked at: broker-2 and dump-3 have the same form.
    """
    return about if about and partition and about.topic == partition.topic else None


def _unusable(
    source: IncidentFile,
    number: int,
    about: TopicIdentity | None,
    named: bool,
    partition: TopicIdentity,
) -> str:
    """Return why the batches of a dump cannot be used, and what to do; "" where they can."""
    path = source.path
    if about is None or not named:
        return phrase(
            "{0}: kafka-dump-log was called inside the folder of a partition, so its output does "
            "not say of which; name it like {1}.",
            f"{path}:{number}",
            f"{source.node or 2}={partition}.txt",
        )
    if about == partition and not source.node:
        return phrase(
            "{0}: the broker of this segment is unknown; name the file like 2={1}.",
            f"{path}:{number}",
            path.name,
        )
    return ""


def _read_lines(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    """Name lines of a dump; the story of an incident is made of them."""
    text = lines[at].text
    return 1 if is_dumped(text.encode()) or text.startswith(_STARTS) else 0


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


FORMAT: Final = TextFormat(
    "dump",
    "log",
    read_lines=_read_lines,
    rows=(
        FormatRow(
            ("kafka-dump-log --cluster-metadata-decoder", "kafka-dump-log --files"),
            "incident.known.dump",
        ),
    ),
    recognise=_recognise,
    read_file=_read,
)
