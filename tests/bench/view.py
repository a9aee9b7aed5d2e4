"""Benchmark of transferred sizes: the first view, the view of a step, the frames of a GIF."""

from __future__ import annotations

import statistics
from typing import Any, Final

from app.core.json_response import to_json
from engine.replay.replay import Replay
from engine.scenarios import file
from engine.sim.run import Run
from tests.bench.frame import p95

VISITS: Final = 5
ROUNDS: Final = 3
MOMENTS: Final = 8
QUIET_MS: Final = 1_500
"""Parts of a page that are fetched ahead come a moment after it is ready."""

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

_GIF = (
    f"""async () => {{ {LOAD}"""
    + """
  const names = ["animator/state", "export/frame", "export/plan", "export/gif"];
  const [s, frame, { plan }, { animate }] = await Promise.all(names.map(load));
  const words = () => ({ title: "", lines: ["What a step says.", "Why."], note: location.href });
  const took = [];
  let last = performance.now();
  const told = () => { const now = performance.now(); took.push(now - last); last = now; };
  const blob = await animate(s.tapeNow.value, plan([4, 5, 6, 7]), { width: 960, words, told });
  frame.clear();
  return [took, blob.size / 1024];
}"""
)


_SHIFT = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 100);
})"""
"""Layout shift of a page since it was opened."""


class ViewWire:
    """Fetches of a page, as the browser's own network layer counts them."""

    def __init__(self, page: Any) -> None:
        self._asked: dict[str, dict[str, float]] = {}
        client = page.context.new_cdp_session(page)
        client.send("Network.enable")
        client.on("Network.requestWillBeSent", self._sent)
        client.on("Network.requestServedFromCache", lambda told: self._kept(told["requestId"]))
        client.on("Network.responseReceived", self._came)
        client.on("Network.responseReceivedExtraInfo", self._status)
        client.on("Network.loadingFinished", self._done)

    def _sent(self, told: dict[str, Any]) -> None:
        if told["request"]["url"].startswith("http"):
            self._asked[told["requestId"]] = {"bytes": 0, "wire": 1, "status": 0}

    def _kept(self, asked: str) -> None:
        if asked in self._asked:
            self._asked[asked]["wire"] = 0

    def _came(self, told: dict[str, Any]) -> None:
        if told["response"].get("fromDiskCache"):
            self._kept(told["requestId"])

    def _status(self, told: dict[str, Any]) -> None:
        if told["requestId"] in self._asked:
            self._asked[told["requestId"]]["status"] = told["statusCode"]

    def _done(self, told: dict[str, Any]) -> None:
        if told["requestId"] in self._asked:
            self._asked[told["requestId"]]["bytes"] = told["encodedDataLength"]

    def figures(self) -> dict[str, float]:
        """Return kB of all answers with their heads, requests, and those answered "not changed"."""
        sent = [one for one in self._asked.values() if one["wire"]]
        return {
            "kb": sum(one["bytes"] for one in sent) / 1_000,
            "requests": float(len(sent)),
            "asked_again": float(sum(one["status"] == 304 for one in sent)),
        }


def visits(browser: Any, url: str, name: str, ready: str) -> dict[str, float]:
    """Make two visits with one cache, each until nothing more is fetched.

    Of the second all but the page itself should come from the cache.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    told: list[dict[str, float]] = []
    for _ in range(2):
        page = context.new_page()
        wire = ViewWire(page)
        page.goto(url)
        page.wait_for_selector(ready, state="attached")
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(QUIET_MS)
        told.append(wire.figures() | {"shift": float(page.evaluate(_SHIFT))})
        page.close()
    context.close()
    first, second = told
    return {
        f"{name}_kb": first["kb"],
        f"{name}_requests": first["requests"],
        f"{name}_shift": max(first["shift"], second["shift"]),
        f"{name}_again_kb": second["kb"],
        f"{name}_again_requests": second["requests"],
        f"{name}_asked_again": second["asked_again"],
    }


def first_view(browser: Any, url: str) -> dict[str, float]:
    """Visit with an empty cache until the stage stands; return the best and the median.

    What else runs only ever slows a visit down.
    """
    times = []
    for _ in range(VISITS):
        page = browser.new_page()
        page.goto(url)
        page.wait_for_selector("#stage[data-step]")
        times.append(float(page.evaluate("performance.now()")))
        page.close()
    return {"first_view_ms": min(times), "first_view_p50_ms": statistics.median(times)}


def animation(browser: Any, url: str) -> dict[str, float]:
    """Return the milliseconds a frame of a GIF 960 wide, in the best of some rounds.

    Slow frames of all.
    """
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
    """Return the kB of a step's view as it travels, over moments of the whole library."""
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
