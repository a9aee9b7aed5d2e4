"""Facts on replicas at each change of leader: where logs ended, and their high watermarks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from app.incident.timeline import Timeline
from app.kafka.versions import numbers_of
from app.reading.events import Event
from app.reading.files import ReplicaFiles

GAP: Final = 3
"""Offsets between two that matter, at most, where a run must be shorter than what happened."""
ROOMY: Final = 200
"""Records that fit a run as they are."""


@dataclass(slots=True)
class Ends:
    """Replicas at the end of a leader epoch, by broker: log end offsets and high watermarks."""

    leo: dict[int, int] = field(default_factory=dict)
    hw: dict[int, int] = field(default_factory=dict)
    surviving: int = 0
    """Where the epoch's records end on the disks of today."""

    @property
    def committed(self) -> int:
        return max([self.surviving, *self.hw.values()])

    @property
    def written(self) -> int:
        return max([self.committed, *self.leo.values()])


def ends_of_epochs(timeline: Timeline) -> dict[int, Ends]:
    """Return leader epoch -> what is known of its end; the last one ends today."""
    by_epoch: dict[int, Ends] = {}
    epochs = sorted({state.record.leader_epoch for state in timeline.states})
    begins = _begins(timeline)
    for epoch in epochs:
        # Batches without epochs do not say when they were written: the last leader has them all.
        readable = not _old(timeline) or epoch == epochs[-1]
        by_epoch[epoch] = Ends(surviving=_surviving(timeline.disks, epoch) if readable else 0)
    for time_ms, event in timeline.events:
        if not event.node.isdigit():
            continue
        broker, data = int(event.node), event.data
        if event.kind in ("leads", "follows"):
            before = by_epoch.get(_previous(epochs, data["le"]))
            # A broker that has just started reports what it found, not how the epoch ended for it.
            if before is not None and not _restarted(timeline, event.node, time_ms):
                before.leo.setdefault(broker, data["leo"])
                if "hw" in data:
                    before.hw.setdefault(broker, data["hw"])
        elif event.kind == "cuts" and _old(timeline):
            # Before 0.11 a new follower cuts to its own high watermark.
            before = by_epoch.get(_previous(epochs, _epoch_at(begins, time_ms)))
            if before is not None:
                before.hw.setdefault(broker, data["to"])
    if _old(timeline):
        _add_loaded(timeline, by_epoch, begins)
    else:
        _add_tails(timeline, by_epoch, begins)
    _add_answers(timeline, by_epoch)
    _add_shrinks(timeline, by_epoch, begins)
    for time_ms, event in timeline.of_kind("out of range"):
        if "end" in event.data:
            # A leader that ends before its follower has not got longer since its election.
            before = by_epoch.get(_previous(epochs, _epoch_at(begins, time_ms)))
            if before is not None:
                before.leo.setdefault(event.data["leader"], event.data["end"])
    return by_epoch


def _old(timeline: Timeline) -> bool:
    """Check whether the batches have no leader epochs (before 0.11)."""
    numbers = numbers_of(timeline.version)
    if numbers is not None:
        return numbers < (0, 11, 0)
    runs = [run for disk in timeline.disks.values() for run in disk.runs]
    return bool(runs) and all(epoch is None for epoch, _, _ in runs)


def _add_loaded(
    timeline: Timeline, by_epoch: dict[int, Ends], begins: list[tuple[float, int]]
) -> None:
    """Add log ends of returning brokers: what one finds, it had when it went."""
    for time_ms, event in timeline.of_kind("loaded"):
        epoch = _epoch_at(begins, time_ms)
        before = by_epoch.get(_previous(sorted(by_epoch), epoch))
        if before is not None and event.node.isdigit():
            before.leo.setdefault(int(event.node), event.data["leo"])


def _add_tails(
    timeline: Timeline, by_epoch: dict[int, Ends], begins: list[tuple[float, int]]
) -> None:
    """Add log ends of returning leaders: what one finds, it had written when it died.

    Less, and it is not all that it had written.
    """
    leaders = {state.record.leader_epoch: state.record.leader for state in timeline.states}
    died: dict[str, int] = {}
    for time_ms, event in timeline.events:
        if event.kind in ("fenced", "failed"):
            for broker in event.data.get("brokers") or [event.data["broker"]]:
                led = [e for began, e in begins if began < time_ms and leaders[e] == broker]
                died[str(broker)] = max(led, default=-1)
        elif event.kind == "loaded" and died.get(event.node, -1) in by_epoch:
            ends = by_epoch[died[event.node]]
            broker = int(event.node)
            ends.leo[broker] = max(event.data["leo"], ends.leo.get(broker, 0))


