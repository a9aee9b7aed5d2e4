"""Hands on the keyboard inside the scene, and what moves between two steps."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench.view import LOAD
from tests.e2e.axe import violations
from tests.e2e.conftest import Opener
from tests.e2e.walk import at, step_of

PLAIN = """() => {
  const plain = (el) => [
    el.localName,
    [...el.attributes].map((one) => `${one.name}=${one.value}`).sort(),
    el.children.length ? [...el.children].map(plain) : el.textContent,
  ];
  return JSON.stringify([...document.querySelectorAll('#stage svg > g')].map(plain));
}"""
"""What stands on the stage, whatever the order in which attributes were set."""


def focused(page: Any) -> Any:
    return page.locator(":focus")


def test_a_lane_is_entered_walked_and_left_by_keyboard(visit: Opener) -> None:
    page = visit("/s/S20?profile=Z0102&step=39&layers=ends,remote,offsets,epochs,pipes,controller")
    page.get_by_role("button", name="Log of Broker A: walk along its records").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-stop="b1:leo"]:focus')
    page.keyboard.press("Home")
    page.wait_for_selector('[data-stop="b1:o0"]:focus')
    page.keyboard.press("ArrowRight")
    page.wait_for_selector('[data-stop="b1:o1"]:focus')
    words = focused(page).get_attribute("aria-label")
    assert words.startswith("Offset 1, epoch 0, record m1: committed")
    assert "It is on broker A, broker B. Acknowledged to the producer." in words
    page.keyboard.press("ArrowDown")
    page.wait_for_selector('[data-stop="b2:o1"]:focus')
    assert page.locator("#stage .twin").count() == 2, "the same record is ringed on every log"
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.wait_for_selector('[data-hit="lane:2"]:focus')
    assert page.locator("[data-stop]").count() == 0
    assert step_of(page) == 39, "no arrow has moved the run"
    page.keyboard.press("k")
    at(page, 40)
    assert page.get_attribute('[data-id="b2"]', "data-alive") == "down"


def test_the_ghost_of_a_truncated_record_takes_the_focus(visit: Opener) -> None:
    page = visit("/s/R20?profile=Z0102&step=118&layers=ends,remote,offsets,epochs,pipes,controller")
    page.locator('[data-hit="lane:3"]').focus()
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-stop="b3:leo"]:focus')
    page.keyboard.press("Home")  # what the broker believes, then its records
    page.wait_for_selector('[data-stop="b3:belief"]:focus')
    for stop in ("b3:o0", "b3:o1"):
        page.keyboard.press("ArrowRight")
        page.wait_for_selector(f'[data-stop="{stop}"]:focus')
    page.get_by_role("button", name="Step on").evaluate("el => el.click()")
    at(page, 119)
    page.wait_for_selector('[data-stop^="b3:cut"]:focus')
    assert "acknowledged, and now cut" in focused(page).get_attribute("aria-label")


def test_controller_clients_and_messages_have_one_stop_each_and_keep_the_focus(
    visit: Opener,
) -> None:
    page = visit("/s/S20?profile=Z20&step=27&layers=ends,epochs,pipes,controller")
    for group in ("Controller and clients", "Brokers", "Records and marks", "Messages in flight"):
        box = page.get_by_role("group", name=group)
        assert box.locator('button[tabindex="0"]').count() == 1, group
    page.locator('[data-hit="K"]').focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_selector('[data-hit="P1"]:focus')
    assert "acknowledged" in focused(page).get_attribute("aria-label")
    page.locator('[data-hit^="m"]').first.focus()
    page.keyboard.press("k")
    at(page, 29)
    page.wait_for_selector("#hits [data-hit]:focus")
    assert page.locator('[data-hit^="m"]').count() == 0


def test_the_cause_is_shown_first_and_what_is_left_is_the_step_alone(visit: Opener) -> None:
    page = visit("/s/S20?profile=Z0102&step=28&layers=ends", reduced_motion="no-preference")
    page.evaluate(f"async () => {{ {LOAD} (await load('animator/state')).speed.value = 0.25; }}")
    end = '[data-id="b1:leo"] .leoline'
    before = page.locator(end).get_attribute("d")
    pill = page.locator("#stage .msg")
    rests = pill.get_attribute("transform")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#stage[data-moving]", state="attached")
    page.wait_for_function(
        "was => document.querySelector('#stage .msg').getAttribute('transform') !== was", arg=rests
    )
    assert page.locator(end).get_attribute("d") == before, "the log grows when it has arrived"
    at(page, 29)
    assert page.locator(end).get_attribute("d") != before
    came = page.evaluate(PLAIN)
    page.goto(page.url.split("?")[0] + "?profile=Z0102&step=29&still=1&layers=ends")
    page.wait_for_selector('body[data-ready="1"]')
    at(page, 29)
    assert came == page.evaluate(PLAIN)


@pytest.mark.parametrize("size", [(320, 640), (640, 400)])
def test_nothing_scrolls_sideways_and_the_focus_is_never_hidden(
    visit: Opener, size: tuple[int, int]
) -> None:
    width, height = size
    page = visit(
        "/s/S20?profile=Z0102&step=56&lang=zh", viewport={"width": width, "height": height}
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator('[data-hit="b2"]').focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    page.wait_for_selector('[data-hit="b2"]:focus')
    spot = focused(page).evaluate(
        """el => {
            const box = el.getBoundingClientRect();
            return el.contains(document.elementFromPoint(box.left + box.width / 2, box.top + 8));
        }"""
    )
    assert spot, "what has the focus is not under the deck"
