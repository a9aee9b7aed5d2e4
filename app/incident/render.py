"""A timeline as text, with the sentences that a reader looks for: lost, unclean, cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.incident.timeline import ADD, ADD_OF_ZOOKEEPER, Timeline, TimelineState
from app.kafka.metadata import PartitionMetadata
from app.reading.events import CONTROLLER, Event
from app.reading.files import ReplicaFiles
from engine.model.phrases import join, phrase
from engine.scenarios.expectations import record_notation

JUST_BEFORE_MS = 1_000
"""Time before the first state of the record whose events are shown with it."""
_LOST = "LOST: {0} committed (high watermark {1} on {2})"
GRAVE = ("LOST", "UNCLEAN")
"""How rows begin that a reader looks for."""

TROUBLE = ("memory", "disk full", "session ends", "files")
TOGETHER_MS = 10_000

Row = tuple[float, str, str]
"""(time, actor, event)."""


def lines(timeline: Timeline) -> list[str]:
    """Return the whole timeline; times in seconds since the first state of the record."""
    times = [state.time_ms for state in timeline.states if state.time_ms is not None]
    listed = rows(timeline)
    zero = min(times, default=listed[0][0] if listed else 0.0)
    kafka = f"Kafka {timeline.version}" if timeline.version else "Kafka of an unknown release"
    text = [f"{timeline.partition} on {kafka}, replicas {_ids(timeline.replicas)}"]
    text.append(f"Seconds since the first record; {_who(timeline)}, b1 is broker 1.")
    text += [
        f"{(time_ms - zero) / 1_000:>10.3f} s  {who:<4} {what}"
        for time_ms, who, what in listed
        if time_ms >= zero - JUST_BEFORE_MS
    ]
    text += [
        f"       now   {_broker(node):<4} {_disk(disk)}" for node, disk in timeline.disks.items()
    ]
    text += [f"Clocks: {line}." for line in timeline.clocks.lines(_whose(timeline))]
    text += [f"Note: {note}" for note in timeline.notes]
    return text


def _who(timeline: Timeline) -> str:
    if timeline.controller:
        return f"{_broker(timeline.controller)} is the controller"
    if timeline.clocks.reference:
        clock = f"{_broker(timeline.clocks.reference)}'s clock"
        return f"no file is the controller's, times are by {clock}"
    return "no file is the controller's"


def _whose(timeline: Timeline) -> str:
    reference = timeline.clocks.reference
    return "the controller's" if timeline.controller else f"that of broker {reference}"


def missing(timeline: Timeline) -> str:
    """Name the files that must be added before a state is known; "" where one is."""
    if timeline.states:
        return ""
    return phrase(
        "No line has a leader epoch and a partition epoch of {0}, so its state is unknown and "
        "there is no run to show: {1}",
        timeline.partition,
        ADD if timeline.kraft else ADD_OF_ZOOKEEPER,
    )


def rows(timeline: Timeline) -> list[Row]:
    """Return states, events and losses in one order."""
    return sorted(_rows(timeline), key=lambda row: row[0])


def _rows(timeline: Timeline) -> Iterator[Row]:
    cut: dict[str, tuple[float, int]] = {}
    failed: set[tuple[str, str]] = set()
    last: dict[tuple[str, str], float] = {}
    for time_ms, event in timeline.events:
        if event.kind == "cuts" and _repeats(cut, time_ms, event):
            continue
        if event.kind in TROUBLE and _is_repeated(last, time_ms, event):
            continue
        if event.kind == "directory fails":
            # Replica manager and log manager say it, and then what is stopped because of it.
            place = (event.node, event.data["directory"])
            if place in failed:
                continue
            failed.add(place)
        what = _event_sentence(event)
        # Under KRaft the metadata log has a fencing, too.
        if what and not (event.kind == "fencing" and timeline.kraft):
            yield time_ms, _broker(event.node), what
    before: TimelineState | None = None
    for at, state in enumerate(timeline.states):
        # One without a time is known from the line that tells the next one.
        later = (
            following.time_ms for following in timeline.states[at:] if following.time_ms is not None
        )
        when = next(later, None)
        if when is not None:
            node = _broker(state.node)
            yield when, node, record(state.record)
            if before is not None and _is_unclean(before.record, state.record):
                leader = state.record.leader
                text = phrase("UNCLEAN: broker {0} was not in sync and leads now", leader)
                yield when, node, text
        before = state
    yield from losses(timeline)


def _is_repeated(last: dict[tuple[str, str], float], time_ms: float, event: Event) -> bool:
    """Return whether the node logged the same trouble a moment before: a trace has many lines."""
    place = event.node, event.kind
    before, last[place] = last.get(place), time_ms
    return before is not None and time_ms - before < TOGETHER_MS


def _repeats(cuts: dict[str, tuple[float, int]], time_ms: float, event: Event) -> bool:
    """Return whether the fetcher has logged this truncation before the log did."""
    last, cuts[event.node] = cuts.get(event.node), (time_ms, event.data["to"])
    return last is not None and last[1] == event.data["to"] and time_ms - last[0] < 100


def _is_unclean(before: PartitionMetadata, after: PartitionMetadata) -> bool:
    """Check whether a leader was elected that was neither in the ISR nor in the ELR."""
    elected = after.leader >= 0 and after.leader_epoch > before.leader_epoch
    next_one = after.partition_epoch == before.partition_epoch + 1
    return elected and next_one and after.leader not in (*before.isr, *before.elr)


def losses(timeline: Timeline) -> Iterator[Row]:
    """Yield the committed records that are gone.

    Where a leader begins below a high watermark that some replica had before, what lay between was
    committed, and is lost.
    """
    best = 0
    whose = ""
    told_off: set[str] = set()
    own: dict[str, int] = {}  # the high watermark that each replica said last
    lost: set[int] = set()
    cuts: dict[str, tuple[float, int]] = {}
    for time_ms, event in timeline.events:
        if event.kind == "cuts" and _repeats(cuts, time_ms, event):
            continue
        hw = event.data.get("hw")
        if event.kind == "out of range":
            told_off.add(event.node)
        elif event.kind == "cuts":
            cut = event.data["to"]
            own[event.node] = max(own.get(event.node, 0), hw or 0)
            best, whose = _greater(best, whose, hw, event)
            # Records that a replica truncates below its own high watermark were committed.
            off = event.node in told_off
            if cut < best and (off or (own[event.node] > cut and cut not in lost)):
                lost.add(cut)
                node = _broker(event.node)
                high, of = (best, whose) if off else (own[event.node], node)
                lost_records = phrase(_LOST, span(cut, high), high, of)
                end = (
                    phrase(", and the leader's log ends at {0}", cut)
                    if off
                    else phrase(", and {0} truncates its log to {1}", node, cut)
                )
                yield time_ms, node, join((lost_records, end))
                best = cut
            own[event.node] = min(cut, own[event.node])
            hw = None if hw is not None and hw > cut else hw
            # Before 0.11 a new follower cuts to its own high watermark.
            if not timeline.kraft and "end" not in event.data:
                hw = cut
        elif isinstance(hw, int) and event.kind in ("leads", "follows"):
            own[event.node] = hw
        if event.kind == "leads" and event.data["leo"] < best:
            leo = event.data["leo"]
            lost.add(leo)
            yield (
                time_ms,
                _broker(event.node),
                join(
                    (
                        phrase(_LOST, span(leo, best), best, whose),
                        phrase(", and leader epoch {0} begins at {1}", event.data["le"], leo),
                    )
                ),
            )
            best = leo
        if event.kind != "mark":
            best, whose = _greater(best, whose, hw, event)


def _greater(best: int, whose: str, hw: int | None, event: Event) -> tuple[int, str]:
    """Return the greater of two high watermarks, with the broker that had it."""
    return (hw, _broker(event.node)) if isinstance(hw, int) and hw > best else (best, whose)


def span(first: int, end: int) -> str:
    return (
        phrase("offset {0} was", first)
        if end == first + 1
        else phrase("offsets {0} to {1} were", first, end - 1)
    )


def record(state: PartitionMetadata) -> str:
    sets = map(sorted, (state.isr, state.elr, state.last_known_elr))
    text = record_notation((state.leader, state.leader_epoch, state.partition_epoch), *sets)
    return text + (" RECOVERING" if state.recovering else "")


def _ids(brokers: Any) -> str:
    return "[" + ",".join(map(str, sorted(brokers))) + "]"


def _broker(node: str) -> str:
    return "?" if not node else node if node == CONTROLLER else f"b{node}"


def _event_sentence(event: Event) -> str:
    """Return one sentence for an event; "" for those that a timeline need not show."""
    data = event.data
    if event.kind in ("leads", "follows"):
        return _begins(event)
    if event.kind == "cuts":
        answer = ""
        if data.get("end", -1) >= 0:
            epoch, end = data["epoch"], data["end"]
            answer = phrase(": in the leader's log epoch {0} ends at {1}", epoch, end)
        return phrase("truncates its log to {0}{1}", data["to"], answer)
    if event.kind == "loaded":
        return phrase("loads its log with log end offset {0}", data["leo"])
    if event.kind == "out of range":
        return phrase("gets OFFSET_OUT_OF_RANGE for its offset {0}", data["own"])
    if event.kind in ("grows", "shrinks"):
        isr, before = _ids(data["isr"]), _ids(data["before"])
        return phrase("requests the ISR {0} instead of {1}{2}", isr, before, _ends(event))
    if event.kind == "granted":
        return phrase(
            "is granted the ISR {0} in partition epoch {1}", _ids(data["isr"]), data["pe"]
        )
    if event.kind == "unclean":
        return phrase("broker {0} is elected without being in sync", data["leader"])
    if event.kind == "directory fails":
        return phrase("stops serving the replicas in {0}: the directory failed", data["directory"])
    if event.kind == "memory":
        return phrase("runs out of memory: {0}", data.get("why", "OutOfMemoryError"))
    if event.kind == "dies":
        return phrase("shuts itself down: {0}", data["why"])
    if event.kind in ("registered", "fenced", "unfenced", "leaving"):
        return phrase(_MEMBERSHIP[event.kind], data["broker"]) if event.node == CONTROLLER else ""
    if event.kind == "fencing":
        return phrase(_MEMBERSHIP["fenced"], data["broker"])
    if event.kind in ("failed", "came"):
        return phrase(_MEMBERSHIP[event.kind], ", ".join(map(str, data["brokers"])))
    return _PLAIN.get(event.kind, "")


def _begins(event: Event) -> str:
    data = event.data
    mark = phrase(", high watermark {0}", data["hw"]) if "hw" in data else ""
    epoch, end = data["le"], data["leo"]
    if event.kind == "leads":
        return phrase("leads in leader epoch {0} from offset {1}{2}", epoch, end, mark)
    if "leader" not in data:
        return phrase("follows in leader epoch {0}, log end {1}{2}", epoch, end, mark)
    if data["leader"] < 0:
        return phrase("follows nobody in leader epoch {0}, log end {1}{2}", epoch, end, mark)
    whom = phrase("broker {0}", data["leader"])
    return phrase("follows {0} in leader epoch {1}, log end {2}{3}", whom, epoch, end, mark)


def _ends(event: Event) -> str:
    """Say where logs ended when the ISR shrank, if its line has that."""
    data = event.data
    if "leo" not in data:
        return ""
    lagging = data.get("lagging", {}).items()
    return join(
        [
            phrase(": its log ends at {0}, high watermark {1}", data["leo"], data["hw"]),
            *(phrase(", broker {0} ends at {1}", broker, end) for broker, end in lagging),
        ]
    )


_MEMBERSHIP = {
    "registered": "broker {0} is registered",
    "fenced": "broker {0} is fenced",
    "unfenced": "broker {0} is unfenced",
    "leaving": "broker {0} is in controlled shutdown",
    "failed": "broker {0} went offline",
    "came": "broker {0} is online",
}
_PLAIN = {
    "starts": "starts",
    "stops": "begins a controlled shutdown",
    "ends": "has shut down",
    "unclean stop": "had not shut down cleanly: no clean shutdown file",
    "recovers": "recovers the log after an unclean shutdown",
    "disk full": "has no space left on a disk",
    "session ends": "loses its ZooKeeper session",
    "files": "has too many open files",
    "refused": "gets its ISR change rejected: its partition epoch is old",
}


def _disk(replica: ReplicaFiles) -> str:
    runs = " ".join(
        f"[{first}, {end})" + ("" if epoch is None else f"@{epoch}")
        for epoch, first, end in replica.runs
    )
    text = f"log [{replica.start or 0}, {replica.end}) {runs}".rstrip()
    if replica.epochs is not None:
        text += " epochs " + (" ".join(f"{epoch}:{at}" for epoch, at in replica.epochs) or "none")
    return text if replica.hw is None else f"{text} high watermark {replica.hw}"