def _add_answers(timeline: Timeline, by_epoch: dict[int, Ends]) -> None:
    """Add where an epoch ended for the leader that answered a truncating follower."""
    leaders = {state.record.leader_epoch: state.record.leader for state in timeline.states}
    now = -1
    for _, event in timeline.events:
        if event.kind == "follows":
            now = event.data["le"]
        elif event.kind == "cuts" and event.data.get("end", -1) >= 0:
            ends, leader = by_epoch.get(event.data["epoch"]), leaders.get(now, -1)
            if ends is not None and leader >= 0 and leader != leaders[event.data["epoch"]]:
                ends.leo.setdefault(leader, event.data["end"])


def _add_shrinks(
    timeline: Timeline, by_epoch: dict[int, Ends], begins: list[tuple[float, int]]
) -> None:
    """Add what a leader that shrinks its ISR reports of its end and of what is committed."""
    for time_ms, event in timeline.of_kind("shrinks"):
        ends = by_epoch.get(_epoch_at(begins, time_ms))
        if ends is None or "leo" not in event.data or not event.node.isdigit():
            continue
        broker = int(event.node)
        ends.leo[broker] = max(event.data["leo"], ends.leo.get(broker, 0))
        ends.hw[broker] = max(event.data["hw"], ends.hw.get(broker, 0))


@dataclass(frozen=True, slots=True)
class Beginning:
    """Replicas when the first leader epoch that is known began: log ends and high watermarks."""

    leo: dict[int, int]
    hw: dict[int, int]

    @property
    def least(self) -> int:
        return min([*self.leo.values(), *self.hw.values()], default=0)


def beginning(timeline: Timeline) -> Beginning:
    """Return what leader and followers logged when the first known epoch began."""
    first = timeline.states[0].record.leader_epoch
    begin = Beginning({}, {})
    for time_ms, event in timeline.of_kind("leads", "follows"):
        if event.data["le"] == first and event.node.isdigit():
            if _restarted(timeline, event.node, time_ms):
                continue
            begin.leo.setdefault(int(event.node), event.data["leo"])
            if "hw" in event.data:
                begin.hw.setdefault(int(event.node), event.data["hw"])
    return begin


def shrinks_of(timeline: Timeline) -> list[tuple[float, Event]]:
    """Return the lines of shrinking ISRs that say where logs ended."""
    return [(time_ms, one) for time_ms, one in timeline.of_kind("shrinks") if "leo" in one.data]


def _begins(timeline: Timeline) -> list[tuple[float, int]]:
    """Return the beginning of each leader epoch, by the reference clock."""
    began_ms: dict[int, float] = {}
    for state in timeline.states:
        if state.time_ms is not None:
            began_ms.setdefault(state.record.leader_epoch, state.time_ms)
    return sorted((time_ms, epoch) for epoch, time_ms in began_ms.items())


def _epoch_at(begins: list[tuple[float, int]], time_ms: float) -> int:
    return max((epoch for began, epoch in begins if began <= time_ms), default=-1)


def _previous(epochs: list[int], epoch: int) -> int:
    return max((one for one in epochs if one < epoch), default=-1)


def _restarted(timeline: Timeline, node: str, time_ms: float) -> bool:
    """Check whether the node started after its last line and before this time."""
    last = ""
    for when, event in timeline.events:
        if event.node == node and when < time_ms and event.kind in ("starts", "leads", "follows"):
            last = event.kind
    return last == "starts"


def _surviving(disks: dict[str, ReplicaFiles], epoch: int) -> int:
    ends = [
        end
        for disk in disks.values()
        for of_epoch, _, end in disk.runs
        if of_epoch is None or of_epoch <= epoch
    ]
    return max(ends, default=0)


class Scale:
    """Mapping of offsets in the files to offsets of the run.

    They are the same where they fit; else long stretches between those that matter are shortened.
    """

    def __init__(self, by_epoch: dict[int, Ends], start: int, more: Iterable[int] = ()) -> None:
        offsets = {start, *more}
        for ends in by_epoch.values():
            offsets |= {ends.surviving, *ends.leo.values(), *ends.hw.values()}
        ordered = sorted(offset for offset in offsets if offset >= start)
        self.start = start
        self.shortened = ordered[-1] - start > ROOMY
        self._map = {start: start}
        for before, other in itertools.pairwise(ordered):
            step = min(other - before, GAP) if self.shortened else other - before
            self._map[other] = self._map[before] + step

    def of(self, offset: int) -> int:
        """Return the offset of the run.  Raises KeyError for an offset that no fact names."""
        return self._map[max(offset, self.start)]
