"""Consumers in the editor: one by one, with their reset policy, rack and epochs."""

from __future__ import annotations

from tests.e2e.conftest import Opener


def test_consumers_are_edited_one_by_one(visit: Opener) -> None:
    page = visit("/edit/S71")
    part = page.locator("details.part", has=page.get_by_text("consumers: 4"))
    part.locator("summary").first.click()
    assert part.get_by_label("auto.offset.reset").count() == 4
    assert part.get_by_label("notices truncation").nth(0).is_checked() is False
    part.get_by_label("auto.offset.reset").nth(0).select_option("latest")
    page.wait_for_function("() => /reset: latest/.test(document.querySelector('#yaml').value)")
    part.get_by_role("button", name="Remove consumer 4").click()
    page.get_by_text("consumers: 3").wait_for()
    page.get_by_role("button", name="+ consumer", exact=True).click()
    page.get_by_text("consumers: 4").wait_for()
