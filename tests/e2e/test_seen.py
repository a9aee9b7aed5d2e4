"""Real brokers beside the model: from the stage's badge to a recording, moment by moment."""

from __future__ import annotations

from tests.e2e.conftest import Opener
from tests.e2e.walk import more


def test_a_recording_is_followed_from_the_badge_to_the_loss(visit: Opener) -> None:
    page = visit("/s/R20?profile=Z0102")
    more(page).locator("a.seenreal").click()
    page.wait_for_url("**/s/R20/real/0.10.2.2")
    page.wait_for_selector('body[data-ready="1"]')
    page.evaluate("document.body.dataset.same = '1'")
    for _ in range(19):
        page.keyboard.press("ArrowRight")
    page.wait_for_selector(".seen .lost")
    assert "at=19" in page.url
    assert page.locator("svg[data-picture]").count() == 2
    page.get_by_role("link", name="Model", exact=True).click()
    page.wait_for_selector('.pair.model svg[data-picture="model"]')
    assert page.locator("svg[data-picture]").count() == 1
    assert page.evaluate("document.body.dataset.same") == "1", "it was one page all the time"
    page.get_by_role("link", name="Open this moment in the run").click()
    page.wait_for_selector(".caption[role=alert]")


def test_the_stage_shows_real_brokers_at_the_same_step(visit: Opener) -> None:
    page = visit("/s/R20?profile=Z011&step=160")
    step = page.locator("#stage").get_attribute("data-step")
    more(page).locator(".reals button").nth(2).click()
    page.wait_for_selector(".reality .verdict")
    more(page).locator(".reals select").select_option("0.10.2.2")
    page.wait_for_selector('.reality[aria-label$="0.10.2.2"] .verdict')
    assert "show=both" in page.url
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("End")
    page.wait_for_selector(".reality .lost")
    assert page.locator(".reality .verdict.same").count() == 1
    low, high = (
        page.locator(f"{where} .tankwall").first.bounding_box() for where in ("#stage", ".scene")
    )
    assert low and high and abs(low["y"] - high["y"]) < 1, "equal height is equal offset"
    page.goto(page.url)
    page.wait_for_selector(".reality .lost")
    more(page).locator(".reals button").nth(1).click()
    page.wait_for_selector("#stage", state="hidden")
    more(page).locator(".reals button").first.click()
    page.wait_for_selector("#stage")
    assert page.locator(".reality").count() == 0
    assert "show=" not in page.url
    assert step == "160"
