"""Everything that the files have on one partition, in one order.

The partition epoch rises with every change of a partition's record (before 2.7 it is the version of
its znode), so the states of the record need no clock; events of brokers do.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from app.incident import excerpts
from app.kafka.metadata import PartitionMetadata
from app.reading.events import CONTROLLER, Event, EventData
from app.reading.files import Gathered, IncidentFile, ReplicaFiles
from app.reading.names import TopicIdentity
from app.reading.sources import events_of
from engine.model.errors import InputError
from engine.model.phrases import join, phrase

MOST_EVENTS: Final = 200_000
"""Of one partition; more is no incident but a year."""
MOST_NOTES: Final = 50
MOST_COMPLAINTS: Final = 3

ADD: Final = (
    "add state-change.log of a broker, or what kafka-dump-log --cluster-metadata-decoder prints of "
    "__cluster_metadata-0."
)
ADD_OF_ZOOKEEPER: Final = "add state-change.log of a broker or of the controller."

AS_RECORDED: Final = {
    "fencing": "fenced",
    "unfencing": "unfenced",
    "registering": "registered",
}
"""Kind of a KRaft controller's log line -> kind of the record that it writes with it."""
TOLD_ALONE: Final = ("grows", "shrinks", "granted", "leads", "follows", "cuts", "loaded", "unclean",
                     "out of range")  # fmt: skip
"""Kinds of events of a partition that are worth telling where no state of its record is known."""

DATED_MS: Final = 978_307_200_000
"""2001: times without a day are of 2000."""
KRAFT_SINCE_MS: Final = 1_664_755_200_000
"""3 October 2022, the day of Kafka 3.3, whose KRaft was the first for production."""

_SETTING: Final = re.compile(
    r"(min\.insync\.replicas|unclean\.leader\.election\.enable)(?: -> |=)(\w+)"
)


@dataclass(frozen=True, slots=True)
class TimelineState:
    """One state of the record.

    `time_ms` by the reference clock, None where only its place in the order is known; `node`: its
    writer.
    """

    record: PartitionMetadata
    time_ms: float | None
    where: str
    node: str = CONTROLLER


@dataclass(slots=True)
class Timeline:
    """Known states, events and settings of a partition.

    `events` are (time by the reference clock, event), in order; `notes` name what could not be read
    and what is missing; `controller`: the node whose log is the controller's, "" without;
    `offline`: brokers that are down at the first state; `numbered`: no line has partition epochs.
    """

    partition: TopicIdentity
    kraft: bool = True
    version: str = ""
    states: list[TimelineState] = field(default_factory=list)
    events: list[tuple[float, Event]] = field(default_factory=list)
    replicas: list[int] = field(default_factory=list)
    disks: dict[str, ReplicaFiles] = field(default_factory=dict)
    configs: dict[str, str] = field(default_factory=dict)
    clocks: Clocks = field(default_factory=lambda: Clocks(CONTROLLER))
    notes: list[str] = field(default_factory=list)
    controller: str = CONTROLLER
    offline: tuple[int, ...] = ()
    numbered: bool = False

    def of_kind(self, *kinds: str) -> Iterator[tuple[float, Event]]:
        return ((time_ms, event) for time_ms, event in self.events if event.kind in kinds)


def partitions(sources: list[IncidentFile]) -> Counter[TopicIdentity]:
    """Return how often the record of each partition changed, as far as the files show.

    Where they have no state of any, the number of lines of each.  Raises InputError where no line
    is of a partition, with the files that would help.
    """
    complaints: list[str] = []
    seen: set[tuple[TopicIdentity, int]] = set()
    lines: Counter[TopicIdentity] = Counter()
    gathered = Gathered(None, complaints.append)
    for source in sources:
        for event in events_of(source, gathered):
            about = event.data.get("partition")
            epoch = _epoch_of(event)
            if about is not None and epoch is not None:
                seen.add((about, epoch))
            elif about is not None and event.kind in (*TOLD_ALONE, "record", "sent"):
                lines[about] += 1
    counted = Counter(about for about, _ in sorted(seen, key=str)) or lines
    if not counted:
        for about, path in gathered.dumped.items():
            complaints.append(
                phrase("{0} is a dump of {1}: records, but no leader and no ISR.", path, about)
            )
        add = ADD_OF_ZOOKEEPER if gathered.old_dump else ADD
        nothing = phrase("These files do not show the state of any partition: {0}", add)
        raise InputError("unknown", join([nothing, *complaints[:MOST_COMPLAINTS]], " "))
    return counted


def _epoch_of(event: Event) -> int | None:
    state = event.data.get("state")
    if isinstance(state, PartitionMetadata):
        return state.partition_epoch
    epoch = event.data.get("pe")
    return epoch if isinstance(epoch, int) else None


