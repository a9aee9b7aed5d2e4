"""What travels and what is made of it: the first view, the view of a step, the frames of a GIF."""

from __future__ import annotations

import statistics
from typing import Any, Final

from app.command.bench.frame import p95
from app.common.answers import to_json
from engine.scenarios import file
from engine.show.replay import Replay
from engine.sim.run import Run

VISITS: Final = 5
ROUNDS: Final = 3
MOMENTS: Final = 8

LOAD: Final = """const load = async (name) => {
  const file = `${name}.js`;
  for (const { src } of document.querySelectorAll('script[src^="/packs/"]')) {
    const pack = await import(src);
    for (const part of Object.keys(pack.parts)) {
      if (pack.modules[file]) break;
      await pack.later(part);
    }
    if (pack.modules[file]) return pack.modules[file];
  }
  throw new Error(`No script of this page has ${file}.`);
};
"""
"""``await load("animator/state")`` in a page: the module that the page itself uses."""

_LOADED = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const all = [page, ...performance.getEntriesByType("resource")];
  return [all.reduce((sum, one) => sum + one.transferSize, 0) / 1024, all.length];
}"""

_GIF = (
    f"""async () => {{ {LOAD}"""
    + """
  const names = ["animator/state", "export/frame", "export/plan", "export/gif"];
  const [s, frame, { plan }, { animate }] = await Promise.all(names.map(load));
  const words = () => ({ title: "", lines: ["What a step says.", "Why."], note: location.href });
  const took = [];
  let last = performance.now();
  const told = () => { const now = performance.now(); took.push(now - last); last = now; };
  const blob = await animate(s.tapeNow.value, plan(4, 7), { width: 960, words, told });
  frame.clear();
  return [took, blob.size / 1024];
}"""
)


def first_view(browser: Any, url: str) -> dict[str, float]:
    """Visits with an empty cache: until the stage stands (best and half of them), and all that is
    fetched until nothing more is.  What else runs only ever slows a visit down."""
    times = []
    for _ in range(VISITS):
        page = browser.new_page()
        page.goto(url)
        page.wait_for_selector("#stage[data-step]")
        times.append(float(page.evaluate("performance.now()")))
        page.wait_for_load_state("networkidle")
        size, count = page.evaluate(_LOADED)
        page.close()
    return {
        "first_view_ms": min(times),
        "first_view_p50_ms": statistics.median(times),
        "first_view_kb": float(size),
        "first_view_requests": float(count),
    }


def animation(browser: Any, url: str) -> dict[str, float]:
    """Milliseconds a frame of a GIF 960 wide, in the best of some rounds; slow frames of all."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(url)
    page.wait_for_selector("body[data-ready]")
    rounds = [page.evaluate(_GIF) for _ in range(ROUNDS)]
    page.close()
    every = [one for took, _ in rounds for one in took]
    return {
        "gif_ms": min(statistics.fmean(took) for took, _ in rounds),
        "gif_p95_ms": p95(every),
        "gif_kb": float(rounds[0][1]),
    }


def views() -> dict[str, float]:
    """kB of a step's view as it travels, over moments of the whole library."""
    sizes = []
    for scenario in file.library().values():
        replay = Replay(Run(scenario, scenario.profiles[0]))
        moments = replay.facts()["moments"]
        for moment in moments[:: max(1, len(moments) // MOMENTS)]:
            sizes.append(len(to_json(replay.steps(moment, 1)[0]["view"])) / 1024)
    return {
        "view_p50_kb": statistics.median(sizes),
        "view_kb": p95(sizes),
        "view_max_kb": max(sizes),
    }
