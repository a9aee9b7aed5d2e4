"""First visit, settings, legend, paper: what helps without being asked twice."""

from __future__ import annotations

from tests.e2e.conftest import Opener
from tests.e2e.walk import at, more


def test_coach_marks_stand_once_and_can_be_skipped(visit: Opener) -> None:
    page = visit("/s/S01", newcomer=True)
    mark = page.get_by_role("note")
    assert mark.count() == 0, "nobody is guided before the first run"
    page.keyboard.press("End")
    page.wait_for_function("() => localStorage.getItem('highwater.done')?.includes('S01')")
    page.goto(page.url.split("?")[0])
    page.wait_for_selector('body[data-ready="1"]')
    assert "1 / 4" in mark.inner_text()
    page.keyboard.press("ArrowRight")
    at(page, 2)
    page.get_by_text("2 / 4").wait_for()
    page.get_by_role("button", name="Why?").click()  # which nothing covers
    page.locator("#side").get_by_role("button", name="Close").click()
    mark.get_by_role("button", name="Next").click()
    page.get_by_text("3 / 4").wait_for()
    mark.get_by_role("button", name="Skip").click()
    mark.wait_for(state="detached")
    page.reload()
    page.wait_for_selector('body[data-ready="1"]')
    assert page.get_by_role("note").count() == 0
    page.get_by_role("button", name="Pages of Highwater").click()
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("button", name="Show again").click()
    page.get_by_role("note").wait_for()


def test_settings_hold_on_every_page(visit: Opener) -> None:
    page = visit("/")
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Theme").last.select_option("dark")
    page.get_by_label("Text").last.select_option("larger")
    page.get_by_label("A step is").select_option("moment")
    page.goto(page.url.rstrip("/") + "/s/S01")
    page.wait_for_selector('body[data-ready="1"]')
    root = page.locator("html")
    assert root.get_attribute("data-theme") == "dark"
    assert root.get_attribute("data-text") == "larger"
    assert more(page).get_by_role("radio", name="Moment").is_checked()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Pages of Highwater").click()
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Letters and digits as keys").select_option("off")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("2")
    moment = more(page).get_by_role("radio", name="Moment")
    assert moment.is_checked(), "digits are no keys any more"


def test_the_legend_numbers_every_sign(visit: Opener) -> None:
    page = visit("/s/S01")
    page.keyboard.press("?")
    page.wait_for_selector("#help .badges circle")
    signs = page.locator("#help ol.signs li").count()
    assert signs > 5
    assert page.locator("#help .badges circle").count() == signs


def test_paper_has_textures_instead_of_colours(visit: Opener) -> None:
    page = visit("/s/S20?step=30")
    page.emulate_media(media="print")
    fill = page.locator("#stage .cell.e0").first.evaluate("el => getComputedStyle(el).fill")
    assert "tex0" in fill
    page.wait_for_selector(".printlegend", state="visible")
    assert not page.locator("#deck").is_visible()
    assert page.locator(".caption").is_visible()