def gather(sources: list[IncidentFile], partition: TopicIdentity) -> Timeline:
    """Return the timeline of a partition.  Raises InputError where the files say nothing of it."""
    timeline = Timeline(partition)
    gathered = Gathered(partition, timeline.notes.append)
    events: list[Event] = []
    for source in sources:
        for event in events_of(source, gathered):
            events.append(event)
            if len(events) > MOST_EVENTS:
                raise InputError(
                    "too_large",
                    "The files have more than {0} events of {1}; give the files of the days "
                    "that matter.",
                    MOST_EVENTS,
                    partition,
                )
    timeline.disks = dict(sorted(gathered.replicas.items()))
    timeline.configs = dict(gathered.image.configs.get((2, partition.topic), {}))
    for event in events:
        _take_about(timeline, event)
    stated = [event for event in events if event.kind == "state"]
    timeline.kraft = bool(stated) or _is_kraft(events)
    if not stated:
        # The metadata log would tell of these itself.
        events = [replace(each, kind=AS_RECORDED.get(each.kind, each.kind)) for each in events]
    timeline.controller = CONTROLLER if stated else _controller(events)
    timeline.clocks.reference = timeline.controller or next(
        (each.node for each in events if each.node), ""
    )
    _bound_clocks(timeline.clocks, events)
    aligned = [(timeline.clocks.aligned(event.node, event.time_ms), event) for event in events]
    timeline.events = sorted(aligned, key=lambda entry: entry[0])
    timeline.offline, heard = _offline(timeline.events)
    timeline.events = sorted([*timeline.events, *heard], key=lambda entry: entry[0])
    timeline.states = _states(timeline, stated)
    if not timeline.states and not any(each.kind in TOLD_ALONE for each in events):
        raise InputError("unknown", "The files do not show the state of {0}.", partition)
    if not timeline.replicas and timeline.states:
        timeline.replicas = list(timeline.states[-1].record.replicas)
    if not timeline.replicas:
        timeline.replicas = sorted(_members(timeline))
    _note_gaps(timeline)
    del timeline.notes[MOST_NOTES:]
    return timeline


def _is_kraft(events: list[Event]) -> bool:
    """Check whether the lines may be a KRaft cluster's: by their words, else by their day."""
    if any(event.kind == "sent" or event.data.get("zk") for event in events):
        return False
    if any(event.node == CONTROLLER for event in events):
        return True
    return not any(DATED_MS < event.time_ms < KRAFT_SINCE_MS for event in events)


def _take_about(timeline: Timeline, event: Event) -> None:
    """Take what is logged once: the release, the settings, the order of the replicas."""
    if event.kind == "version" and not timeline.version:
        timeline.version = str(event.data["version"])
    elif event.kind == "created":
        for name, value in _SETTING.findall(event.data["properties"]):
            timeline.configs.setdefault(name, value)
    elif event.kind == "assigned":
        timeline.replicas = event.data["replicas"]
    elif event.kind == "state":
        timeline.replicas = list(event.data["state"].replicas) or timeline.replicas


def _members(timeline: Timeline) -> set[int]:
    """Return every broker that a line names as a replica."""
    members = {
        broker for state in timeline.states for broker in (*state.record.isr, state.record.leader)
    }
    for _, event in timeline.events:
        if event.kind in TOLD_ALONE:
            members |= {*event.data.get("isr", ()), event.data.get("leader", -1)}
            members |= set(event.data["before"]) if event.kind in ("grows", "shrinks") else set()
            members |= {int(event.node)} if event.node.isdigit() else set()
    return {broker for broker in members if broker is not None and broker >= 0}


def _controller(events: list[Event]) -> str:
    """Return the controller where there is no metadata log; "" where no file is a controller's.

    The KRaft controller if one wrote, else the node that sends LeaderAndIsr requests.
    """
    if any(event.node == CONTROLLER for event in events):
        return CONTROLLER
    senders = Counter(event.node for event in events if event.kind in ("sent", "failed", "came"))
    return senders.most_common(1)[0][0] if senders else ""


def _offline(
    events: list[tuple[float, Event]],
) -> tuple[tuple[int, ...], list[tuple[float, Event]]]:
    """Return brokers that UpdateMetadata requests name as offline: at first, and later changes."""
    first: tuple[int, ...] | None = None
    now: set[int] = set()
    heard: list[tuple[float, Event]] = []
    for time_ms, event in events:
        if "offline" not in event.data:
            continue
        offline = set(event.data["offline"])
        if first is None:
            first = tuple(sorted(offline))
        for kind, brokers in (("failed", offline - now), ("came", now - offline)):
            if brokers:
                data: EventData = {"brokers": sorted(brokers), "heard": True}
                heard.append((time_ms, Event(event.time_ms, event.node, kind, event.where, data)))
        now = offline
    return first or (), heard


