"""`kafka-metadata-quorum.sh describe`, as a status and as a table of replicas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.reading.facts import PasteError
from app.reading.format import PasteContext, PastedLine, TextFormat

_STATUS: Final = re.compile(
    r"(ClusterId|LeaderId|LeaderEpoch|HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs"
    r"|CurrentVoters|CurrentObservers):\s*(.*)"
)
_HEAD: Final = re.compile(r"NodeId\s.*LogEndOffset", re.IGNORECASE)
_MEMBER: Final = re.compile(
    r"(\d{1,6})\s+(?:(?=\S*[A-Za-z_])[\w-]{1,40}\s+)?(-?\d+)\s+(-?\d+)\s.*"
    r"\b(Leader|Follower|Observer)"
)


def _read(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    facts, text = context.facts, lines[at].text
    if status := _STATUS.fullmatch(text):
        name, value = status[1], status[2]
        facts.quorum[name] = value[:200]
        if name in ("CurrentVoters", "CurrentObservers"):
            named = re.findall(r'"id"\s*:\s*(\d{1,6})', value) or re.findall(r"\d{1,6}", value)
            facts.members.update(map(int, named))
        return 1
    if not _HEAD.match(text):
        return 0
    count = 1
    for line in lines[at + 1 :]:
        if not line.text or not line.text[0].isdigit():
            break
        try:
            _member(line.text, context)
        except PasteError as bad:
            facts.refuse(line.number, bad)
        count += 1
    return count


def _member(text: str, context: PasteContext) -> None:
    row = _MEMBER.match(text)
    if row is None:
        raise PasteError("member", text=text)
    context.facts.members.add(int(row[1]))
    if row[4] != "Observer":
        context.facts.voters[int(row[1])] = int(row[2])
    if row[4] == "Leader":
        context.facts.quorum.setdefault("LeaderId", row[1])


FORMAT: Final = TextFormat(
    "quorum",
    "quorum",
    (
        "kafka-metadata-quorum.sh describe --status",
        "kafka-metadata-quorum.sh describe --replication",
    ),
    _read,
)
