"""Measurement of the run page's calm: controls, rows around the picture, its share, its sizes.

``python -m tests.bench.calm http://127.0.0.1:8000`` prints a table of a running server.  The size
720 x 450 is a window of 1440 x 900 at 200 % zoom.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from tests import chromium

SIZES: Final = (
    (390, 700),
    (390, 844),
    (640, 900),
    (720, 450),
    (820, 1180),
    (1100, 800),
    (1280, 800),
    (1440, 900),
    (1920, 1080),
)
RUN: Final = "/s/gone-after-a-clean-election?profile=Z0102&step=137&size=story"
MOST_CONTROLS: Final = {(1440, 900): 20, (390, 844): 14}
"""Size of the window -> controls that are seen at first, at most."""
LEAST_SHARE: Final = 0.55
IN_CLASS: Final = (1280, 801)
"""Size of the window that leads a class; a pixel more than the same one without it."""

LOOK: Final = """() => {
  const seen = (el) => {
    if (!el.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    const box = el.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) return false;
    if (box.right <= 0 || box.left >= innerWidth) return false;
    if (getComputedStyle(el).clipPath !== 'none' && box.width < 4) return false;
    return true;
  };
  const things = new Set();
  const controls = [];
  const all = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  for (const el of document.querySelectorAll(all)) {
    if (el.disabled && !el.closest('#deck') || !seen(el)) continue;
    if (el.matches('[role=tabpanel], .skip')) continue;
    const hit = el.dataset.hit ?? el.dataset.stop;
    if (hit) {
      // A broker with its log and marks, a client, the controller and a message count once each.
      const [, id] = /^(?:why:)?(?:lane:|log:)?b?([^:]+)/.exec(hit);
      things.add(id);
    } else if (el.type === 'radio') things.add(`radio:${el.name}:${el.value}`);
    else controls.push(el.getAttribute('aria-label') || el.innerText.trim() || el.id);
  }
  const picture = document.querySelector('#stage svg').getBoundingClientRect();
  const shown = Math.min(innerHeight, picture.bottom) - Math.max(0, picture.top);
  const rows = (from, to) => {
    const tops = [];
    for (const el of document.querySelectorAll('a, button, input, select, h1, p, b, label')) {
      if (!seen(el) || el.closest('#stage, #hits, .drawer')) continue;
      const { top, bottom } = el.getBoundingClientRect();
      if (bottom <= from || top >= to || bottom - top < 8) continue;
      const middle = (top + bottom) / 2;
      if (!tops.some((one) => Math.abs(one - middle) < 14)) tops.push(middle);
    }
    return tops.length;
  };
  const cells = [...document.querySelectorAll('#stage .tank .record .cell')]
    .map((el) => el.getBoundingClientRect().height);
  const texts = [...document.querySelectorAll('#stage svg text')].filter(seen).map((el) => {
    const scale = el.getBoundingClientRect().height ? el.getScreenCTM().a : 1;
    const sizes = [el, ...el.querySelectorAll('tspan')]
      .map((one) => parseFloat(getComputedStyle(one).fontSize));
    return { px: Math.min(...sizes) * scale, words: el.textContent };
  }).sort((a, b) => a.px - b.px);
  return {
    controls: controls.length + things.size,
    names: [...controls, ...things],
    above: rows(0, picture.top), below: rows(picture.bottom, innerHeight),
    share: shown / innerHeight,
    cell: cells.length ? Math.min(...cells) : null,
    text: texts[0]?.px ?? 0, smallest: texts[0]?.words ?? "",
    sideways: document.documentElement.scrollWidth - innerWidth,
  };
}"""


def look(page: Any) -> dict[str, Any]:
    """Return the figures of a page that is ready."""
    found: dict[str, Any] = page.evaluate(LOOK)
    return found


def least_cell(width: int) -> int:
    return 28 if width < 700 else 36


def least_text(width: int) -> int:
    return 12 if width < 700 else 14


def start_class(page: Any) -> None:
    """Make the page the leader of a class."""
    page.locator("#sharing").click()
    page.locator("#share-class").click()
    page.locator("#sharepart .btn.primary").click()
    page.locator("[data-class]").wait_for()
    page.keyboard.press("Escape")


def main(url: str) -> None:
    """Print the figures at every size, light and dark, and of a class."""
    from playwright.sync_api import sync_playwright

    print("| Window | Theme | Controls | Above | Below | Picture | Cell | Smallest text |")
    print("|---|---|---|---|---|---|---|---|")
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright, "--hide-scrollbars")
        for width, height in (*SIZES, IN_CLASS):
            for theme in ("light", "dark"):
                page = browser.new_page(
                    viewport={"width": width, "height": height},
                    color_scheme=theme,
                    reduced_motion="reduce",
                )
                page.goto(url + RUN)
                page.wait_for_selector('body[data-ready="1"]')
                page.wait_for_timeout(300)
                taught = (width, height) == IN_CLASS
                if taught:
                    start_class(page)
                    page.wait_for_timeout(300)
                row = look(page)
                kind = " class" if taught else ""
                print(
                    f"| {width} × {height}{kind} | {theme} | {row['controls']} | {row['above']} |"
                    f" {row['below']} | {row['share']:.0%} | {row['cell'] or 0:.0f} |"
                    f" {row['text']:.1f} ({row['smallest']}) |"
                )
                page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
