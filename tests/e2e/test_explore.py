"""From a step of the stage to every future of it, and to the shortest way to a loss."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.walk import more


@pytest.mark.parametrize("wide", [1280, 390])
def test_a_loss_is_found_from_a_step_and_watched(visit: Any, wide: int) -> None:
    page = visit("/s/S20?profile=Z0102&step=20", viewport={"width": wide, "height": 844})
    more(page).get_by_role("link", name="Can it go wrong from here?").click()
    page.locator("select[name=crashes]").select_option("2")
    page.locator("select[name=writes]").select_option("0")
    page.get_by_role("button", name="Search every future").click()
    answer = page.locator("#answer")
    answer.get_by_role("heading", name="Yes: 4 moves from here").wait_for(timeout=60_000)
    assert answer.locator("ol li").all_inner_texts() == [
        *("A crashes", "A starts again", "B crashes", "B starts again")
    ]
    assert answer.locator(".distances .near").count() == 3
    assert answer.locator(".distances .safe").count() == 2
    answer.get_by_role("link", name="Watch it happen").click()
    page.wait_for_selector('body[data-ready="1"]')
    assert "step=20" in page.url
    page.keyboard.press("End")
    page.locator("#caption").get_by_text("Gone:").first.wait_for()
