"""How a visitor moves: small helpers that wait for the step instead of for time."""

from __future__ import annotations

import json
import urllib.request
from typing import Any


def step_of(page: Any) -> int:
    return int(page.get_attribute("#stage", "data-step"))


def at(page: Any, step: int) -> None:
    """Waits until the stage rests on a step."""
    page.wait_for_selector(f'#stage[data-step="{step}"]:not([data-moving])', state="attached")


def total(page: Any) -> int:
    return int(page.get_by_label("Step of the run").get_attribute("max"))


def jump(page: Any, step: int) -> None:
    """Sets the rail as a hand would."""
    page.get_by_label("Step of the run").evaluate(
        "(el, n) => { el.value = n; el.dispatchEvent(new Event('input', {bubbles: true})); }", step
    )
    at(page, step)


def markup(page: Any) -> str:
    return str(
        page.evaluate("[...document.querySelectorAll('#stage svg')].map(s => s.outerHTML).join()")
    )


def run_of(page: Any) -> str:
    """The digest of the run the page watches, from its link to batches."""
    link = page.get_by_role("link", name="Run at scale").last
    return str(link.get_attribute("href")).split("=")[1]


def steps(server: Any, run: str, first: int, count: int) -> list[dict[str, Any]]:
    """What the server says of a run, asked without the page."""
    url = f"{server.url}/r/{run}/steps.json?from={first}&count={count}"
    with urllib.request.urlopen(url, timeout=15) as answer:
        found: list[dict[str, Any]] = json.load(answer)["steps"]
    return found
