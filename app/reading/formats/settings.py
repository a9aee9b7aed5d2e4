"""Settings, as `kafka-configs.sh` prints them or as they stand in server.properties."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.reading.facts import MOST_NUMBER, number_of
from app.reading.format import PasteContext, PastedLine, TextFormat
from app.reading.names import TOPIC_FORM

_HEAD: Final = re.compile(
    r"(?:(?:Dynamic|All|Default) c|C)onfigs for "
    rf"(?:topics? '?({TOPIC_FORM}?)'? |brokers? .*)are:?"
)
_SETTING: Final = re.compile(
    r"(min\.insync\.replicas|unclean\.leader\.election\.enable)(?:\s*[=:]\s*|\s+)(\w+)(?:\s.*|,.*)?"
)
_OTHER: Final = re.compile(r"[a-z]+(?:\.[a-z0-9]+)+\s*=\s*\S*(?: sensitive=.*)?")
_END_OFFSET: Final = re.compile(rf"({TOPIC_FORM}):(\d{{1,6}}):(\d{{1,16}})")


def _read(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    text, facts = lines[at].text, context.facts
    if head := _HEAD.match(text):
        context.topic = head[1] or ""
        return 1
    if setting := _SETTING.fullmatch(text):
        facts.set(context.topic, setting[1], setting[2])
        return 1
    return 1 if _OTHER.fullmatch(text) else 0


def _read_offsets(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    row = _END_OFFSET.fullmatch(lines[at].text)
    if row is None:
        return 0
    context.facts.ends[f"{row[1]}-{int(row[2])}"] = number_of(row[3], "offset", MOST_NUMBER)
    return 1


FORMAT: Final = TextFormat(
    "settings", "setting", ("kafka-configs.sh --describe", "server.properties"), _read
)
OFFSETS: Final = TextFormat("ends", commands=("kafka-get-offsets.sh",), read_lines=_read_offsets)
