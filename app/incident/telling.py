"""A timeline as text, with the sentences that a reader looks for: lost, unclean, cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.incident.events import CONTROLLER, Event
from app.incident.sources import Replica
from app.incident.timeline import State, Timeline
from app.kafka.metadata import Partition

GRAVE = ("LOST", "UNCLEAN")
"""How rows begin that a reader looks for."""

Row = tuple[float, str, str]
"""(time, who, what)."""


def lines(told: Timeline) -> list[str]:
    """The whole timeline; times in seconds since the first state of the record."""
    known = [state.time_ms for state in told.states if state.time_ms is not None]
    found = rows(told)
    zero = min(known, default=found[0][0] if found else 0.0)
    kafka = f"Kafka {told.version}" if told.version else "Kafka of an unknown release"
    text = [f"{told.partition} on {kafka}, replicas {_ids(told.replicas)}"]
    text.append(f"Seconds since the first record; {_who(told)}, b1 is broker 1.")
    text += [
        f"{(time_ms - zero) / 1_000:>10.3f} s  {who:<4} {what}"
        for time_ms, who, what in found
        if time_ms >= zero - 1
    ]
    text += [f"       now   {_broker(node):<4} {_disk(disk)}" for node, disk in told.disks.items()]
    text += [f"Clocks: {line}." for line in told.clocks.lines()]
    text += [f"Note: {note}" for note in told.notes]
    return text


def _who(told: Timeline) -> str:
    return f"{_broker(told.clocks.reference)} is the controller"


def rows(told: Timeline) -> list[Row]:
    """States, events and losses in one order."""
    return sorted(_rows(told), key=lambda row: row[0])


def _rows(told: Timeline) -> Iterator[Row]:
    reference = _broker(told.clocks.reference)
    cut: dict[str, tuple[float, int]] = {}
    for time_ms, event in told.events:
        if event.kind == "cuts":
            # The fetcher says it and then the log: once is enough.
            last, cut[event.node] = cut.get(event.node), (time_ms, event.data["to"])
            if last is not None and last[1] == event.data["to"] and time_ms - last[0] < 100:
                continue
        what = _told(event)
        if what and not (event.kind == "fencing" and told.kraft):
            yield time_ms, _broker(event.node), what
    before: State | None = None
    for state in told.states:
        if state.time_ms is not None:
            yield state.time_ms, reference, record(state.record)
            if before is not None and _is_unclean(before.record, state.record):
                leader = state.record.leader
                text = f"UNCLEAN: broker {leader} was not in sync and leads now"
                yield state.time_ms, reference, text
        before = state
    yield from losses(told)


def _is_unclean(before: Partition, after: Partition) -> bool:
    """Was a leader elected that was neither in the ISR nor in the ELR?"""
    elected = after.leader >= 0 and after.leader_epoch > before.leader_epoch
    next_one = after.partition_epoch == before.partition_epoch + 1
    return elected and next_one and after.leader not in (*before.isr, *before.elr)


def losses(told: Timeline) -> Iterator[Row]:
    """Where a leader begins below a high watermark that some replica had before: what lay between
    was committed, and is gone."""
    best = 0
    whose = ""
    told_off: set[str] = set()
    for time_ms, event in told.events:
        hw = event.data.get("hw")
        if event.kind == "out of range":
            told_off.add(event.node)
        elif event.kind == "cuts":
            cut = event.data["to"]
            if event.node in told_off and cut < best:
                yield (
                    time_ms,
                    _broker(event.node),
                    f"LOST: {_span(cut, best)} committed (high watermark {best} on "
                    f"{whose}), and the leader's log ends at {cut}",
                )
                best = cut
            # Before 0.11 a new follower cuts to its own high watermark.
            if not told.kraft and "end" not in event.data:
                hw = cut
        if event.kind == "leads" and event.data["leo"] < best:
            leo = event.data["leo"]
            yield (
                time_ms,
                _broker(event.node),
                f"LOST: {_span(leo, best)} committed (high watermark {best} on "
                f"{whose}), and leader epoch {event.data['le']} begins at {leo}",
            )
            best = leo
        if isinstance(hw, int) and hw > best and event.kind != "mark":
            best, whose = hw, _broker(event.node)


def _span(first: int, end: int) -> str:
    return f"offset {first} was" if end == first + 1 else f"offsets {first} to {end - 1} were"


def record(state: Partition) -> str:
    """The record as scripts write it."""
    text = f"{state.leader} {state.leader_epoch} {state.partition_epoch} {_ids(state.isr)}"
    if state.elr:
        text += f" elr {_ids(state.elr)}"
    if state.last_known_elr:
        text += f" last {_ids(state.last_known_elr)}"
    return f"P{{{text}}}" + (" RECOVERING" if state.recovering else "")


def _ids(brokers: Any) -> str:
    return "[" + ",".join(map(str, sorted(brokers))) + "]"


def _broker(node: str) -> str:
    return "?" if not node else node if node == CONTROLLER else f"b{node}"


def _told(event: Event) -> str:
    """One sentence for an event; "" for those that a timeline need not show."""
    data = event.data
    if event.kind == "leads":
        return (
            f"leads in leader epoch {data['le']} from offset {data['leo']}, "
            f"high watermark {data['hw']}"
        )
    if event.kind == "follows":
        whom = "nobody" if data["leader"] < 0 else f"broker {data['leader']}"
        return (
            f"follows {whom} in leader epoch {data['le']}, log end {data['leo']}, "
            f"high watermark {data['hw']}"
        )
    if event.kind == "cuts":
        answer = ""
        if data.get("end", -1) >= 0:
            answer = f": the leader says that epoch {data['epoch']} ends at {data['end']}"
        return f"cuts its log to {data['to']}{answer}"
    if event.kind == "loaded":
        return f"finds its log with end {data['leo']}"
    if event.kind == "out of range":
        return f"is told that its offset {data['own']} is out of the leader's range"
    if event.kind in ("grows", "shrinks"):
        return f"asks for the ISR {_ids(data['isr'])}, {_ids(data['before'])} before"
    if event.kind in ("registered", "fenced", "unfenced", "leaving"):
        where = "shuts down in order" if event.kind == "leaving" else f"is {event.kind}"
        return f"broker {data['broker']} {where}" if event.node == CONTROLLER else ""
    if event.kind == "fencing":
        return f"broker {data['broker']} is fenced"
    if event.kind in ("failed", "came"):
        word = "gone" if event.kind == "failed" else "here"
        return f"broker {', '.join(map(str, data['brokers']))} is {word}"
    return _PLAIN.get(event.kind, "")


_PLAIN = {
    "starts": "starts",
    "stops": "begins a controlled shutdown",
    "unclean stop": "had not stopped in order: no clean shutdown file",
    "recovers": "recovers the log: it was not closed in order",
    "refused": "is refused a change of the ISR: its version of the record is old",
}


def _disk(replica: Replica) -> str:
    runs = " ".join(
        f"[{first}, {end})" + ("" if epoch is None else f"@{epoch}")
        for epoch, first, end in replica.runs
    )
    text = f"log [{replica.start or 0}, {replica.end}) {runs}".rstrip()
    if replica.epochs is not None:
        text += " epochs " + (" ".join(f"{one}:{at}" for one, at in replica.epochs) or "none")
    return text if replica.hw is None else f"{text} high watermark {replica.hw}"
