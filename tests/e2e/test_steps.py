"""Stepping: every size, on and back, by button, by key, by rail; and what is drawn is true."""

from __future__ import annotations

import urllib.request
from typing import Any

import pytest

from tests.bench.view import LOAD
from tests.conftest import THOROUGH, sample
from tests.e2e.conftest import Opener, Server
from tests.e2e.walk import at, jump, markup, more, run_of, step_of, steps, total


def test_a_visitor_opens_the_library_and_steps_through_a_run(visit: Opener) -> None:
    page = visit("/")
    page.get_by_role("link", name="Can an acknowledged record vanish?").last.click()
    page.wait_for_selector('body[data-ready="1"]')
    at(page, 0)
    page.keyboard.press("ArrowRight")
    at(page, 1)
    assert page.locator(".caption").inner_text().strip()
    page.wait_for_function("() => location.search.includes('step=1')")
    page.get_by_role("button", name="Step back").click()
    at(page, 0)
    page.wait_for_function("() => !location.search.includes('step=')")


@pytest.mark.parametrize("size", sample(["detail", "event", "moment", "chapter", "story"], 2))
def test_each_size_draws_the_same_on_the_way_back(visit: Opener, size: str) -> None:
    page = visit(f"/s/S20?size={size}")
    seen = [(step_of(page), markup(page))]
    for _ in range(6):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(60)
        seen.append((step_of(page), markup(page)))
    for before in reversed(seen[:-1]):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(60)
        assert (step_of(page), markup(page)) == before


def test_the_keyboard_alone_reaches_everything_of_time(visit: Opener) -> None:
    page = visit("/s/S20")
    end = total(page)
    page.keyboard.press("End")
    at(page, end)
    page.keyboard.press("Home")
    at(page, 0)
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function("() => Number(document.querySelector('#stage').dataset.step) > 0")
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")
    page.keyboard.press("/")
    page.wait_for_function("() => document.activeElement.id === 'typed'")


def test_the_rail_says_where_one_is(visit: Opener) -> None:
    page = visit("/s/S20")
    jump(page, 5)
    rail = page.get_by_label("Step of the run")
    assert rail.get_attribute("aria-valuetext").startswith(f"Step 5 of {total(page)}:")
    assert page.locator("#live").inner_text().startswith("Step 5.")


def test_playing_goes_on_until_something_breaks(visit: Opener) -> None:
    page = visit("/s/R20?profile=Z0102")
    sheet = more(page)
    sheet.get_by_label("Speed").select_option("4")
    sheet.get_by_role("radio", name="Moment").check(force=True)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("alert").wait_for(timeout=60_000)
    page.get_by_role("button", name="Play").wait_for()
    assert step_of(page) < total(page)


@pytest.mark.parametrize("profile", ["Z0102", "K39"])
def test_the_drawing_agrees_with_the_server(visit: Opener, server: Server, profile: str) -> None:
    page = visit(f"/s/S20?profile={profile}&layers=ends,epochs,controller")
    run = run_of(page)
    for first in range(0, total(page) + 1, 7):
        jump(page, first)
        (step,) = steps(server, run, first, 1)
        part = step["view"]["partitions"][0]
        for broker, replica in part["replicas"].items():
            assert_lane(page, broker, replica)
        isr = page.get_attribute('[data-id="rec:isr"]', "data-value")
        assert isr == ",".join(str(b) for b in part["record"]["isr"])
        leader = page.get_attribute('[data-id="rec:leader"]', "data-value")
        assert leader == str(part["record"]["leader"])


LANE = """broker => Object.fromEntries(
  [...document.querySelectorAll(`#stage [data-id^="b${broker}:"]`)]
    .map((el) => [el.dataset.id.split(":")[1], { ...el.dataset }]))"""


def assert_lane(page: Any, broker: str, replica: dict[str, Any]) -> None:
    """LEO, HW, epochs and records of one lane, read from the document and not from pixels."""
    lane = page.evaluate(LANE, broker)
    assert lane["leo"]["value"] == str(replica["leo"])
    assert lane["hw"]["value"] == str(replica["hw"])
    for epoch, start in replica["epochs"]:
        assert lane[f"e{epoch}"]["start"] == str(start)
    for record in replica["records"]:
        cell = lane.get(f"o{record['o']}")
        if cell is not None:
            assert cell["epoch"] == str(record["e"])
            assert cell["acked"] == str(int(bool(record["acked"])))
            assert cell["open"] == str(int(record["o"] >= replica["hw"]))


OPEN = (
    f"""async (slug) => {{ {LOAD}"""
    + """
  const [s, player] = await Promise.all([load("animator/state"), load("animator/player")]);
  s.tapes.value = [];
  return (await player.open({ scenario: slug, step: 0 })).facts.total;
}"""
)
"""Another scenario on the same page, asked for as the page itself asks."""


EACH = 1 if THOROUGH else 32
"""The truth test draws every eighth run; every 32nd is played to its end, or all of them."""


@pytest.mark.night
def test_scenarios_play_to_their_ends(visit: Opener, server: Server) -> None:
    """No step of the library breaks the page: one page plays what the shelf has."""
    page = visit("/scenarios")
    links = page.locator(".card h3 a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert len(links) > 10
    page.goto(server.url + links[0])
    page.wait_for_selector('body[data-ready="1"]')
    for link in links[::EACH]:
        with urllib.request.urlopen(server.url + link, timeout=15) as answer:
            assert 'id="boot"' in answer.read().decode(), link
        end = page.evaluate(OPEN, link.split("?")[0].rsplit("/", 1)[1])
        page.wait_for_selector(f'.rail input[data-total="{end}"]')
        page.keyboard.press("End")
        at(page, end)
        assert page.locator(".caption").inner_text().strip(), link
        assert page.locator("[data-notice]").count() == 0, link
        for key in ("ArrowLeft", "[", "Shift+ArrowLeft", "Home"):
            page.keyboard.press(key)
        at(page, 0)
