"""Logs of brokers and controllers: the events of files in any layout, and the kinds of lines.

A pasted line is named by its kind, and the numbers in it are used.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.reading import layouts, lines
from app.reading.events import Event
from app.reading.facts import MIN_ISR, Facts, LoggedLine, PastedPartition, ids_of
from app.reading.files import Gathered, IncidentFile, lines_of, named_owner, owner_of
from app.reading.format import FormatRow, PasteContext, PastedLine, TextFormat
from app.reading.kinds import NamedLine, named
from app.reading.layouts import UnwrappedLine
from app.reading.lines import UnreadLineError
from app.reading.names import topic_of
from app.reading.sampling import FileSample
from engine.catalogue.template import LONGEST_LINE
from engine.model.phrases import phrase

TRACE_LINES: Final = 20
"""Lines before a line of a stack trace among which the one with its time is."""
_FIELD: Final = re.compile(r'"[\w@. -]+"\s*:\s*"')
"""A field of a JSON record that has its lines for itself."""
_NEED_A_WRITER: Final = ("leads", "follows", "cuts", "loaded", "starts", "stops", "dies", "grows",
                         "shrinks", "granted", "recovers", "mark")  # fmt: skip
_LEVEL: Final = re.compile(layouts.LEVEL)
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


def _recognise(path: Path, node: str, sample: Callable[[], FileSample]) -> IncidentFile | None:
    sampled = sample()
    if not sampled.logged:
        return None
    several = len([speaker for speaker in sampled.speakers if speaker.isdigit()]) > 1
    owner = (
        node or sampled.usual_writer() or ("" if several else owner_of(path) or named_owner(path))
    )
    return IncidentFile(
        path, "log", owner, sampled.writers(), sampled.tail, encoding=sampled.encoding
    )


@dataclass(slots=True)
class _Passed:
    """Lines of one file that were skipped for one reason: their number, and the first."""

    first: int = 0
    count: int = 0

    def add(self, number: int) -> None:
        self.first = self.first or number
        self.count += 1


def _read(source: IncidentFile, gathered: Gathered) -> Iterator[Event]:
    partition = gathered.wanted
    topic = b"" if partition is None else partition.topic.encode()
    binary, cut, timeless, unsigned, spread = (_Passed() for _ in range(5))
    name = source.path.name
    recent: deque[bytes] = deque(maxlen=TRACE_LINES)
    for number, line in lines_of(source.path, source.encoding):
        if b"\0" in line:
            binary.add(number)
        line = layouts.without_colours(line)
        if not lines.may_tell(line, topic):
            recent.append(line)
            continue
        plain = layouts.unwrapped(line)
        node = source.node
        if source.origins:
            node = source.origins.get(layouts.origin_of(plain, len(plain.text)), node)
        try:
            event = lines.of_plain(plain, partition, node, f"{name}:{number}", source.tail)
        except UnreadLineError as unread:
            event = lines.of_trace(plain, recent, node, f"{name}:{number}")
            if event is not None:
                yield event
                continue
            passed = timeless if unread.why == "no time" else cut
            (spread if _FIELD.match(plain.text) else passed).add(number)
            continue
        recent.append(line)
        if event is not None:
            if not event.node and event.kind in _NEED_A_WRITER:
                unsigned.add(number)
            yield event
    path = source.path
    if binary.count:
        gathered.complain(
            phrase("{0}: this line is not text and was skipped.", f"{path}:{binary.first}")
        )
    if spread.count:
        gathered.complain(
            phrase(
                "{0}: the JSON is spread over several lines; jq -c '.[]' {1} puts each record on "
                "one.",
                f"{path}:{spread.first}",
                name,
            )
        )
    for passed, template in (
        (cut, "{0}: lines of Kafka that are cut off or damaged: {1}, the first is line {2}."),
        (timeless, "{0}: lines of Kafka without a time: {1}, the first is line {2}."),
        (
            unsigned,
            "{0}: lines of Kafka without the broker that wrote them; name the file like {3}: {1}, "
            "the first is line {2}.",
        ),
    ):
        if passed.count:
            gathered.complain(phrase(template, path, passed.count, passed.first, f"2={name}"))


def _read_lines(pasted: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    facts, plain = context.facts, UnwrappedLine(pasted[at].text)
    if plain.text.startswith("{"):
        plain = layouts.unwrapped(plain.text.encode())
    text = plain.text[:LONGEST_LINE]
    if _TRACE.match(text):
        return 1 if facts.logged else 0
    named_line = named(text)
    logged = plain.stamp_ms is not None or (_CLOCK.search(text) and _LEVEL.search(text))
    if not (named_line or logged or _ENGINE.search(text) or _THROWN.match(text)):
        return 0
    facts.logged.append(LoggedLine(pasted[at].number, plain.text, named_line))
    if named_line is not None:
        _use(named_line, pasted[at].number, facts)
    return 1


def _use(line: NamedLine, number: int, facts: Facts) -> None:
    """Take the settings and the replicas that a line has in it."""
    values = line.values
    if line.kind.name in _NOT_ENOUGH:
        facts.set(topic_of(values["tp"]), MIN_ISR, values["min_isr"])
    elif line.kind.name in _OPERATOR:
        topic, _, index = values["slashed"].rpartition("/")
        replicas, isr = ids_of(values["replicas"], "replicas"), ids_of(values["ids"], "ISR")
        in_order = [replica for replica in replicas if replica in isr]
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


FORMAT: Final = TextFormat(
    "log",
    "log",
    ("server.log", "controller.log", "docker logs"),
    _read_lines,
    (
        FormatRow(("server.log", "controller.log", "state-change.log"), "incident.known.logs"),
        FormatRow(
            ("docker logs", "kubectl logs", "journalctl", "*.jsonl"), "incident.known.layouts"
        ),
    ),
    _recognise,
    _read,
)
