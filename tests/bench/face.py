"""Benchmark of a first visit: bytes, requests, repeated requests, first movement."""

from __future__ import annotations

import gzip
from typing import Any, Final

from tests import chromium
from tests.bench.ratios import share
from tests.bench.view import visits

BUDGETS: Final = {
    "landing_kb": 250.0,
    "landing_requests": 40.0,
    "landing_again_requests": 1.0,
    "landing_motion_ms": 1_000.0,
    "landing_screens_1440": 4.0,
    "landing_screens_390": 8.0,
    "loop_kb": 15.0,
    "landing_shift": 0.001,
    "stage_kb": 250.0,
    "stage_requests": 40.0,
    "stage_again_requests": 1.0,
    "stage_shift": 0.001,
}
"""Upper limits.  `again` is a second visit: the page itself, and nothing else."""

SIZES: Final = ((1440, 900), (390, 844))
READY: Final = "body[data-ready]"

_MOVES = """() => new Promise((done) => {
  const picture = document.querySelector("#loop svg");
  const painted = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
  let before = null;
  const look = () => {
    const marks = [...picture.querySelectorAll("[data-id], rect, path")];
    const now = marks.map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return [x, y, width, height].map(Math.round).join();
    }).join(";");
    if (before !== null && now !== before && painted() !== undefined) {
      done(performance.now() - painted());
      return;
    }
    before = now;
    requestAnimationFrame(look);
  };
  look();
})"""
"""Milliseconds from the first paint until something in the landing's picture has moved."""


def face() -> tuple[float, dict[str, float]]:
    """Return (the largest share of a budget, the figures).  Needs the test extra."""
    from playwright.sync_api import sync_playwright

    from tests.bench.server import serving

    figures: dict[str, float] = {}
    with serving() as port, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        url = f"http://127.0.0.1:{port}"
        figures |= visits(browser, f"{url}/", "landing", READY)
        figures |= visits(browser, f"{url}/s/S20", "stage", READY)
        for width, height in SIZES:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(f"{url}/", wait_until="commit")
            page.wait_for_selector("#loop svg", state="attached")
            moved = float(page.evaluate(_MOVES))
            figures["landing_motion_ms"] = max(moved, figures.get("landing_motion_ms", 0.0))
            tall = page.evaluate("document.documentElement.scrollHeight")
            figures[f"landing_screens_{width}"] = tall / height
            figures["loop_kb"] = _loop(page)
            page.close()
        browser.close()
    return max(share(name, figures[name], budget) for name, budget in BUDGETS.items()), figures


def _loop(page: Any) -> float:
    """Return the kB of the largest of the loop's files with gzip; Brotli only makes it less."""
    text = """async () => Promise.all([...document.querySelectorAll("[data-frames]")].map(
      async ({ dataset }) => (await fetch(dataset.frames)).text()))"""
    return max(len(gzip.compress(one.encode(), 9)) for one in page.evaluate(text)) / 1_000
