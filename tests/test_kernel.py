"""Clock, order of events, and chance."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sim.kernel import CLIENT, DELIVERY, FAILURE, TIMER, Chance, Kernel


def drained(kernel: Kernel) -> list[object]:
    found = []
    while kernel.pending:
        found.append(kernel.pop()[4])
    return found


def test_events_fire_by_time_then_kind_then_node_then_order() -> None:
    kernel = Kernel()
    wanted = [
        (0, TIMER, 9),
        (5, FAILURE, 2),
        (5, DELIVERY, -1),
        (5, DELIVERY, 2),
        (5, TIMER, 1),
        (5, CLIENT, -11),
        (6, FAILURE, 1),
    ]
    for delay, kind, node in reversed(wanted):
        kernel.schedule(delay, kind, node, (delay, kind, node))
    assert drained(kernel) == wanted
    first, second = object(), object()
    kernel.schedule(0, TIMER, 1, first)
    kernel.schedule(0, TIMER, 1, second)
    assert drained(kernel) == [first, second]


def test_payloads_are_never_compared() -> None:
    class Opaque:
        __lt__ = None

    kernel = Kernel()
    for _ in range(50):
        kernel.schedule(3, TIMER, 1, Opaque())
    assert len(drained(kernel)) == 50


def test_time_never_goes_back() -> None:
    kernel = Kernel()
    kernel.schedule(10, TIMER, 1, "late")
    kernel.schedule(0, TIMER, 1, "early")
    assert kernel.due() == 0
    kernel.now = 7  # a hand has delivered something meanwhile
    kernel.pop()
    assert kernel.now == 7
    kernel.pop()
    assert (kernel.now, kernel.due()) == (10, -1)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 20), min_size=1), st.data())
def test_a_removed_event_is_gone_and_the_others_keep_their_order(
    delays: list[int], data: st.DataObject
) -> None:
    kernel = Kernel()
    payloads = [[number] for number in range(len(delays))]
    for delay, payload in zip(delays, payloads, strict=True):
        kernel.schedule(delay, TIMER, 1, payload)
    gone = data.draw(st.sampled_from(payloads))
    assert kernel.remove(gone)
    assert not kernel.remove(gone)
    left = sorted((p for p in payloads if p is not gone), key=lambda p: (delays[p[0]], p[0]))
    assert drained(kernel) == left


# -- chance ---------------------------------------------------------------------------------------


PINNED = [571, 626, 778, 297, 29, 280]


def test_a_stream_is_a_function_of_seed_and_concern() -> None:
    """Pinned: another Python, machine or hash seed must draw the same."""
    chance = Chance(7, "network")
    assert [chance.below(1000) for _ in range(6)] == PINNED
    assert [Chance(7, "network").below(1000) for _ in range(3)] == PINNED[:1] * 3
    others = [Chance(7, "producer 0"), Chance(8, "network"), Chance(70, "etwork")]
    assert all([other.below(1000) for _ in range(6)] != PINNED for other in others)


def test_a_draw_of_one_concern_shifts_no_other() -> None:
    quiet, busy = Chance(1, "faults"), Chance(1, "faults")
    noise = Chance(1, "network")
    drawn = []
    for _ in range(20):
        noise.below(10)
        drawn.append(busy.below(10**6))
    assert drawn == [quiet.below(10**6) for _ in range(20)]


def test_bounds_and_frequencies() -> None:
    chance = Chance(0, "test")
    seen = Counter(chance.between(3, 5) for _ in range(3000))
    assert set(seen) == {3, 4, 5} and min(seen.values()) > 900
    assert {chance.below(1) for _ in range(50)} == {0}
    assert not any(chance.hits(0.0) for _ in range(50))
    assert all(chance.hits(1.0) for _ in range(50))
    assert 250 < sum(chance.hits(0.1) for _ in range(3000)) < 350


def test_exponential_waiting_times() -> None:
    chance = Chance(0, "faults")
    waits = [chance.exponential(1000) for _ in range(6000)]
    assert min(waits) >= 1
    assert 960 < sum(waits) / len(waits) < 1040
    beyond = [sum(wait > limit for wait in waits) / len(waits) for limit in (693, 1386, 2079)]
    assert all(
        abs(share - wanted) < 0.02 for share, wanted in zip(beyond, (0.5, 0.25, 0.125), strict=True)
    )
