"""The text logs of brokers and controllers, in any layout."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.reading import layouts, lines
from app.reading.events import Event
from app.reading.files import Gathered, IncidentFile, lines_of, named_owner, owner_of
from app.reading.format import FileFormat, FormatRow
from app.reading.lines import UnreadLineError
from app.reading.sampling import FileSample
from engine.model.phrases import phrase

TRACE_LINES: Final = 20
"""Lines before a line of a stack trace among which the one with its time is."""


def _recognise(path: Path, node: str, sample: Callable[[], FileSample]) -> IncidentFile | None:
    found = sample()
    if not found.logged:
        return None
    several = len([one for one in found.speakers if one.isdigit()]) > 1
    owner = node or found.usual_writer() or ("" if several else owner_of(path) or named_owner(path))
    return IncidentFile(path, "text", owner, found.writers(), found.tail, encoding=found.encoding)


@dataclass(slots=True)
class _Passed:
    """Lines of one file that were skipped for one reason: their number, and the first."""

    first: int = 0
    count: int = 0

    def add(self, number: int) -> None:
        self.first = self.first or number
        self.count += 1


def _read(source: IncidentFile, gathered: Gathered) -> Iterator[Event]:
    wanted = gathered.wanted
    topic = b"" if wanted is None else wanted.topic.encode()
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
            event = lines.of_plain(plain, wanted, node, f"{name}:{number}", source.tail)
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


_FIELD: Final = re.compile(r'"[\w@. -]+"\s*:\s*"')
"""A field of a JSON record that has its lines for itself."""
_NEED_A_WRITER: Final = ("leads", "follows", "cuts", "loaded", "starts", "stops", "dies", "grows",
                         "shrinks", "granted", "recovers", "mark")  # fmt: skip

FORMAT: Final = FileFormat(
    "text",
    (
        FormatRow(("server.log", "controller.log", "state-change.log"), "incident.known.logs"),
        FormatRow(
            ("docker logs", "kubectl logs", "journalctl", "*.jsonl"), "incident.known.layouts"
        ),
    ),
    _recognise,
    _read,
)
