"""The verdict on an incident: what an operator asks first, each sentence with the time of day."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from app.incident.facts import Ends, ends_of_epochs
from app.incident.render import span
from app.incident.timeline import Timeline, TimelineState
from app.reading.events import Event
from engine.model.phrases import enumerated, phrase

MOST: Final = 12
"""Sentences of a verdict."""
SHORT_MS: Final = 500
"""A partition without a leader for less is not worth a sentence."""


def clock(time_ms: float) -> str:
    """Return the time of day as the logs have it: 14:07:11."""
    return datetime.fromtimestamp(time_ms / 1_000, UTC).strftime("%H:%M:%S")


def verdict(timeline: Timeline) -> list[str]:
    """Return the sentences, in the order of time; what is gone stands first."""
    if not timeline.states:
        return []
    changes = list(_changes(timeline))
    losses = [sentence for _, is_loss, sentence in changes if is_loss]
    rest = [sentence for _, is_loss, sentence in changes if not is_loss]
    return [*losses, *rest][:MOST]


def _changes(timeline: Timeline) -> Iterator[tuple[float, bool, str]]:
    ends = ends_of_epochs(timeline)
    leaderless: float | None = None
    for earlier, other in itertools.pairwise(timeline.states):
        when = other.time_ms if other.time_ms is not None else _time_after(timeline, other)
        was, now = earlier.record, other.record
        if now.leader < 0 <= was.leader:
            leaderless = when
            yield when, False, phrase("{0} no broker leads any more.", clock(when))
        elif now.leader >= 0 and now.leader != was.leader:
            before = _last_leader(timeline, earlier)
            yield when, False, phrase(
                "{0} leadership goes from broker {1} to broker {2}.",
                clock(when), before, now.leader,
            )  # fmt: skip
            if leaderless is not None and when - leaderless >= SHORT_MS:
                seconds = f"{(when - leaderless) / 1_000:.1f}"
                yield when, False, phrase("No broker led for {0} s.", seconds)
            leaderless = None
            yield from _alone(timeline, ends, before, other)
        elif set(now.isr) != set(was.isr):
            yield from _members(when, set(was.isr), set(now.isr))


def _members(when: float, was: set[int], now: set[int]) -> Iterator[tuple[float, bool, str]]:
    in_sync = ", ".join(map(str, sorted(now)))
    for of_one, of_several, brokers in (
        (
            "{0} broker {1} leaves the ISR; in sync: {2}.",
            "{0} brokers {1} leave the ISR; in sync: {2}.",
            was - now,
        ),
        (
            "{0} broker {1} joins the ISR; in sync: {2}.",
            "{0} brokers {1} join the ISR; in sync: {2}.",
            now - was,
        ),
    ):
        if brokers:
            template = of_several if len(brokers) > 1 else of_one
            listed = enumerated(sorted(brokers))
            yield when, False, phrase(template, clock(when), listed, in_sync)


def _alone(
    timeline: Timeline, ends: dict[int, Ends], before: int, state: TimelineState
) -> Iterator[tuple[float, bool, str]]:
    """Yield what the old leader had beyond the first offset of the new one."""
    begin = _begin(timeline, state)
    epochs = [epoch for epoch in ends if epoch < state.record.leader_epoch]
    if begin is None or not epochs:
        return
    of_old = ends[max(epochs)]
    end, committed = of_old.leo.get(before, 0), max(of_old.hw.values(), default=0)
    time_ms = state.time_ms or 0.0
    if end <= begin:
        return
    uncommitted = max(begin, min(committed, end))
    if uncommitted > begin:
        yield time_ms, True, phrase(
            "Broker {0} leads from offset {1}: {2} committed and lost.",
            state.record.leader, begin, span(begin, uncommitted),
        )  # fmt: skip
    if end > uncommitted:
        yield time_ms, True, phrase(
            "When broker {0} stopped leading, {1} only in its log and not committed; what was "
            "written with acks=1 is gone.",
            before, span(uncommitted, end),
        )  # fmt: skip


def _begin(timeline: Timeline, state: TimelineState) -> int | None:
    """Return where the new leader's log ended when it began to lead."""
    for _, event in timeline.of_kind("leads"):
        if event.data["le"] == state.record.leader_epoch and "leo" in event.data:
            return event.data["leo"]
    return _loaded(timeline, state.record.leader)


def _loaded(timeline: Timeline, broker: int) -> int | None:
    found: list[Event] = [one for _, one in timeline.of_kind("loaded") if one.node == str(broker)]
    return found[-1].data["leo"] if found else None


def _last_leader(timeline: Timeline, state: TimelineState) -> int:
    """Return the last broker that led, at a state or before it."""
    for earlier in reversed(timeline.states[: timeline.states.index(state) + 1]):
        if earlier.record.leader >= 0:
            return earlier.record.leader
    return -1


def _time_after(timeline: Timeline, state: TimelineState) -> float:
    at = timeline.states.index(state)
    known = [one.time_ms for one in timeline.states[at:] if one.time_ms is not None]
    return known[0] if known else 0.0
