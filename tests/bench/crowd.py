"""Load test of a class: 200 visitors who come at one moment and step once a second for a minute.

On a server that is warm, on one that has just started, on one to which 60 more come to open one run
together, and on one that is killed in the middle and comes back.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import simple_websocket

from tests.bench.attacks import SHOWN, memory_mib
from tests.bench.kills import Life, kill_worker
from tests.bench.server import ServerWire

VISITORS: Final = 200
SECONDS: Final = 60.0
SEEDS: Final = 8
"""Runs that the visitors share: a class looks at few."""
COME_AGAIN_S: Final = 1.0
"""A page that lost its server asks again about once a second."""
LATECOMERS: Final = 60
LESSON: Final = "S61"
"""The run that the latecomers open together: one of the larger ones, not open before."""
SETTINGS: Final = {"sockets_per_address": "300", "cpu_ms_per_s": "100000"}
BUDGETS: Final = {
    "warm_errors": 0.0,
    "cold_errors": 0.0,
    "cold_all_play_s": 10.0,
    "lesson_errors": 0.0,
    "killed_again_s": 10.0,
    "worker_again_s": 10.0,
}
TROUBLE: Final = (
    OSError,
    RuntimeError,
    KeyError,
    simple_websocket.ConnectionClosed,
    simple_websocket.ConnectionError,
)


class Crowd:
    """All visitors, and the delays they saw."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.steps: list[tuple[float, float]] = []
        """(when its answer came, milliseconds)"""
        self.errors: list[float] = []
        self.openings: list[float] = []
        self._played: dict[int, list[float]] = {number: [] for number in range(VISITORS)}
        self._until = 0.0

    def play(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Let all visitors come at one moment, and stay for a minute."""
        seconds = float(os.environ.get("HIGHWATER_CLASS_S", SECONDS))
        start = threading.Barrier(VISITORS + 1)
        threads = [
            threading.Thread(target=self._visit, args=(number, start)) for number in range(VISITORS)
        ]
        for thread in threads:
            thread.start()
        self._until = time.monotonic() + seconds
        self.began = time.monotonic()
        start.wait()
        time.sleep(seconds / 2)
        meanwhile()
        for thread in threads:
            thread.join()

    def _visit(self, number: int, start: threading.Barrier) -> None:
        start.wait()
        second = 0
        while time.monotonic() < self._until:
            try:
                with ServerWire(self.port) as wire:
                    self.openings.append(time.monotonic())
                    opened = wire.ask("open", {"scenario": SHOWN, "seed": number % SEEDS})
                    total = opened["facts"]["total"]
                    while time.monotonic() < self._until:
                        second += 1
                        self._step(wire, number, opened["run"], second % total)
                        time.sleep(1.0)
            except TROUBLE:
                self.errors.append(time.monotonic())
                time.sleep(COME_AGAIN_S)

    def _step(self, wire: ServerWire, number: int, run: str, step: int) -> None:
        began = time.perf_counter()
        told = wire.ask("play", {"run": run, "step": step, "count": 1})
        if not told["ok"]:
            raise RuntimeError(told["sentence"])
        now = time.monotonic()
        self.steps.append((now, (time.perf_counter() - began) * 1_000))
        self._played[number].append(now)

    def all_play_s(self, since: float) -> float:
        """Return the seconds until every visitor had stepped after that moment.

        Infinite if one never did.
        """
        firsts = [
            next((at for at in played if at > since), float("inf"))
            for played in self._played.values()
        ]
        return max(firsts) - since

    def figures(self, name: str) -> dict[str, float]:
        taken = [taken_ms for _, taken_ms in self.steps]
        return {
            f"{name}_steps": float(len(taken)),
            f"{name}_step_p50_ms": statistics.median(taken),
            f"{name}_step_p99_ms": statistics.quantiles(taken, n=100)[98],
            f"{name}_errors": float(len(self.errors)),
            f"{name}_openings": float(len(self.openings)),
            f"{name}_memory_mib": memory_mib(self.port),
        }


def _warm(life: Life, _place: Path) -> tuple[Life, dict[str, float]]:
    for seed in range(SEEDS):
        with ServerWire(life.port) as wire:
            assert wire.ask("open", {"scenario": SHOWN, "seed": seed})["ok"]
    crowd = Crowd(life.port)
    crowd.play()
    return life, crowd.figures("warm")


def _cold(life: Life, _place: Path) -> tuple[Life, dict[str, float]]:
    crowd = Crowd(life.port)
    crowd.play()
    return life, {**crowd.figures("cold"), "cold_all_play_s": crowd.all_play_s(crowd.began)}


def _lesson(life: Life, _place: Path) -> tuple[Life, dict[str, float]]:
    """Let a class of 60 come as well in the middle, and open one run at one moment."""
    crowd = Crowd(life.port)
    opened: list[float] = []
    failed: list[str] = []
    start = threading.Barrier(LATECOMERS)

    def come() -> None:
        start.wait()
        began = time.perf_counter()
        try:
            with ServerWire(life.port) as wire:
                told = wire.ask("open", {"scenario": LESSON, "seed": 1})
                if not told["ok"]:
                    raise RuntimeError(told["sentence"])
                opened.append((time.perf_counter() - began) * 1_000)
        except TROUBLE as fault:
            failed.append(repr(fault))

    def meanwhile() -> None:
        threads = [threading.Thread(target=come) for _ in range(LATECOMERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    crowd.play(meanwhile)
    return life, {
        **crowd.figures("lesson"),
        "lesson_errors": float(len(crowd.errors) + len(failed)),
        "lesson_opened": float(len(opened)),
        "lesson_open_p50_ms": statistics.median(opened),
        "lesson_open_worst_ms": max(opened),
    }


def _killed(life: Life, place: Path) -> tuple[Life, dict[str, float]]:
    """Kill the whole server, which its supervisor starts again at once."""
    crowd = Crowd(life.port)
    lives = [life]
    when: list[float] = []

    def meanwhile() -> None:
        when.append(time.monotonic())
        life.kill()
        lives.append(Life(place, life.port, SETTINGS))

    crowd.play(meanwhile)
    return lives[-1], {**crowd.figures("killed"), "killed_again_s": crowd.all_play_s(when[0])}


def _worker(life: Life, _place: Path) -> tuple[Life, dict[str, float]]:
    """Kill the worker alone: its master starts another."""
    crowd = Crowd(life.port)
    when: list[float] = []

    def meanwhile() -> None:
        when.append(time.monotonic())
        kill_worker(life.process.pid)

    crowd.play(meanwhile)
    return life, {**crowd.figures("worker"), "worker_again_s": crowd.all_play_s(when[0])}


PARTS: Final = {
    "warm": _warm,
    "cold": _cold,
    "lesson": _lesson,
    "killed": _killed,
    "worker": _worker,
}


def crowd() -> tuple[float, dict[str, float]]:
    """Return the worst p99 of a step without a kill, in seconds, and all figures."""
    figures: dict[str, float] = {}
    for name in os.environ.get("HIGHWATER_CLASSES", " ".join(PARTS)).split():
        with tempfile.TemporaryDirectory(prefix="highwater-") as folder:
            place = Path(folder) / "instance"
            life, found = PARTS[name](Life(place, 0, SETTINGS), place)
            life.stop()
        figures |= found
    calm = [figures.get(f"{name}_step_p99_ms", 0.0) for name in ("warm", "cold", "lesson")]
    return max(calm) / 1_000, figures
