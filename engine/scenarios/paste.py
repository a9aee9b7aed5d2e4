"""Reads what Kafka's own tools print of a cluster.  Pure text in, facts out; nothing is evaluated.

Known: kafka-topics.sh --describe, kafka-metadata-quorum.sh describe --status / --replication, and
the checkpoint files of a broker.  A line that cannot be read is named by its number with a reason;
the rest is used all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

MOST_CHARS: Final = 100_000
MOST_LINES: Final = 2_000
MOST_WIDTH: Final = 20_000
MOST_NUMBER: Final = 2**53 - 1
MOST_PROBLEMS: Final = 50

EPOCHS: Final = "leader-epoch-checkpoint"
MARKS: Final = "replication-offset-checkpoint"
RECOVERY: Final = "recovery-point-offset-checkpoint"
FILES: Final = (EPOCHS, MARKS, RECOVERY)

_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_COLUMN: Final = re.compile(
    r"(?:^|\s)(Topic|TopicId|PartitionCount|ReplicationFactor|Configs|Partition|Leader|Replicas|Isr"
    r"|Elr|LastKnownElr|Offline|Adding Replicas|Removing Replicas|MarkedForDeletion):"
)
_STATUS: Final = re.compile(
    r"(ClusterId|LeaderId|LeaderEpoch|HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs"
    r"|CurrentVoters|CurrentObservers):\s*(.*)"
)
_MEMBER: Final = re.compile(r"(\d{1,6})\s+(?:\S+\s+)?\d+\s+\d+\s.*\b(Leader|Follower|Observer)")
_PAIR: Final = re.compile(r"(\d+) (\d+)")
_OFFSET: Final = re.compile(r"(\S+) (\d+) (\d+)")
_BROKER: Final = re.compile(r"\bbroker[ _-]?(\d{1,6})\b", re.IGNORECASE)
_STATE: Final = re.compile(r"\bis (offline|running)\b", re.IGNORECASE)
_DIRECTORY: Final = re.compile(r"(?:^|[\s/])([A-Za-z0-9._-]{1,249}-\d{1,6})(?=/|\s|$)")


@dataclass
class Partition:
    """One line of a describe."""

    topic: str
    number: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    line: int = 0

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.number}"


@dataclass
class Told:
    """A sentence of the catalogue: its key, its arguments, and the line it is about (0: none)."""

    key: str
    args: Mapping[str, object] = field(default_factory=dict)
    line: int = 0


@dataclass
class Facts:
    """All that was read.  Checkpoints are by (broker, partition's name)."""

    partitions: dict[str, Partition] = field(default_factory=dict)
    min_isr: dict[str, int] = field(default_factory=dict)
    unclean: dict[str, bool] = field(default_factory=dict)
    epochs: dict[tuple[int, str], list[tuple[int, int]]] = field(default_factory=dict)
    marks: dict[tuple[int, str], int] = field(default_factory=dict)
    recovery: dict[tuple[int, str], int] = field(default_factory=dict)
    offline: set[int] = field(default_factory=set)
    running: set[int] = field(default_factory=set)
    quorum: dict[str, str] = field(default_factory=dict)
    members: set[int] = field(default_factory=set)
    elr_known: bool = False
    ids_known: bool = False
    problems: list[Told] = field(default_factory=list)

    def problem(self, line: int, key: str, **args: object) -> None:
        """Remembers what is wrong with a line."""
        shown = {
            name: value[:80] if isinstance(value, str) else value for name, value in args.items()
        }
        self.problems.append(Told(f"paste.{key}", shown, line))


class _Bad(Exception):
    """A part of a line that cannot be read: a key and its arguments."""

    def __init__(self, key: str, **args: object) -> None:
        super().__init__(key)
        self.key = key
        self.args_ = args


@dataclass
class _File:
    """A checkpoint file being read: whose it is, and how many entries are still to come."""

    kind: str = ""
    broker: int = -1
    partition: str = ""
    stage: str = "version"
    left: int = 0
    line: int = 0
    usable: bool = True
    found: list[tuple[int, int]] = field(default_factory=list)


def read(text: str) -> Facts:
    """Everything that can be read of a text.  Sizes are bounded; what is beyond is named."""
    facts = Facts()
    if len(text) > MOST_CHARS:
        facts.problem(0, "too_long", most=MOST_CHARS)
        text = text[:MOST_CHARS]
    reader = _Reader(facts)
    for number, line in enumerate(text.splitlines(), 1):
        if number > MOST_LINES:
            facts.problem(number, "too_many_lines", most=MOST_LINES)
            break
        reader.take(number, line[:MOST_WIDTH].strip())
    reader.close()
    del facts.problems[MOST_PROBLEMS:]
    return facts


class _Reader:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.file = _File()
        self.table = False  # inside the table of describe --replication

    def take(self, number: int, line: str) -> None:
        """One line: blank, a header, a row of a tool's output, or an entry of a file."""
        if not line:
            self.table = False
            return
        try:
            if line.startswith(("#", "==>", "$ ")):
                self._header(number, line)
            elif _COLUMN.search(line):
                self._describe(number, line)
            elif status := _STATUS.fullmatch(line):
                self._status(status[1], status[2])
            elif re.match(r"NodeId\s", line):
                self.table = True
            elif self.table:
                self._member(line)
            else:
                self._entry(number, line)
        except _Bad as bad:
            self.facts.problem(number, bad.key, **bad.args_)

    def close(self) -> None:
        """A file that ended too early is named at its first line."""
        if self.file.stage == "entries" and self.file.left:
            self.facts.problem(self.file.line, "short", left=self.file.left)
        self.file.stage, self.file.left = "version", 0

    # -- headers -------------------------------------------------------------------------------

    def _header(self, number: int, line: str) -> None:
        self.close()
        broker, state = _BROKER.search(line), _STATE.search(line)
        kind = next((one for one in FILES if one in line), "")
        if state and broker:
            gone = state[1].lower() == "offline"
            (self.facts.offline if gone else self.facts.running).add(int(broker[1]))
            return
        if not broker and not kind:
            return  # a remark, or a command that was pasted along
        named = _DIRECTORY.findall(line.replace(kind, "") if kind else line)
        name = named[-1] if named and not _BROKER.fullmatch(named[-1]) else ""
        before = self.file
        self.file = _File(kind, int(broker[1]) if broker else before.broker, name, line=number)

    # -- kafka-topics.sh --describe --------------------------------------------------------------

    def _describe(self, number: int, line: str) -> None:
        self.close()
        found = list(_COLUMN.finditer(line))
        columns: dict[str, str] = {}
        if line[: found[0].start()].strip():
            raise _Bad("unknown", text=line[: found[0].start()])
        for one, after in zip(found, [*found[1:], None], strict=True):
            value = line[one.end() : after.start() if after else len(line)].strip()
            if one[1] in columns:
                raise _Bad("twice", column=one[1])
            columns[one[1]] = value
        topic = columns.get("Topic", "")
        if not _TOPIC.fullmatch(topic):
            raise _Bad("topic", text=topic or line)
        if "Partition" not in columns:
            self._topic(topic, columns)
            return
        for needed in ("Leader", "Replicas", "Isr"):
            if needed not in columns:
                raise _Bad("column", column=needed)
        self._partition(number, topic, columns)

    def _topic(self, topic: str, columns: dict[str, str]) -> None:
        self.facts.ids_known |= "TopicId" in columns
        for part in columns.get("Configs", "").split(","):
            key, _, value = part.strip().partition("=")
            if key == "min.insync.replicas":
                self.facts.min_isr[topic] = _number(value, key, 40)
            elif key == "unclean.leader.election.enable":
                self.facts.unclean[topic] = value == "true"

    def _partition(self, number: int, topic: str, columns: dict[str, str]) -> None:
        leader = columns["Leader"]
        replicas = _ids(columns["Replicas"], "Replicas")
        if not replicas:
            raise _Bad("empty", column="Replicas")
        one = Partition(
            topic,
            _number(columns["Partition"], "Partition", 999_999),
            -1 if leader in ("none", "-1") else _number(leader, "Leader", 999_999),
            replicas,
            _ids(columns["Isr"], "Isr"),
            _ids(columns.get("Elr", ""), "Elr"),
            _ids(columns.get("LastKnownElr", ""), "LastKnownElr"),
            _ids(columns.get("Adding Replicas", ""), "Adding Replicas"),
            _ids(columns.get("Removing Replicas", ""), "Removing Replicas"),
            number,
        )
        for column in ("Isr", "Elr", "LastKnownElr"):
            for member in _ids(columns.get(column, ""), column):
                if member not in replicas:
                    raise _Bad("no_replica", broker=member, column=column)
        if one.leader >= 0 and one.leader not in one.isr:
            raise _Bad("leader", broker=one.leader)
        if one.name in self.facts.partitions:
            raise _Bad("again", name=one.name, first=self.facts.partitions[one.name].line)
        self.facts.elr_known |= "Elr" in columns
        self.facts.offline.update(_ids(columns.get("Offline", ""), "Offline"))
        self.facts.partitions[one.name] = one

    # -- kafka-metadata-quorum.sh ----------------------------------------------------------------

    def _status(self, name: str, value: str) -> None:
        self.close()
        self.facts.quorum[name] = value[:200]
        if name in ("CurrentVoters", "CurrentObservers"):
            named = re.findall(r'"id"\s*:\s*(\d{1,6})', value) or re.findall(r"\d{1,6}", value)
            self.facts.members.update(map(int, named))

    def _member(self, line: str) -> None:
        row = _MEMBER.match(line)
        if row is None:
            raise _Bad("member", text=line)
        self.facts.members.add(int(row[1]))
        if row[2] == "Leader":
            self.facts.quorum.setdefault("LeaderId", row[1])

    # -- checkpoint files --------------------------------------------------------------------------

    def _entry(self, number: int, line: str) -> None:
        file = self.file
        if file.stage == "version":
            if line != "0":
                raise _Bad("unknown", text=line)
            file.stage, file.line, file.found, file.usable = "count", number, [], False
            if not file.kind:
                raise _Bad("headless")
            if file.broker < 0:
                raise _Bad("whose", file=file.kind)
            if file.kind == EPOCHS and not file.partition:
                raise _Bad("which", file=file.kind)
            file.usable = True
        elif file.stage == "count":
            file.stage, file.left = "entries", _number(line, "count", MOST_LINES)
            self._end_of_file()
        else:
            file.left -= 1
            try:
                self._store(line)
            finally:
                self._end_of_file()

    def _end_of_file(self) -> None:
        if self.file.left <= 0:
            self.file.stage = "version"

    def _store(self, line: str) -> None:
        """One entry: `epoch offset`, or `topic partition offset`."""
        file, facts = self.file, self.facts
        if not file.usable:
            return  # said once, at its first line
        if file.kind == EPOCHS:
            pair = _PAIR.fullmatch(line)
            if pair is None:
                raise _Bad("pair", text=line)
            epoch = _number(pair[1], "epoch", 2**31 - 1)
            offset = _number(pair[2], "offset", MOST_NUMBER)
            if file.found and not (file.found[-1][0] < epoch and file.found[-1][1] <= offset):
                raise _Bad("falling", text=line)
            file.found.append((epoch, offset))
            facts.epochs[file.broker, file.partition] = file.found
            return
        entry = _OFFSET.fullmatch(line)
        if entry is None or not _TOPIC.fullmatch(entry[1]):
            raise _Bad("entry", text=line)
        where = facts.marks if file.kind == MARKS else facts.recovery
        name = f"{entry[1]}-{_number(entry[2], 'partition', 999_999)}"
        where[file.broker, name] = _number(entry[3], "offset", MOST_NUMBER)


def _number(text: str, what: str, most: int) -> int:
    if not re.fullmatch(r"\d{1,16}", text) or int(text) > most:
        raise _Bad("number", what=what, text=text, most=most)
    return int(text)


def _ids(text: str, column: str) -> tuple[int, ...]:
    """`1,2,3`, each once."""
    if text in ("", "N/A"):
        return ()
    found = []
    for part in text.split(","):
        if not re.fullmatch(r"\s*\d{1,6}\s*", part):
            raise _Bad("ids", column=column, text=text)
        found.append(int(part))
    if len(set(found)) != len(found):
        raise _Bad("double", column=column, text=text)
    return tuple(found)
