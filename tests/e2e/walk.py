"""How a visitor moves: small helpers that wait for the step instead of for time."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

STEPS = "n => Number(document.querySelector('#stage').dataset.step) > n"
"""Whether the stage has gone beyond a step."""


def step_of(page: Any) -> int:
    return int(page.get_attribute("#stage", "data-step"))


def at(page: Any, step: int) -> None:
    """Waits until the stage rests on a step."""
    page.wait_for_selector(f'#stage[data-step="{step}"]:not([data-moving])', state="attached")


def total(page: Any) -> int:
    return int(page.locator(".rail input").get_attribute("data-total"))


def jump(page: Any, step: int) -> None:
    """Sets the rail as a hand would."""
    page.locator(".rail input").evaluate(
        "(el, n) => { el.value = n; el.dispatchEvent(new Event('input', {bubbles: true})); }", step
    )
    at(page, step)


def markup(page: Any) -> str:
    return str(
        page.evaluate("[...document.querySelectorAll('#stage svg')].map(s => s.outerHTML).join()")
    )


def run_of(page: Any) -> str:
    """Return the digest of the run that the page shows."""
    return str(page.get_attribute("#board", "data-run"))


def runs(page: Any, count: int) -> None:
    """Wait until the page has this many runs: the script's and those of moves."""
    page.wait_for_selector(f'#board[data-runs="{count}"]')


def typed(page: Any, move: str) -> None:
    """Type a move as a visitor does: `/` opens the line, Escape closes it."""
    if not page.locator("#typed").count():
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("/")
    page.locator("#typed").fill(move)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")


def more(page: Any) -> Any:
    """Open the sheet behind ⋯, and return it."""
    if not page.locator("#moresheet").count():
        page.locator("#more").click()
    sheet = page.locator("#moresheet")
    sheet.locator("section").first.wait_for()
    return sheet


def panel(page: Any, name: str) -> Any:
    """Open a panel of the drawer by its name, and return it."""
    if not page.locator("#side [role=tab]").count():
        page.locator("#whynow").click()
    page.get_by_role("tab", name=name).click()
    return page.locator("#panel")


def steps(server: Any, run: str, first: int, count: int) -> list[dict[str, Any]]:
    """What the server says of a run, asked without the page."""
    url = f"{server.url}/r/{run}/steps.json?from={first}&count={count}"
    with urllib.request.urlopen(url, timeout=15) as answer:
        found: list[dict[str, Any]] = json.load(answer)["steps"]
    return found
