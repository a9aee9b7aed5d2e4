"""Benchmark of a question, a graded answer and the first view of the questions page."""

from __future__ import annotations

import statistics
import time
from typing import Final

from app.core import gc_settings
from app.server import warm
from engine.learn.answers import answer_of
from engine.learn.probes import probe_at, probes_of
from engine.learn.render import Teller
from engine.properties.recording import MomentRecording
from engine.scenarios.file import library
from engine.sim.run import Run, play_all
from tests.bench.server import serving

VISITS: Final = 5
BUDGETS: Final = {
    "question_p95_ms": 100.0,
    "question_cpu_p95_ms": 100.0,
    "answer_p95_ms": 150.0,
    "view_ms": 1_000.0,
    "view_kb": 250.0,
}


def learn() -> tuple[float, dict[str, float]]:
    """Measure the questions of the library under each scenario's first Kafka.

    The best question is found and told, from nothing but the run (`question_cpu` is what that takes
    of a processor, whatever else the machine does, in a process that serves:
    `app.core.gc_settings`); and an answer to it is graded and explained, from the run and its
    address.

    `view_ms` and `view_kb` are of the page, its stage and what both load, packed, from a server.
    """
    warm.warm()
    gc_settings.settle()
    asked, graded, plays, spent = [], [], [], []
    for scenario in library().values():
        run = Run(scenario, scenario.profiles[0])
        began = time.perf_counter()
        play_all(run)
        plays.append(time.perf_counter() - began)
        began, busy = time.perf_counter(), time.thread_time()
        recording = MomentRecording(run)
        found = probes_of(recording)
        if not found:
            continue
        Teller(recording, "en").question(found[0])
        asked.append((time.perf_counter() - began) * 1_000)
        spent.append((time.thread_time() - busy) * 1_000)
        began = time.perf_counter()
        recording = MomentRecording(run)
        probe = probe_at(recording, found[0].text)
        teller = Teller(recording, "en")
        if probe.form == "offset":
            answer_of(probe, "1")
        teller.reason(probe)
        teller.answer(probe, probe.choices[probe.right].answer)
        graded.append((time.perf_counter() - began) * 1_000)
    view_ms, view_kb = _view()
    figures = {
        "question_p95_ms": statistics.quantiles(asked, n=20)[18],
        "question_cpu_p95_ms": statistics.quantiles(spent, n=20)[18],
        "answer_p95_ms": statistics.quantiles(graded, n=20)[18],
        "view_ms": view_ms,
        "view_kb": view_kb,
    }
    return statistics.median(asked) / (statistics.median(plays) * 1_000), figures


def _view() -> tuple[float, float]:
    """Return (ms until the question and its stage stand, kB of all fetches), cache empty."""
    from playwright.sync_api import sync_playwright

    from tests import chromium

    times = []
    size = 0.0
    with serving() as port, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        for _ in range(VISITS):
            page = browser.new_page()
            began = time.perf_counter()
            page.goto(f"http://127.0.0.1:{port}/practice/question")
            page.frame_locator("iframe.stage").locator("#stage[data-step]").wait_for()
            times.append((time.perf_counter() - began) * 1_000)
            page.wait_for_load_state("networkidle")
            size = sum(float(one.evaluate(_LOADED)) for one in page.frames)
            page.close()
        browser.close()
    return min(times), size


_LOADED: Final = """() => [...performance.getEntriesByType("navigation"),
  ...performance.getEntriesByType("resource").filter((one) => one.initiatorType !== "iframe")]
  .reduce((sum, one) => sum + one.transferSize, 0) / 1000"""
