"""The run page's calm: few controls at first sight, a large picture, and nothing out of reach."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.bench import calm
from tests.conftest import sample
from tests.e2e.conftest import FRAME, Opener
from tests.e2e.walk import at, step_of

FIRST: Final = "/s/gone-after-a-clean-election?profile=Z0102&size=story"
LOSS: Final = f"{FIRST}&step=137"
RUNS: Final = (LOSS, "/s/S85?size=story&step=40", "/s/S71?size=story", "/s/S46?step=60&view=tanks")
"""A loss, voters, groups, six brokers with nine partitions."""


@pytest.mark.parametrize(("size", "most"), calm.MOST_CONTROLS.items())
def test_few_controls_are_seen_at_first(visit: Opener, size: tuple[int, int], most: int) -> None:
    page = visit(FIRST, viewport={"width": size[0], "height": size[1]})
    page.wait_for_selector(".release.lost, .titlebar:not(:has(.release))")
    found = calm.look(page)
    assert found["controls"] <= most, found["names"]
    assert found["above"] == 1 and found["below"] <= 4, "a line above; caption, Why?, rail below"


@pytest.mark.parametrize("path", RUNS)
def test_the_picture_takes_the_room_and_can_be_read(visit: Opener, path: str) -> None:
    page = visit(path)
    for width, height in sample(list(calm.SIZES), 5):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(FRAME)
        found = calm.look(page)
        where = f"{path} at {width} x {height}: {found}"
        assert found["share"] >= calm.LEAST_SHARE, where
        narrow = page.evaluate("document.querySelector('#stage').clientWidth < 700")
        seen_as = 390 if narrow else 1440
        assert found["cell"] is None or found["cell"] >= calm.least_cell(seen_as) - 0.5, where
        assert found["text"] >= calm.least_text(seen_as), where
        assert found["sideways"] <= 0, where


CONTROLS: Final = {
    "first step": (("key", "Home"),),
    "last step": (("key", "End"),),
    "play": (("see", ".btn.play"),),
    "step back": (("see", '[aria-label="Step back"]'),),
    "step on": (("see", '[aria-label="Step on"]'),),
    "story, moment, event, detail": (("press", "#more"), ("see", '[name="size"][value="detail"]')),
    "speed": (("press", "#more"), ("see", 'label:has-text("Speed") select')),
    "breakpoints": (("press", "#more"), ("see", '#moresheet button:has-text("Add")')),
    "bookmarks": (("press", "#more"), ("see", '#moresheet button:has-text("Mark this step")')),
    "until": (("press", "#more"), ("see", '#moresheet button:has-text("the next violation")')),
    "rail by time": (("press", "#more"), ("see", '#moresheet label:has-text("time of the run")')),
    "typed move": (("key", "/"), ("see", "#typed")),
    "release strip and select": (("see", ".release input"),),
    "any release": (("press", "#more"), ("see", "#profile")),
    "by hand, by the clock": (("press", "#more"), ("see", ".pace button")),
    "run at scale": (("press", "#more"), ("see", '#moresheet a:has-text("Run at scale")')),
    "compare": (("see", "#compare"),),
    "predict": (("press", "#more"), ("see", "#predict")),
    "make a scenario": (("press", "#more"), ("see", '#moresheet a:has-text("Make a scenario")')),
    "share": (("see", "#sharing"),),
    "help": (("press", "#more"), ("see", '#moresheet button:has-text("Keys and signs")')),
    "real brokers": (("press", "#more"), ("see", '.reals button:has-text("Both")')),
    "view": (("press", "#more"), ("see", "#view")),
    "layers": (("press", "#more"), ("see", ".layers input")),
    "unfold": (("press", "#more"), ("see", '#moresheet button:has-text("Unfold")')),
    "full screen": (("press", "#more"), ("see", '#moresheet button:has-text("Full screen")')),
    "now": (("press", "#whynow"), ("see", "#tab-now")),
    "code": (("press", "#whynow"), ("see", "#tab-code")),
    "inspect": (("press", "#whynow"), ("see", "#tab-inspect")),
    "table": (("press", "#whynow"), ("see", "#tab-table")),
    "metrics": (("press", "#whynow"), ("see", "#tab-metrics")),
    "log": (("press", "#whynow"), ("see", "#tab-log")),
    "checks": (("press", "#whynow"), ("see", "#tab-checks")),
    "moves": (("key", "/"), ("see", ".choices .movebtn")),
    "what if": (("press", "#more"), ("see", '#moresheet a[href*="/whatif"]')),
    "search every future": (("press", "#more"), ("see", '#moresheet a[href*="/explore/"]')),
    "show where": (("press", "#whynow"), ("see", '.verdict button:has-text("Show where")')),
    "shorten": (("press", "#whynow"), ("see", '.verdict button:has-text("Shorten")')),
    "point of no return": (("see", '#caption button:has-text("Point of no return")'),),
    "same script elsewhere": (("press", "#whynow"), ("see", '.verdict button:has-text("under")')),
    "send this ending": (("press", "#whynow"), ("see", '.verdict button:has-text("Send")')),
    "break a broker": (("see", '[data-hit="b1"]'),),
    "site, language, theme, settings": (("press", '[popovertarget="site"]'), ("see", "#theme")),
}
"""Control of the run page -> the way to it: at most one press, then it can be pressed."""


WAYS: Final = sorted({ways[:-1] for ways in CONTROLS.values()})


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_control_is_at_most_two_presses_away(
    visit: Opener, way: tuple[tuple[str, str], ...]
) -> None:
    """All that one press shows are looked at on one page; a key alone is a press."""
    page = visit(LOSS)
    page.locator(".caption.lost").wait_for()
    for how, what in way:
        if how == "press":
            page.locator(what).click()
        else:
            page.keyboard.press(what)
    assert len(way) <= 1
    for ways in CONTROLS.values():
        how, what = ways[-1]
        if ways[:-1] == way and how == "see":
            page.locator(what).first.wait_for()
        elif ways[:-1] == way:
            page.keyboard.press(what)


def test_full_screen_has_the_pages_own_ground(visit: Opener) -> None:
    for theme in ("light", "dark"):
        page = visit(LOSS, color_scheme=theme)
        page.keyboard.press("f")
        page.locator("#title").wait_for(state="hidden")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(251, 251, 249)", "dark": "rgb(20, 23, 26)"}[theme]
        assert not page.locator("#side .tabs").count() and page.locator("#stage svg").count()
        assert page.locator(".caption").is_visible() and page.locator(".rail").is_visible()
        page.keyboard.press("f")
        page.locator("#title").wait_for()


def size_of(page: Any) -> float:
    return float(
        page.locator(".caption").evaluate("el => parseFloat(getComputedStyle(el).fontSize)")
    )


def test_a_speaker_presents_with_a_clicker(visit: Opener) -> None:
    page = visit(FIRST)
    first = step_of(page)
    page.locator("#more").click()
    page.locator("#note").fill("Ask the audience who leads.")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.locator(".speakernote").count() == 0
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("p")
    page.locator("#title").wait_for(state="hidden")
    assert size_of(page) >= 34
    page.locator(".speakernote", has_text="Ask the audience").wait_for()
    assert step_of(page) == first
    page.keyboard.press("PageDown")
    at(page, 81)
    page.keyboard.press(".")
    page.locator(".blank").wait_for()
    page.keyboard.press("ArrowRight")
    page.locator(".blank").wait_for(state="detached")
    assert page.locator(".speakernote").count() == 0
    at(page, 108)
    page.keyboard.press("Escape")
    page.locator("#title").wait_for()
