"""Benchmark of the time from a key press to the next frame, in a real browser."""

from __future__ import annotations

import statistics
from typing import Any

from tests import chromium

PRESSES = 60
ROUNDS = 5
BUDGETS = {"step_p50_ms": 16.0, "onward_p95_ms": 50.0, "step_p95_ms": 50.0}
"""Of a step that is known already, to and fro; onward, a step may still have to come."""
LONG = "crash-storm"

_MEASURE = """
async ([presses, keys]) => {
  const stage = document.getElementById("stage");
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const press = (key) => new Promise((done) => {
    const began = performance.now();
    const seen = new MutationObserver(() => {
      seen.disconnect();
      requestAnimationFrame(() => done(performance.now() - began));
    });
    seen.observe(stage, { attributes: true, attributeFilter: ["data-step"] });
    dispatchEvent(new KeyboardEvent("keydown", { key }));
  });
  const steps = [], frames = [];
  for (let i = 0; i < presses; i += 1) {
    steps.push(await press(keys[i % keys.length]));
    const began = performance.now();
    await frame();
    await frame();
    frames.push((performance.now() - began) / 2);
  }
  return { steps, frames };
}
"""


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[18]


def frame() -> tuple[float, dict[str, float]]:
    """Return (median of all steps over median of all frames, the figures).

    Needs the test extra.
    """
    from playwright.sync_api import sync_playwright

    from tests.bench.ratios import SHOWN
    from tests.bench.server import serving

    steps: list[float] = []
    frames: list[float] = []
    with serving() as port, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        page = browser.new_page(reduced_motion="reduce")

        def opened(scenario: str, step: int) -> None:
            page.goto(f"http://127.0.0.1:{port}/s/{scenario}?step={step}")
            page.wait_for_selector("body[data-ready]")
            page.wait_for_selector(f"#stage[data-step='{step}']")

        opened(SHOWN, 4)
        for _ in range(ROUNDS):
            told: dict[str, Any] = page.evaluate(_MEASURE, [PRESSES, ["ArrowRight", "ArrowLeft"]])
            steps += told["steps"]
            frames += told["frames"]
        opened(LONG, 200)
        onward = page.evaluate(_MEASURE, [ROUNDS * PRESSES, ["ArrowRight"]])["steps"]
        browser.close()
    figures = {
        "step_p50_ms": statistics.median(steps),
        "step_p95_ms": p95(steps),
        "step_p99_ms": statistics.quantiles(steps, n=100)[98],
        "onward_p50_ms": statistics.median(onward),
        "onward_p95_ms": p95(onward),
        "frame_p50_ms": statistics.median(frames),
    }
    return figures["step_p50_ms"] / figures["frame_p50_ms"], figures
