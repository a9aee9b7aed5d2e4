"""Order of expired sessions on real brokers: as in the model, whatever the phase of heartbeats."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from app.kafka.fetches import BROKER_HEARTBEAT
from app.lab import order, playing
from app.lab.links import CONTROLLER, LinkControls
from app.lab.order import APART_S, TOGETHER_S, Before, Order
from engine.moves import moves
from engine.scenarios import file
from engine.sim.run import Run


def played(code: str, profile: str) -> tuple[Run, list[str]]:
    run = Run(file.find(code), profile)
    return run, [line.text for line in playing.lines_of(run) if not line.is_expect]


@pytest.mark.parametrize(
    ("code", "profile", "before"),
    [
        ("S30", "K41", {"cut 3 K": [Before(2, 3, TOGETHER_S)]}),
        ("S06", "K39", {"kill 3": [Before(2, 2, TOGETHER_S)]}),
        ("S19", "K39", {"kill 2": [Before(1, 6, APART_S)]}),
        ("S19B", "K39", {"kill 1": [Before(2, 7, APART_S)]}),  # it is still to fall silent
        ("R20", "Z0102", {}),
    ],
)
def test_the_model_orders_expired_sessions(
    code: str, profile: str, before: dict[str, list[Before]]
) -> None:
    run, lines = played(code, profile)
    found = order.plan(run, lines).before
    assert {lines[number]: rules for number, rules in found.items()} == before


def stage(hand: LinkControls) -> Any:
    return SimpleNamespace(cluster=SimpleNamespace(hand=hand, controller_alive=True, session_ms=0))


def make(made: Order, run: Run, lines: list[str], number: int) -> float:
    began = time.monotonic()
    made.make(number, moves.parse(lines[number], run.scenario.brokers))
    return time.monotonic() - began


def test_a_broker_falls_silent_only_after_a_later_heartbeat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(order, "TOGETHER_S", 0.1)
    hand = LinkControls()
    run, lines = played("S30", "K41")
    made = Order(stage(hand), run, lines)
    make(made, run, lines, lines.index("cut 2 K"))
    threading.Timer(0.05, hand.hear, (3, time.monotonic() + 0.05)).start()  # too early
    threading.Timer(0.3, hand.hear, (3, time.monotonic() + 0.3)).start()
    assert make(made, run, lines, lines.index("cut 3 K")) > 0.2
    assert made.missed_in(7, moves.parse("detect 3", run.scenario.brokers)) == [2, 3]


def test_heartbeats_of_the_first_expired_session_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "APART_S", 0.05)
    hand = LinkControls()
    run, lines = played("S19B", "K39")
    made = Order(stage(hand), run, lines)
    threading.Timer(0.2, lambda: hand.hear(1, time.monotonic())).start()
    make(made, run, lines, lines.index("kill 1"))
    assert BROKER_HEARTBEAT in hand.link(2, CONTROLLER).holding
    make(made, run, lines, lines.index("kill 2"))
    assert BROKER_HEARTBEAT not in hand.link(2, CONTROLLER).holding
