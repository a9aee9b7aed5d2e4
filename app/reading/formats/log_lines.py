"""Lines of brokers' logs: each is named by its kind, and the numbers in it are used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.reading.context import PasteContext, PastedLine, PasteFormat
from app.reading.facts import (
    MIN_ISR,
    Facts,
    LoggedLine,
    PastedPartition,
    ids_of,
    topic_of,
)
from app.reading.kinds import NamedLine, named

LONGEST: Final = 4_000
"""Characters of a line that are looked at."""
_LEVEL: Final = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b")
_CLOCK: Final = re.compile(r"\d\d:\d\d:\d\d")
_TRACE: Final = re.compile(r"at [\w.$/<>-]+\(|Caused by: |\.\.\. \d+ more")
_THROWN: Final = re.compile(r"(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b")
_ENGINE: Final = re.compile(
    r"\[(?:Broker|ReplicaManager|ReplicaFetcher|Partition|Controller|QuorumController|UnifiedLog"
    r"|KafkaServer|BrokerLifecycleManager|LogLoader|RaftManager)\b|(?:Shrinking|Expanding) ISR "
    r"|LeaderAndIsr|\((?:kafka|org\.apache\.kafka)\."
)
_NOT_ENOUGH: Final = ("not_enough_set", "not_enough")
_OPERATOR: Final = ("operator_restart", "operator_isr")


def _read(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    text, facts = lines[at].text[:LONGEST], context.facts
    if _TRACE.match(text):
        return 1 if facts.logged else 0
    logged = _CLOCK.search(text) and _LEVEL.search(text)
    if not logged and not _ENGINE.search(text) and not _THROWN.match(text):
        found = named(text)
        if found is None:
            return 0
    else:
        found = named(text)
    facts.logged.append(LoggedLine(lines[at].number, lines[at].text, found))
    if found is not None:
        _use(found, lines[at].number, facts)
    return 1


def _use(line: NamedLine, number: int, facts: Facts) -> None:
    """Take the settings and the replicas that a line has in it."""
    values = line.values
    if line.kind.name in _NOT_ENOUGH:
        facts.set(topic_of(values["tp"]), MIN_ISR, values["min_isr"])
    elif line.kind.name in _OPERATOR:
        topic, _, index = values["slashed"].rpartition("/")
        replicas, isr = ids_of(values["replicas"], "replicas"), ids_of(values["ids"], "ISR")
        in_order = [one for one in replicas if one in isr]
        if "min_isr" in values:
            facts.set(topic, MIN_ISR, values["min_isr"])
        if in_order:
            state = PastedPartition(topic, int(index), in_order[0], replicas, isr, line=number)
            facts.partial.setdefault(state.name, state)


def close(facts: Facts) -> None:
    """Add partitions that only log lines show: what such a line lacks is assumed."""
    for name, state in facts.partial.items():
        if name not in facts.partitions:
            facts.partitions[name] = state
            facts.note(state.line, "partial", name=name, broker=state.leader)


FORMAT: Final = PasteFormat("log", ("server.log", "controller.log", "docker logs"), _read)
