"""The library: found while typing, remembered by the browser, readable without a script."""

from __future__ import annotations

from tests.e2e.conftest import Opener
from tests.e2e.walk import at, total


def test_cards_are_found_while_one_types_and_near_words_help(visit: Opener) -> None:
    page = visit("/scenarios")
    page.get_by_role("searchbox").fill("R20")
    assert page.locator(".card:visible h3").all_text_contents() == [
        "Can an acknowledged record vanish?"
    ]
    page.get_by_role("searchbox").fill("watermrk")
    page.get_by_role("button", name="watermark", exact=True).click()
    assert page.locator(".card:visible").count() > 1
    page.get_by_role("searchbox").fill("zzzzzz")
    build = page.get_by_role("link", name="Build it yourself")
    assert "title=zzzzzz" in build.get_attribute("href")
    page.get_by_role("link", name="Show all").click()
    assert page.locator(".card:visible").count() > 60


def test_the_browser_remembers_the_path_and_runs_of_ones_own(visit: Opener) -> None:
    page = visit("/s/S01")
    page.keyboard.press("End")
    at(page, total(page))
    page.get_by_label("Type a move").fill("kill 2")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash.startsWith('#run=')")
    page.goto(page.url.split("/s/")[0] + "/")
    page.wait_for_selector('body[data-ready="1"]')
    assert page.locator("#progress").inner_text() == "1 of 6 done"
    page.get_by_role("link", name="Your runs").click()
    page.wait_for_url("**/scenarios#yours")
    page.wait_for_selector('body[data-ready="1"]')
    own = page.locator("#runs a")
    assert own.count() == 1
    own.click()
    page.wait_for_selector('body[data-ready="1"]')
    at(page, total(page))


def test_the_library_is_whole_without_a_script(visit: Opener) -> None:
    page = visit("/scenarios?tag=truncation", ready=False, java_script_enabled=False)
    assert page.locator(".card:visible").count() > 5
    page.get_by_role("link", name="Can an acknowledged record vanish?").first.wait_for()


def test_the_slider_of_versions_is_dragged(visit: Opener) -> None:
    page = visit("/")
    ladder = page.locator("#versions").bounding_box()
    y = ladder["y"] + 6
    page.mouse.move(ladder["x"] + 40, y)
    page.mouse.down()
    page.locator("#versions label", has=page.locator("input:checked")).first.wait_for()
    page.mouse.move(ladder["x"] + ladder["width"] - 10, y, steps=6)
    last = page.locator("#versions input").last
    assert last.is_checked()
    page.mouse.up()
    page.mouse.move(ladder["x"] + 10, y)
    assert last.is_checked(), "nothing is dragged without a pressed button"
    page.locator("#answer .kept").wait_for()


def test_the_path_can_be_finished(visit: Opener) -> None:
    page = visit("/")
    keys = page.evaluate("[...document.querySelectorAll('.steps li')].map(li => li.dataset.key)")
    page.evaluate("k => localStorage.setItem('highwater.done', JSON.stringify(k))", keys[:-1])
    page.reload()
    page.locator("#progress", has_text="5 of 6").wait_for()
    page.locator(".steps li a").last.click()
    page.wait_for_selector('body[data-ready="1"]')
    page.get_by_label("Type a move").fill("kill 1")
    page.keyboard.press("Enter")
    page.wait_for_function("() => localStorage.getItem('highwater.done').includes('S82')")
    page.goto(page.url.split("/s/")[0])
    page.get_by_role("link", name="All 6 done").wait_for()
