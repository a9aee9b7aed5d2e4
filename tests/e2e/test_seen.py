"""Real brokers beside the model: from the stage's badge to a recording, moment by moment."""

from __future__ import annotations

from tests.e2e.conftest import Opener


def test_a_recording_is_followed_from_the_badge_to_the_loss(visit: Opener) -> None:
    page = visit("/s/R20?profile=Z0102")
    page.locator("a.seenreal").click()
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
    page.get_by_role("link", name="Open this moment on the stage").click()
    page.wait_for_selector("#ending [role=alert]")