# -- clocks ----------------------------------------------------------------------------------------


def _bound_clocks(clocks: Clocks, events: list[Event]) -> None:
    """Bound clocks by the controller's writing and a broker's reading of one epoch."""
    written: dict[int, int] = {}
    sent: dict[tuple[int, str], int] = {}
    registered: dict[str, list[int]] = {}
    for event in events:
        if event.node != clocks.reference:
            continue
        if event.kind == "state":
            written.setdefault(event.data["state"].partition_epoch, event.time_ms)
        elif event.kind == "sent":
            sent.setdefault((event.data["le"], str(event.data["broker"])), event.time_ms)
        elif event.kind == "registered":
            registered.setdefault(str(event.data["broker"]), []).append(event.time_ms)
    starts: Counter[str] = Counter()
    for event in events:
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


def _states(timeline: Timeline, stated: list[Event]) -> list[TimelineState]:
    if stated:
        return [
            TimelineState(event.data["state"], float(event.time_ms), event.where)
            for event in stated
        ]
    order = _TimelineOrder(timeline.controller)
    for time_ms, event in timeline.events:
        order.take(time_ms, event)
    if not order.known:
        return _excerpted(timeline)
    return [order.known[epoch] for epoch in sorted(order.known)]


def _excerpted(timeline: Timeline) -> list[TimelineState]:
    """Return states of lines without partition epochs, and say so."""
    states, assumed = excerpts.states_of(timeline.events)
    timeline.numbered = bool(states)
    if states:
        timeline.notes.append(
            "No line has a partition epoch: the states are numbered as they come."
        )
    if states and assumed:
        timeline.notes.append(
            phrase("No line has a leader epoch: the run begins in {0}.", states[0][1].leader_epoch)
        )
    controller = timeline.controller
    return [
        TimelineState(state, time_ms, event.where, event.node or controller)
        for time_ms, state, event in states
    ]


@dataclass(slots=True)
class _TimelineOrder:
    """States by partition epoch, put together from the lines of brokers."""

    controller: str
    known: dict[int, TimelineState] = field(default_factory=dict)
    latest: dict[str, int] = field(default_factory=dict)
    """Node -> the partition epoch that it knows."""
    asked: dict[str, int] = field(default_factory=dict)
    """Node -> the partition epoch of a change that it asked for, until it is granted."""

    def take(self, time_ms: float, event: Event) -> None:
        """Add one event, in the order of time."""
        state = _state_of(event)
        node = event.node
        if state is not None:
            self._add(state, time_ms, event)
        elif event.kind == "change":
            self._change(time_ms, event)
        elif event.kind in ("grows", "shrinks") and self.latest.get(node, -1) in self.known:
            before = self.known[self.latest[node]].record
            epoch = before.partition_epoch + 1
            isr = tuple(event.data["isr"])
            if set(isr) == set(before.isr) or epoch in self.known:
                return
            self._add(replace(before, partition_epoch=epoch, isr=isr), time_ms, event)
            self.asked[node] = epoch
        elif event.kind == "granted":
            self._grant(time_ms, event)
        elif event.kind == "refused" and self.latest.get(node, -1) > event.data["pe"]:
            # The leader's request was not granted.
            self.known.pop(self.latest[node], None)
            self.latest[node] = event.data["pe"]

    def _add(self, state: PartitionMetadata, time_ms: float | None, event: Event) -> None:
        epoch = state.partition_epoch
        node = event.node or self.controller
        earlier = self.known.get(epoch)
        # A leader that was replaced asked for a change which was never written.
        if earlier is None or earlier.record.leader_epoch < state.leader_epoch:
            self.known[epoch] = TimelineState(state, time_ms, event.where, node)
        self.latest[event.node] = max(epoch, self.latest.get(event.node, -1))

    def _grant(self, time_ms: float, event: Event) -> None:
        node, epoch = event.node, event.data["pe"]
        requested = self.asked.pop(node, None)
        if requested is not None and requested != epoch:
            self.known.pop(requested, None)
            self.latest[node] = max((number for number in self.known if number < epoch), default=-1)
        before = self.known.get(self.latest.get(node, -1))
        if before is not None and epoch not in self.known:
            isr = tuple(event.data["isr"])
            self._add(replace(before.record, partition_epoch=epoch, isr=isr), time_ms, event)

    def _change(self, time_ms: float, event: Event) -> None:
        """Return both states of a line that has what changed between them."""
        before, after = event.data["old"], event.data["new"]
        epoch = before.get("partition_epoch", event.data["pe"] - 1)
        base = self.known.get(epoch)
        if base is not None:
            was = replace(base.record, **before)
        elif {"leader", "leader_epoch", "isr"} <= before.keys():
            values = before["leader"], before["leader_epoch"], epoch, before["isr"]
            was = replace(PartitionMetadata(*values), **before)
        else:
            return
        self._add(was, None, event)
        self._add(replace(was, **after), time_ms, event)


