"""Benchmark of the stage: frames, drawing a step, leaks, the first view, a GIF."""

from __future__ import annotations

import base64
import statistics
import zlib
from typing import Any, Final

from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from tests import chromium
from tests.bench.frame import p95
from tests.bench.ratios import share
from tests.bench.view import LOAD, animation, first_view, views

BUDGETS: Final = {
    "fps_3": 55.0,
    "fps_9": 55.0,
    "fps_30": 30.0,
    "fps_living": 50.0,
    "draw_3_p95_ms": 8.0,
    "draw_9_p95_ms": 8.0,
    "draw_30_p95_ms": 8.0,
    "nodes_left": 600.0,
    "first_view_ms": 1_000.0,
    "gif_ms": 50.0,
    "view_kb": 8.0,
}
"""Frames a second at least; all others are upper limits."""

PLAYED_MS: Final = 2_500
STEPS: Final = 120
LONG: Final = 500

_FPS = """ms => new Promise((done) => {
  const seen = [];
  const frame = (now) => {
    seen.push(now);
    if (now - seen[0] < ms) requestAnimationFrame(frame);
    else done((seen.length - 1) * 1000 / (seen.at(-1) - seen[0]));
  };
  requestAnimationFrame(frame);
})"""

_DRAW = (
    f"""async (steps) => {{ {LOAD}"""
    + """
  const [s, player] = await Promise.all([load("animator/state"), load("animator/player")]);
  const took = [];
  const first = s.n.value;
  for (let i = 1; i <= steps; i += 1) {
    await player.goTo(first + i);
    // Known by now: back, and on again with a watch in hand.
    s.n.value = first + i - 1;
    const began = performance.now();
    s.n.value = first + i;
    took.push(performance.now() - began);
  }
  return took;
}"""
)
"""Setting the step draws the stage at once; panels follow with the next frame."""


def stage_link(brokers: int, records: int = 600) -> str:
    """Return a run of `brokers` brokers, all of them replicas, packed as links carry runs."""
    scenario = Scenario.from_dict(
        {
            "title": f"{brokers} brokers",
            "brokers": brokers,
            "fetching": "auto",
            "network": {"delay_ms": [1, 9]},
        }
    )
    names = [f"r{number}" for number in range(records)]
    moves = [f"produce {' '.join(names[at : at + 60])}" for at in range(0, records, 60)]
    return run_link(Run(scenario, "K39", 1, (*moves, "advance 3s")))


def run_link(run: Run) -> str:
    """Return the address that carries a run, packed as links do."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(run.text().encode()) + packer.flush()
    return "/s/S01#run=1." + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def stage() -> tuple[float, dict[str, float]]:
    """Return (the largest share of a budget, the figures).  Needs the test extra."""
    from playwright.sync_api import sync_playwright

    from tests.bench.server import serving

    figures: dict[str, float] = {}
    fast = {"moves_per_s": "1000000", "moves_burst": "100000", "opens_burst": "100"}
    with serving(**fast) as port, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        url = f"http://127.0.0.1:{port}"
        for brokers in (3, 9, 30):
            figures[f"fps_{brokers}"] = _frames(browser, url + stage_link(brokers))
            took = _drawing(browser, url + stage_link(brokers))
            figures[f"draw_{brokers}_ms"] = statistics.median(took)
            figures[f"draw_{brokers}_p95_ms"] = p95(took)
        figures["fps_living"] = _frames(browser, f"{url}/s/a-cluster-that-lives?size=story", "")
        figures["nodes_left"] = _left_behind(browser, f"{url}/s/crash-storm?step=200")
        figures |= first_view(browser, f"{url}/s/S20")
        figures |= animation(browser, f"{url}/s/S20?step=8")
        browser.close()
    figures |= views()
    return max(share(name, figures[name], budget) for name, budget in BUDGETS.items()), figures


def _opened(browser: Any, url: str, motion: str = "reduce") -> Any:
    page = browser.new_page(reduced_motion=motion, viewport={"width": 1280, "height": 800})
    page.goto(url)
    page.wait_for_selector("body[data-ready]")
    return page


def _frames(browser: Any, url: str, play: str = "Play") -> float:
    """Return the frames a second of a run, which plays by itself where nothing is to be pressed."""
    page = _opened(browser, url, motion="no-preference")
    if play:
        page.get_by_role("button", name=play).click()
    page.wait_for_selector("#stage[data-moving]", state="attached")
    found = float(page.evaluate(_FPS, PLAYED_MS))
    page.close()
    return found


def _drawing(browser: Any, url: str) -> list[float]:
    page = _opened(browser, url)
    took: list[float] = page.evaluate(_DRAW, STEPS)
    page.close()
    return took


def _left_behind(browser: Any, url: str) -> float:
    """Return the growth in DOM nodes over many steps."""
    page = _opened(browser, url)
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")

    def nodes() -> float:
        client.send("HeapProfiler.collectGarbage")
        found = client.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in found if one["name"] == "Nodes"))

    def walk(first: int, count: int) -> None:
        for _ in range(count):
            page.keyboard.press("ArrowRight")
        at_least = f"() => Number(document.getElementById('stage').dataset.step) >= {first + count}"
        page.wait_for_function(at_least)

    walk(200, 20)
    page.wait_for_selector("#help", state="attached")  # fetched once, when nothing else is to do
    before = nodes()
    walk(220, LONG)
    left = nodes() - before
    page.close()
    return max(0.0, left)
