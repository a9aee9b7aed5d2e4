"""Liveness of brokers: sessions, and the states of a heartbeat (control-plane, 1.8 - 1.11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.model.controller import Registration
from engine.model.messages import NO_BROKER

FENCED: Final = 0
UNFENCED: Final = 1
CONTROLLED_SHUTDOWN: Final = 2
SHUTDOWN_NOW: Final = 3

FAR: Final = (1 << 63) - 1

Brokers = Mapping[int, Registration]


def has_valid_session(
    registration: Registration | None, now: int, timeout_ms: int, fenced_has_none: bool = True
) -> bool:
    """1.7, CP-KR-FENCE.  Check for a heartbeat within broker.session.timeout.ms, end included.

    A fenced broker has none until 3.9 (`BrokerHeartbeatManager.hasValidSession` at 3.9.0).  From
    4.0 on only the time of contact counts (`BrokerHeartbeatTracker.hasValidSession`, KAFKA-19047).
    """
    return (
        registration is not None
        and not (registration.fenced and fenced_has_none)
        and now - registration.last_contact <= timeout_ms
    )


def by_silence(brokers: Brokers) -> list[int]:
    """Return the unfenced brokers, longest silent first."""
    unfenced = [(r.last_contact, b) for b, r in brokers.items() if not r.fenced]
    return [broker for _, broker in sorted(unfenced)]


def stale(brokers: Brokers, now: int, timeout_ms: int) -> int:
    """CP-KR-FENCE.  Return the one broker to fence next, or -1.

    Fencing goes one by one: until its turn comes a dead broker is still a legal leader.
    """
    for broker in by_silence(brokers):
        if not has_valid_session(brokers[broker], now, timeout_ms):
            return broker
    return NO_BROKER


def next_check(brokers: Brokers, timeout_ms: int) -> int:
    """CP-KR-FENCE.  Return the time at which the next session can expire, or -1."""
    order = by_silence(brokers)
    return brokers[order[0]].last_contact + timeout_ms if order else -1


def is_active(registration: Registration) -> bool:
    """Check that a broker is neither fenced nor in controlled shutdown."""
    return not registration.fenced and not registration.shutting_down


def lowest_active_offset(brokers: Brokers) -> int:
    """CP-KR-SHUTDOWN.  Return the offset that every active broker has applied."""
    return min((r.metadata_offset for r in brokers.values() if is_active(r)), default=FAR)


def usable(brokers: Brokers) -> list[tuple[int, bool]]:
    """2.4.  Return (broker, fenced) of the brokers that may get new replicas."""
    return [(b, r.fenced) for b, r in sorted(brokers.items()) if not r.shutting_down]


def state_of(registration: Registration) -> int:
    """CP-KR-HB, first column.  Return the broker's state."""
    if registration.shutting_down:
        return CONTROLLED_SHUTDOWN
    return FENCED if registration.fenced else UNFENCED


def next_state(
    brokers: Brokers,
    registration: Registration,
    *,
    want_fence: bool,
    want_shutdown: bool,
    caught_up: bool,
    leads: bool,
) -> int:
    """CP-KR-HB, the table.  Return the next state; `caught_up`: own registration applied."""
    state = state_of(registration)
    if state == FENCED:
        if want_shutdown:
            return SHUTDOWN_NOW
        return UNFENCED if caught_up and not want_fence else FENCED
    if state == UNFENCED:
        if want_fence:
            return SHUTDOWN_NOW if want_shutdown else FENCED
        if want_shutdown:
            return CONTROLLED_SHUTDOWN if leads else SHUTDOWN_NOW
        return UNFENCED
    if leads or registration.shutdown_at > lowest_active_offset(brokers):
        return CONTROLLED_SHUTDOWN
    return SHUTDOWN_NOW


def touch(registration: Registration, fenced: bool, offset: int, now: int) -> None:
    """CP-KR-HB.  Note a heartbeat; a broker that is fenced leaves controlled shutdown."""
    registration.last_contact = now
    registration.metadata_offset = offset
    registration.fenced = fenced
    if fenced:
        registration.shutting_down = False
        registration.shutdown_at = -1


def fence(registration: Registration) -> None:
    """CP-KR-FENCE 2.  Fence a broker; its epoch stays."""
    registration.fenced = True
    registration.shutting_down = False
    registration.shutdown_at = -1


def enter_controlled_shutdown(registration: Registration) -> bool:
    """CP-KR-SHUTDOWN 1.  Enter it; False for a fenced broker, which leads nothing."""
    if registration.fenced:
        return False
    registration.shutting_down = True
    return True


def note_shutdown(registration: Registration, offset: int) -> None:
    """CP-KR-SHUTDOWN 3.  Note the metadata offset to be applied everywhere before the broker goes.

    The first such offset counts, if there is one already.
    """
    if registration.shutdown_at < 0:
        registration.shutdown_at = offset