def _state_of(event: Event) -> PartitionMetadata | None:
    data = event.data
    if event.kind in ("record", "sent") and "pe" in data:
        return PartitionMetadata(
            data["leader"],
            data["le"],
            data["pe"],
            tuple(data["isr"]),
            tuple(data["set"]),
            tuple(data.get("elr", ())),
            tuple(data.get("last_known_elr", ())),
            bool(data.get("recovering")),
            tuple(data.get("adding", ())),
            tuple(data.get("removing", ())),
        )
    if event.kind == "leads" and event.node.isdigit() and "pe" in data and "isr" in data:
        return PartitionMetadata(int(event.node), data["le"], data["pe"], tuple(data["isr"]))
    return None


def _note_gaps(timeline: Timeline) -> None:
    if not timeline.states or timeline.numbered:
        return
    epochs = [state.record.partition_epoch for state in timeline.states]
    for before, other in itertools.pairwise(epochs):
        if other > before + 1:
            timeline.notes.append(
                phrase("No file shows the state at partition epoch {0}.", before + 1)
                if other == before + 2
                else phrase(
                    "No file shows the state at partition epochs {0} to {1}.", before + 1, other - 1
                )
            )
    if epochs[0] > 0:
        timeline.notes.append(phrase("The files begin at partition epoch {0}.", epochs[0]))


HEARD_MS: Final = 40.0
"""Usual time (ms) from a write of the controller until the first broker logs the news."""


@dataclass(slots=True)
class Skew:
    """Offset of a node's clock from the reference.

    Between `least` and `most` ms, as far as pairs of events tell.
    """

    least: float | None = None
    most: float | None = None
    pairs: int = 0

    def after(self, here_ms: int, there_ms: int) -> None:
        """Record that `here_ms` of this clock came after `there_ms` of the reference."""
        self.pairs += 1
        bound = here_ms - there_ms
        self.most = bound if self.most is None else min(self.most, bound)

    def before(self, here_ms: int, there_ms: int) -> None:
        """Record that it came before."""
        self.pairs += 1
        bound = here_ms - there_ms
        self.least = bound if self.least is None else max(self.least, bound)

    @property
    def estimate(self) -> float:
        """Correction of this clock: nothing where it may be right.

        A wrong one is set by what it heard, which is sooner by far than a start is registered.
        """
        low = float("-inf") if self.least is None else self.least
        high = float("inf") if self.most is None else self.most
        if low > high:  # pairs that contradict each other: the clock was set in between
            return (low + high) / 2
        best = low if self.most is None else max(low, high - HEARD_MS)
        return 0.0 if low <= 0.0 <= high and best <= 0.0 else best

    def told(self) -> str:
        """Return both bounds in words."""
        if self.least is not None and self.most is not None:
            return f"between {_span(self.least)} and {_span(self.most)} than"
        bound = self.least if self.most is None else self.most
        side = "at least" if self.most is None else "at most"
        return f"{side} {_span(bound or 0.0)} than"


def _span(ms: float) -> str:
    size = f"{abs(ms) / 1_000:.3f} s" if abs(ms) >= 1_000 else f"{abs(ms):.0f} ms"
    return f"{size} {'earlier' if ms < 0 else 'later'}"


@dataclass(slots=True)
class Clocks:
    """Clocks of all nodes.  The reference is the controller: its log has the order.

    A broker reads a record after the controller has written it, and sends a request for a change
    before it is granted: both log the same epochs, so each pair bounds how much two clocks differ.
    """

    reference: str
    skews: dict[str, Skew] = field(default_factory=dict)

    def of(self, node: str) -> Skew:
        return self.skews.setdefault(node, Skew())

    def aligned(self, node: str, time_ms: int) -> float:
        """Return a time of a node by the clock of the reference."""
        if node == self.reference or node not in self.skews:
            return float(time_ms)
        return time_ms - self.skews[node].estimate

    def lines(self, whose: str = "the controller's") -> Iterable[str]:
        """Yield one sentence for each clock, beside that of the reference."""
        for node, skew in sorted(self.skews.items()):
            if node != self.reference and skew.pairs:
                yield f"the clock of broker {node} is {skew.told()} {whose}"
