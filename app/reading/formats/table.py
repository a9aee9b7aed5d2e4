"""Tables with a column for each part of a partition, such as those of `rpk`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.reading.facts import (
    MOST_ID,
    MOST_NUMBER,
    Facts,
    PastedPartition,
    PasteError,
    checked,
    ids_of,
    leader_of,
    number_of,
)
from app.reading.format import PasteContext, PastedLine, TextFormat
from app.reading.names import TOPIC, TOPIC_FORM

_RULE: Final = re.compile(r"[\s|+=─┼│:-]+")
_TITLE: Final = re.compile(r"SUMMARY|CONFIGS|PARTITIONS")
_NAME: Final = re.compile(rf"NAME\s+({TOPIC_FORM})")
_MORE: Final = re.compile(r"(?:INTERNAL|PARTITIONS|REPLICAS|ERROR)\s+\S.*")
_SETTINGS: Final = re.compile(r"KEY\s+VALUE\s+SOURCE")
COLUMNS: Final = {
    "topic": "topic", "topicname": "topic", "name": "topic",
    "partition": "partition", "partitionid": "partition", "id": "partition",
    "leader": "leader", "leaderid": "leader", "leaderepoch": "epoch", "epoch": "epoch",
    "replicas": "replicas", "replicacore": "replicas", "nodecore": "replicas",
    "assignedreplicas": "replicas",
    "isr": "isr", "isrs": "isr", "insyncreplicas": "isr", "insync": "isr",
    "offlinereplicas": "offline", "offline": "offline",
    "highwatermark": "end", "logendoffset": "end", "endoffset": "end",
    "logstartoffset": "start", "elr": "elr",
}  # fmt: skip


def _read(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    text = lines[at].text
    if _TITLE.fullmatch(text) or (_RULE.fullmatch(text) and len(text) > 2):
        return 1
    if _SETTINGS.fullmatch(text):
        rest = (number for number, line in enumerate(lines[at:]) if not line.text)
        return next(rest, len(lines) - at)
    if name := _NAME.fullmatch(text):
        context.topic = name[1]
        return 1
    names = [COLUMNS.get(re.sub(r"[^a-z]", "", cell.lower()), "") for cell in _cells(text)]
    if not {"partition", "leader", "replicas"} <= set(names):
        return 1 if _MORE.fullmatch(text) and context.topic else 0
    count = 1
    for line in lines[at + 1 :]:
        cells = _cells(line.text)
        if _RULE.fullmatch(line.text) and line.text:
            count += 1
            continue
        if len(cells) < len(names) - 1 or len(cells) > len(names):
            break
        try:
            _row(line.number, dict(zip(names, cells, strict=False)), context)
        except PasteError as bad:
            context.facts.refuse(line.number, bad)
        count += 1
    return count


def _cells(text: str) -> list[str]:
    if len(re.findall(r"[|│]", text)) > 1:
        return [one.strip() for one in re.split(r"[|│]", text.strip("|│ "))]
    return [one for one in re.split(r"\s{2,}|\t", text) if one]


def _row(number: int, cells: dict[str, str], context: PasteContext) -> None:
    topic = cells.get("topic") or context.topic
    if not topic:
        raise PasteError("table_topic")
    if not TOPIC.fullmatch(topic):
        raise PasteError("topic", text=topic)
    facts = context.facts
    replicas = ids_of(re.sub(r"(\d)-\d+", r"\1", cells["replicas"]), "replicas")
    offline = ids_of(cells.get("offline", ""), "offline")
    facts.offline.update(offline)
    isr = ids_of(cells["isr"], "isr") if "isr" in cells else in_sync_of(replicas, offline, facts)
    optional = {
        name: number_of(cells[name], name, MOST_NUMBER)
        for name in ("epoch", "end", "start")
        if cells.get(name, "-") not in ("", "-")
    }
    partition = PastedPartition(
        topic,
        number_of(cells["partition"], "partition", MOST_ID),
        leader_of(cells["leader"]),
        replicas,
        isr,
        ids_of(cells.get("elr", ""), "elr"),
        line=number,
        leader_epoch=optional.get("epoch"),
        end=optional.get("end"),
        start=optional.get("start"),
        offline_known="offline" in cells,
        isr_known="isr" in cells,
    )
    facts.add(checked(facts, partition))


def in_sync_of(
    replicas: tuple[int, ...], offline: tuple[int, ...], facts: Facts
) -> tuple[int, ...]:
    """Return the replicas that are not offline, for a cluster with Raft groups and no ISR."""
    facts.raft = True
    return tuple(replica for replica in replicas if replica not in offline)


FORMAT: Final = TextFormat(
    "table", commands=("rpk topic describe", "rpk cluster partitions list"), read_lines=_read
)
