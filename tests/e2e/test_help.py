"""First visit, settings, legend, paper: what helps without being asked twice."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import HERE, Opener
from tests.e2e.walk import at

AXE = HERE / "vendor" / "axe-4.14.1.min.js"


def test_coach_marks_stand_once_and_can_be_skipped(visit: Opener) -> None:
    page = visit("/s/S01", newcomer=True)
    mark = page.get_by_role("note")
    assert "1 / 4" in mark.inner_text()
    page.keyboard.press("ArrowRight")
    at(page, 1)
    page.get_by_text("2 / 4").wait_for()
    mark.get_by_role("button", name="Next").click()
    page.get_by_text("3 / 4").wait_for()
    mark.get_by_role("button", name="Skip").click()
    mark.wait_for(state="detached")
    page.reload()
    page.wait_for_selector('body[data-ready="1"]')
    assert page.get_by_role("note").count() == 0
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
    assert page.get_by_role("radio", name="Moment").is_checked()
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Letters and digits as keys").select_option("off")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("2")
    assert page.get_by_role("radio", name="Moment").is_checked(), "digits are no keys any more"


def test_the_legend_numbers_every_sign(visit: Opener) -> None:
    page = visit("/s/S01")
    page.keyboard.press("?")
    page.wait_for_selector("#help .badges circle")
    signs = page.locator("#help ol.signs li").count()
    assert signs > 10
    assert page.locator("#help .badges circle").count() == signs


def test_paper_has_textures_instead_of_colours(visit: Opener) -> None:
    page = visit("/s/S20?step=30")
    page.emulate_media(media="print")
    fill = page.locator("#stage .cell.e0").first.evaluate("el => getComputedStyle(el).fill")
    assert "tex0" in fill
    assert page.locator(".printlegend").is_visible()
    assert not page.locator("#deck").is_visible()
    assert page.locator("#say .what").is_visible()


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible(visit: Opener, lang: str, scheme: str) -> None:
    for path in ("/", "/edit/S20", "/s/S20?plain=1&step=40"):
        mark = "&" if "?" in path else "?"
        ready = "plain" not in path
        options = {"color_scheme": scheme, "bypass_csp": True, "ready": ready}
        page = visit(f"{path}{mark}lang={lang}", **options)
        if ready:
            page.locator("#settingsbutton").click()
        page.add_script_tag(path=str(AXE))
        found = page.evaluate(
            """async () => (await axe.run({runOnly:
            ["wcag2a","wcag2aa","wcag21aa","wcag22aa"]})).violations.map(
            v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | "))"""
        )
        assert found == [], path
        page.close()


@pytest.mark.parametrize("path", ["/", "/edit/S20", "/s/S20?plain=1", "/s/S20"])
@pytest.mark.parametrize("width", [320, 390, 1024])
def test_no_page_scrolls_sideways(visit: Opener, path: str, width: int) -> None:
    size = {"width": width, "height": 800}
    page = visit(path, viewport=size, ready="plain" not in path)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
