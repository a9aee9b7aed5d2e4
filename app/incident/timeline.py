"""Everything that the files tell of one partition, in one order.

The partition epoch rises with every change of a partition's record (before 2.7 it is the version
of its znode), so the states of the record need no clock; what stands beside them does.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.incident.clocks import Clocks
from app.incident.events import CONTROLLER, Event, Topic
from app.incident.sources import Reader, Replica, Source
from app.kafka.metadata import Partition
from engine.model.errors import BadInput

MOST_EVENTS: Final = 200_000
"""Of one partition; more is no incident but a year."""
MOST_NOTES: Final = 50

_SETTING: Final = re.compile(
    r"(min\.insync\.replicas|unclean\.leader\.election\.enable)(?: -> |=)(\w+)"
)


@dataclass(frozen=True, slots=True)
class State:
    """One state of the record.  `time_ms` by the reference clock, None where only its place in the
    order is known."""

    record: Partition
    time_ms: float | None
    where: str


@dataclass(slots=True)
class Timeline:
    """What is known of a partition.  `events` are (time by the reference clock, event), in order;
    `notes` name what could not be read and what is not told."""

    partition: Topic
    kraft: bool = True
    version: str = ""
    states: list[State] = field(default_factory=list)
    events: list[tuple[float, Event]] = field(default_factory=list)
    replicas: list[int] = field(default_factory=list)
    disks: dict[str, Replica] = field(default_factory=dict)
    configs: dict[str, str] = field(default_factory=dict)
    clocks: Clocks = field(default_factory=lambda: Clocks(CONTROLLER))
    notes: list[str] = field(default_factory=list)

    def of_kind(self, *kinds: str) -> Iterator[tuple[float, Event]]:
        return ((time_ms, event) for time_ms, event in self.events if event.kind in kinds)


def partitions(sources: list[Source]) -> Counter[Topic]:
    """How often the record of each partition changed, as far as the files tell."""
    seen: set[tuple[Topic, int]] = set()
    reader = Reader(None, lambda sentence: None)
    for source in sources:
        for event in reader.events(source):
            about = event.data.get("partition")
            epoch = _epoch_of(event)
            if about is not None and epoch is not None:
                seen.add((about, epoch))
    return Counter(about for about, _ in seen)


def _epoch_of(event: Event) -> int | None:
    state = event.data.get("state")
    if isinstance(state, Partition):
        return state.partition_epoch
    epoch = event.data.get("pe")
    return epoch if isinstance(epoch, int) else None


def gather(sources: list[Source], wanted: Topic) -> Timeline:
    """The timeline of a partition.  Raises BadInput where the files tell nothing of it."""
    told = Timeline(wanted)
    reader = Reader(wanted, told.notes.append)
    found: list[Event] = []
    for source in sources:
        for event in reader.events(source):
            found.append(event)
            if len(found) > MOST_EVENTS:
                raise BadInput(
                    "too_large",
                    f"The files tell more than {MOST_EVENTS} things of {wanted}; give those of the "
                    "days that matter.",
                )
    told.disks = dict(sorted(reader.replicas.items()))
    told.configs = dict(reader.image.configs.get((2, wanted.topic), {}))
    for event in found:
        _take_about(told, event)
    stated = [event for event in found if event.kind == "state"]
    told.kraft = bool(stated) or not any(event.kind in ("record", "sent") for event in found)
    told.clocks.reference = CONTROLLER if stated else _reference(found)
    _bound_clocks(told.clocks, found)
    aligned = [(told.clocks.aligned(event.node, event.time_ms), event) for event in found]
    told.events = sorted(aligned, key=lambda one: one[0])
    told.states = _states(told, stated)
    if not told.states:
        raise BadInput("unknown", f"The files tell nothing of the record of {wanted}.")
    if not told.replicas:
        told.replicas = list(told.states[-1].record.replicas) or sorted(
            {broker for state in told.states for broker in state.record.isr}
        )
    _note_gaps(told)
    del told.notes[MOST_NOTES:]
    return told


def _take_about(told: Timeline, event: Event) -> None:
    """What is said once: the release, the settings, the order of the replicas."""
    if event.kind == "version" and not told.version:
        told.version = str(event.data["version"])
    elif event.kind == "created":
        for name, value in _SETTING.findall(event.data["properties"]):
            told.configs.setdefault(name, value)
    elif event.kind == "assigned":
        told.replicas = event.data["replicas"]
    elif event.kind == "state":
        told.replicas = list(event.data["state"].replicas) or told.replicas


def _reference(found: list[Event]) -> str:
    """Without a KRaft log: the node that sends LeaderAndIsr requests, or else any."""
    senders = Counter(event.node for event in found if event.kind in ("sent", "failed", "came"))
    if senders:
        return senders.most_common(1)[0][0]
    return next((event.node for event in found if event.node), CONTROLLER)


# -- clocks ----------------------------------------------------------------------------------------


def _bound_clocks(clocks: Clocks, found: list[Event]) -> None:
    """The controller's writing and a broker's hearing of one partition epoch, or leader epoch."""
    written: dict[int, int] = {}
    sent: dict[tuple[int, str], int] = {}
    registered: dict[str, list[int]] = {}
    for event in found:
        if event.node != clocks.reference:
            continue
        if event.kind == "state":
            written.setdefault(event.data["state"].partition_epoch, event.time_ms)
        elif event.kind == "sent":
            sent.setdefault((event.data["le"], str(event.data["broker"])), event.time_ms)
        elif event.kind == "registered":
            registered.setdefault(str(event.data["broker"]), []).append(event.time_ms)
    starts: Counter[str] = Counter()
    for event in found:
        if event.node in ("", clocks.reference):
            continue
        skew = clocks.of(event.node)
        heard = event.kind in ("record", "leads", "follows", "granted")
        if heard and event.data.get("pe") in written:
            skew.after(event.time_ms, written[event.data["pe"]])
        elif event.kind == "record" and (event.data["le"], event.node) in sent:
            skew.after(event.time_ms, sent[event.data["le"], event.node])
        elif event.kind == "starts":
            number, starts[event.node] = starts[event.node], starts[event.node] + 1
            times = registered.get(event.node, [])
            if len(times) > number:
                skew.before(event.time_ms, times[number])


# -- the record ------------------------------------------------------------------------------------


def _states(told: Timeline, stated: list[Event]) -> list[State]:
    if stated:
        return [State(event.data["state"], float(event.time_ms), event.where) for event in stated]
    known: dict[int, State] = {}
    latest: dict[str, int] = {}  # the partition epoch that each broker knows
    for time_ms, event in told.events:
        state = _state_of(event)
        if state is not None:
            epoch = state.partition_epoch
            known.setdefault(epoch, State(state, time_ms, event.where))
            latest[event.node] = max(epoch, latest.get(event.node, -1))
        elif event.kind in ("grows", "shrinks") and latest.get(event.node, -1) in known:
            before = known[latest[event.node]].record
            epoch = before.partition_epoch + 1
            changed = replace(before, partition_epoch=epoch, isr=tuple(event.data["isr"]))
            known.setdefault(epoch, State(changed, time_ms, event.where))
            latest[event.node] = epoch
        elif event.kind == "refused" and latest.get(event.node, -1) > event.data["pe"]:
            # What the leader asked for was not granted.
            known.pop(latest[event.node], None)
            latest[event.node] = event.data["pe"]
    return [known[epoch] for epoch in sorted(known)]


def _state_of(event: Event) -> Partition | None:
    data: dict[str, Any] = event.data
    if event.kind == "record":
        replicas = tuple(data["set"])
        return Partition(data["leader"], data["le"], data["pe"], tuple(data["isr"]), replicas)
    if event.kind == "leads" and event.node.isdigit():
        return Partition(int(event.node), data["le"], data["pe"], tuple(data["isr"]))
    return None


def _note_gaps(told: Timeline) -> None:
    epochs = [state.record.partition_epoch for state in told.states]
    for one, other in itertools.pairwise(epochs):
        if other > one + 1:
            missing = f"epoch {one + 1}" if other == one + 2 else f"epochs {one + 1} to {other - 1}"
            told.notes.append(f"No file tells the record at partition {missing}.")
    if epochs[0] > 0:
        told.notes.append(f"The files begin at partition epoch {epochs[0]}.")
