"""The return of a fenced broker: its time, its log, and whether it had started."""

from __future__ import annotations

from typing import Final

from app.incident.timeline import Timeline
from app.reading.events import Event

COMES: Final = ("unfenced", "came")


def comes_back(told: Timeline, broker: int, gone: Event) -> tuple[Event | None, int | None]:
    """Return the event of its return, and the log end that it then found."""
    later = False
    found: int | None = None
    for _, event in told.events:
        later = later or event is gone
        if not later:
            continue
        if event.kind == "loaded" and event.node == str(broker) and found is None:
            found = event.data["leo"]
        named = broker in event.data.get("brokers", ()) or broker == event.data.get("broker")
        if event.kind in COMES and named:
            return event, found
    return None, found


def starts_between(told: Timeline, broker: int, gone: Event, back: Event) -> bool:
    """Return whether the broker's process started between two events."""
    between = False
    for _, event in told.events:
        if event is gone:
            between = True
        if between and event.kind == "registered" and event.data["broker"] == broker:
            return True
        if between and event.kind == "starts" and event.node == str(broker):
            return True
        if event is back:
            return False
    return False
