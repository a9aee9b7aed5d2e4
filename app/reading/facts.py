"""Facts that were read of a cluster, and the parts that all readers share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.reading.kinds import NamedLine

MOST_CHARS: Final = 100_000
"""Beyond, rows of healthy partitions are left out before anything else is."""
MOST_LINES: Final = 2_000
MOST_NUMBER: Final = 2**53 - 1
MOST_EPOCH: Final = 2**31 - 1
MOST_ID: Final = 999_999
MOST_PROBLEMS: Final = 50
SHOWN: Final = 80
"""Characters of a line that a sentence quotes."""

MOST_SETTINGS: Final = 24
"""Settings kept of one topic."""

MIN_ISR: Final = "min.insync.replicas"
UNCLEAN: Final = "unclean.leader.election.enable"
_SECRET: Final = re.compile(r"password|secret|token|jaas|credential|\.key", re.IGNORECASE)


@dataclass
class PastedPartition:
    """The state of a partition.

    `leader_epoch`, `partition_epoch` and `end`, the high watermark, are None where nothing says
    them; `line` 0: no line of a describe.
    """

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
    leader_epoch: int | None = None
    partition_epoch: int | None = None
    end: int | None = None
    start: int | None = None
    observers: tuple[int, ...] = ()
    offline_known: bool = False
    isr_known: bool = True

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.number}"


@dataclass(frozen=True)
class Press:
    """A line that a press puts into the text, above line `before` (0: at the top)."""

    key: str
    args: Mapping[str, object]
    put: str
    before: int = 0


@dataclass
class Notice:
    """A sentence of the catalogue.

    It has its key, its arguments, the line it is about (0: none), the choices that it offers the
    reader, and the topics that it is about.
    """

    key: str
    args: Mapping[str, object] = field(default_factory=dict)
    line: int = 0
    choices: tuple[Press, ...] = ()
    topics: tuple[str, ...] = ()


@dataclass(frozen=True)
class LoggedLine:
    """A line of a log, and its kind where it is one that is named."""

    number: int
    text: str
    named: NamedLine | None


@dataclass
class Facts:
    """All that was read.  Checkpoints are by (broker, partition's name)."""

    partitions: dict[str, PastedPartition] = field(default_factory=dict)
    settings: dict[str, dict[str, str]] = field(default_factory=dict)
    """Topic -> its settings; those of the whole cluster are under ""."""
    twice: list[tuple[str, int]] = field(default_factory=list)
    """Partitions described again in another state: name, line of the first description."""
    first_counts: bool = False
    """The first description of a partition counts, not the last."""
    epochs: dict[tuple[int, str], list[tuple[int, int]]] = field(default_factory=dict)
    marks: dict[tuple[int, str], int] = field(default_factory=dict)
    recovery: dict[tuple[int, str], int] = field(default_factory=dict)
    offline: set[int] = field(default_factory=set)
    running: set[int] = field(default_factory=set)
    quorum: dict[str, str] = field(default_factory=dict)
    voters: dict[int, int] = field(default_factory=dict)
    """Voter of the quorum -> its log end offset; -1: it has just started."""
    members: set[int] = field(default_factory=set)
    """Brokers that the quorum lists."""
    alive: set[int] = field(default_factory=set)
    """Brokers that a list of living brokers names."""
    seen: set[int] = field(default_factory=set)
    """Brokers in the ISR of partitions that were left out for their number."""
    leading: set[int] = field(default_factory=set)
    """Leaders of partitions that were left out for their number."""
    assigned: dict[str, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    """Topic -> the replicas of its partitions, as ZooKeeper has them."""
    znodes: dict[tuple[str, int], PastedPartition] = field(default_factory=dict)
    """The state of a partition as ZooKeeper has it: its replicas stand elsewhere."""
    ends: dict[str, int] = field(default_factory=dict)
    """Partition's name -> its end offset, as a consumer sees it."""
    left_out: int = 0
    masked: int = 0
    """Secrets that were replaced before anything else was read."""
    profile: str = ""
    """The Kafka that is to be played, as a line asks for it."""
    raft: bool = False
    """The cluster has Raft groups and no ISR."""
    elr_known: bool = False
    ids_known: bool = False
    logged: list[LoggedLine] = field(default_factory=list)
    partial: dict[str, PastedPartition] = field(default_factory=dict)
    """Partitions of which a log line shows the ISR, without a leader or without replicas."""
    kinds: dict[int, str] = field(default_factory=dict)
    """Number of a line -> the name of the format that took it; "" for a line of none."""
    problems: list[Notice] = field(default_factory=list)
    notes: list[Notice] = field(default_factory=list)

    def problem(self, line: int, key: str, choices: tuple[Press, ...] = (), **args: object) -> None:
        """Remember what is wrong with a line."""
        self.problems.append(Notice(f"paste.{key}", _short(args), line, choices))

    def refuse(self, line: int, bad: PasteError) -> None:
        """Remember a part of a line that cannot be read."""
        self.problem(line, bad.key, bad.choices, **bad.args_)

    def answered(self) -> None:
        """Note that lines of no format were a question, an error or a version with an answer."""
        self.problems = [one for one in self.problems if not one.key.startswith("paste.unknown")]
        self.kinds.update(dict.fromkeys((n for n, kind in self.kinds.items() if not kind), "asked"))

    def note(self, line: int, key: str, **args: object) -> None:
        """Remember what was made of a line."""
        self.notes.append(Notice(f"paste.note.{key}", _short(args), line))

    def add(self, partition: PastedPartition) -> None:
        """Add a partition; of two descriptions the last counts, as of a before and an after."""
        earlier = self.partitions.get(partition.name)
        if earlier is not None:
            if replace(earlier, line=partition.line) != partition:
                self.twice.append((partition.name, earlier.line))
            if self.first_counts:
                return
        self.partitions[partition.name] = partition

    def set(self, topic: str, name: str, value: str) -> None:
        """Take a setting of a topic in; of the cluster for topic "".  Raises PasteError."""
        if name == MIN_ISR:
            number_of(value, name, 40)
        elif name == UNCLEAN:
            value = value.lower()
        elif _SECRET.search(name) or not topic:
            return
        settings = self.settings.setdefault(topic, {})
        if len(settings) < MOST_SETTINGS and not (self.first_counts and name in settings):
            settings[name] = value[:SHOWN]

    def setting(self, topic: str, name: str) -> str | None:
        """Return a setting of a topic, or else the cluster's; None where no line has it."""
        own = self.settings.get(topic, {}).get(name)
        return self.settings.get("", {}).get(name) if own is None else own

    def min_isr(self, topic: str) -> int:
        """Return min.insync.replicas of a topic; 1, Kafka's default, where no line has it."""
        return int(self.setting(topic, MIN_ISR) or 1)


def _short(args: Mapping[str, object]) -> dict[str, object]:
    return {
        name: value[:SHOWN] if isinstance(value, str) else value for name, value in args.items()
    }


class PasteError(Exception):
    """A part of a line that cannot be read: a key and its arguments."""

    def __init__(self, key: str, choices: tuple[Press, ...] = (), **args: object) -> None:
        super().__init__(key)
        self.key = key
        self.choices = choices
        self.args_: dict[str, Any] = args


def number_of(text: str, what: str, most: int) -> int:
    """Return a whole number.  Raises PasteError."""
    if not re.fullmatch(r"\d{1,16}", text) or int(text) > most:
        raise PasteError("number", what=what, text=text, most=most)
    return int(text)


def ids_of(text: str, column: str) -> tuple[int, ...]:
    """Return broker ids: `1,2,3`, `[1, 2, 3]` or `1 2 3`, each once.  Raises PasteError."""
    text = text.strip().strip("[]").strip().rstrip(",")
    if text.lower() in ("", "n/a", "none", "-", "null"):
        return ()
    ids = []
    for part in re.split(r"\s*,\s*|\s+", text):
        if not re.fullmatch(r"\d{1,6}", part):
            raise PasteError("ids", column=column, text=text)
        ids.append(int(part))
    if len(set(ids)) != len(ids):
        raise PasteError("double", column=column, text=text)
    return tuple(ids)


def leader_of(text: str) -> int:
    """Return the id of a leader; -1 for `none`, `-1`, `N/A` and nothing.  Raises PasteError."""
    text = text.strip()
    if text.lower() in ("none", "-1", "-2", "n/a", "-", "", "null"):
        return -1
    return number_of(text, "Leader", MOST_ID)


def checked(facts: Facts, partition: PastedPartition) -> PastedPartition:
    """Return a partition whose parts fit together.

    A member of the ISR that is no replica any more, as while replicas are removed, is left out with
    a note.  Raises PasteError.
    """
    if not partition.replicas:
        raise PasteError("empty", column="Replicas")
    for column, members in (
        ("Isr", partition.isr),
        ("Elr", partition.elr),
        ("LastKnownElr", partition.last_known_elr),
    ):
        for member in members:
            if member not in partition.replicas and member != partition.leader:
                facts.note(
                    partition.line, "no_replica", broker=member, column=column, name=partition.name
                )
    if partition.leader >= 0 and partition.leader not in partition.replicas:
        raise PasteError("leads_no_replica", broker=partition.leader)
    if partition.leader >= 0 and partition.leader not in partition.isr:
        raise PasteError("leader", broker=partition.leader)
    partition.isr, partition.elr, partition.last_known_elr = (
        tuple(member for member in members if member in partition.replicas)
        for members in (partition.isr, partition.elr, partition.last_known_elr)
    )
    return partition
