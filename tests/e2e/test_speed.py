"""Budgets: how many nodes, how many frames, and that stepping leaves nothing behind."""

from __future__ import annotations

import pytest

from tests.bench.stage import stage_link
from tests.e2e.conftest import Opener
from tests.e2e.walk import at, total

pytestmark = pytest.mark.alone

FPS = """ms => new Promise(done => {
  const t = [];
  const f = x => {
    t.push(x);
    x - t[0] < ms ? requestAnimationFrame(f) : done((t.length - 1) * 1000 / (t.at(-1) - t[0]));
  };
  requestAnimationFrame(f);
})"""


def test_a_long_run_stays_small_and_quick(visit: Opener) -> None:
    page = visit("/s/crash-storm?step=200")
    assert page.locator("#stage *").count() < 5000
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")

    def metric(name: str) -> float:
        found = client.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in found if m["name"] == name))

    page.wait_for_timeout(500)
    nodes, script = metric("Nodes"), metric("ScriptDuration")
    for _ in range(150):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("() => Number(document.querySelector('#stage').dataset.step) >= 350")
    assert (metric("ScriptDuration") - script) / 150 < 0.05, "at most 50 ms of script a step"
    client.send("HeapProfiler.collectGarbage")
    assert metric("Nodes") < nodes + 1500, "elements of earlier steps are let go"


def test_motion_is_smooth_without_a_graphics_card(visit: Opener) -> None:
    page = visit("/s/crash-storm?step=300", reduced_motion="no-preference")
    at(page, 300)
    page.get_by_role("button", name="Play").click()
    assert page.evaluate(FPS, 2500) >= 30


def test_thirty_brokers_move_smoothly_too(visit: Opener) -> None:
    page = visit(stage_link(30, 200), reduced_motion="no-preference")
    page.get_by_role("button", name="Play").click()
    page.wait_for_selector("#stage[data-moving]", state="attached")
    assert page.evaluate(FPS, 2000) >= 30


def test_fifty_keys_in_a_row_all_count(visit: Opener) -> None:
    page = visit("/s/S20")
    page.keyboard.press("5")
    for _ in range(50):
        page.keyboard.press("ArrowRight")
    end = total(page)
    at(page, end)
