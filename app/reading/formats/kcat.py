"""`kcat -L`, formerly kafkacat: living brokers, and the partitions of topics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.reading.facts import MOST_ID, PastedPartition, PasteError, checked, ids_of, number_of
from app.reading.format import PasteContext, PastedLine, TextFormat
from app.reading.names import TOPIC_FORM

_BEGINS: Final = re.compile(r"Metadata for .*\(from broker|\d+ (?:brokers|topics):$")
_BROKER: Final = re.compile(r"broker (\d+) at \S+:\d+")
_TOPIC: Final = re.compile(rf'topic "({TOPIC_FORM})" with \d+ partitions?:')
_PARTITION: Final = re.compile(
    r"partition (\d+), leader (-?\d+), replicas: ([\d,]*), isrs: ([\d,]*)"
)


def _read(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    text, facts = lines[at].text, context.facts
    if _BEGINS.match(text):
        return 1
    if broker := _BROKER.match(text):
        facts.alive.add(number_of(broker[1], "broker", MOST_ID))
        return 1
    if topic := _TOPIC.match(text):
        context.topic = topic[1]
        return 1
    row = _PARTITION.match(text)
    if row is None:
        return 0
    if not context.topic:
        raise PasteError("kcat_topic")
    partition = PastedPartition(
        context.topic,
        number_of(row[1], "partition", MOST_ID),
        int(row[2]),
        ids_of(row[3], "replicas"),
        ids_of(row[4], "isrs"),
        line=lines[at].number,
    )
    facts.add(checked(facts, partition))
    return 1


FORMAT: Final = TextFormat("kcat", commands=("kcat -L", "kcat -L -J"), read_lines=_read)
