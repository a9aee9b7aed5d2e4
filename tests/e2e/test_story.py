"""The story: a run opens where it begins to matter, and few presses lead to its end."""

from __future__ import annotations

from typing import Any

from tests.e2e.conftest import Opener
from tests.e2e.walk import at, step_of, total


def told(visit: Opener, path: str, **options: Any) -> Any:
    """A page whose visitor has chosen no size of a step."""
    page = visit(path, **options)
    page.evaluate("localStorage.removeItem('highwater.size')")
    page.goto(f"{page.url.split('/s/')[0]}{path}&size=story")
    page.wait_for_selector('body[data-ready="1"]')
    return page


def test_a_run_opens_at_its_first_beat_and_the_prelude_is_one_press_back(visit: Opener) -> None:
    page = told(visit, "/s/gone-after-a-clean-election?profile=Z0102")
    at(page, 67)
    assert page.locator(".caption").inner_text().startswith("Maintenance has moved the leadership")
    page.keyboard.press("ArrowLeft")
    at(page, 0)


def test_twelve_presses_tell_the_run_and_its_loss(visit: Opener) -> None:
    page = told(visit, "/s/gone-after-a-clean-election?profile=Z0102")
    captions, asides = [], []
    while step_of(page) < total(page):
        here = step_of(page)
        page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "n => Number(document.querySelector('#stage').dataset.step) > n", arg=here
        )
        at(page, step_of(page))
        captions.append(page.locator(".caption").inner_text())
        asides += page.locator(".aside").all_inner_texts()
    assert 6 <= len(captions) <= 12
    assert all(captions), "every beat has a caption"
    assert captions[-1] == "The election was clean, no disk failed, and no log has m1 any more."
    assert page.locator(".caption").get_attribute("data-end") == "lost"
    assert "Lost: m1" in asides[-1], "the verdict stands beside the caption of the end"


def test_the_path_leads_on_from_the_card_at_its_end(visit: Opener) -> None:
    page = visit("/")
    page.locator(".steps li a").first.click()
    page.wait_for_selector('body[data-ready="1"]')
    titles = []
    for _ in range(4):
        page.locator(".pathplace", has_text="of 6").wait_for()
        titles.append(page.locator("h1").inner_text())
        page.keyboard.press("End")
        at(page, total(page))
        assert page.get_by_text("Next: ").count() == 1, "there is one way on"
        page.locator("#caption .btn.primary").click()
        page.wait_for_load_state()
        page.wait_for_selector('body[data-ready="1"]')
    assert len(set(titles)) == 4
    assert "/compare?with=Z011" in page.url
    page.locator(".titlebar .btn.primary").click()
    page.wait_for_url("**/s/a-cluster-that-lives*")


def test_the_end_leaves_the_picture_its_place(visit: Opener) -> None:
    page = visit("/s/min-isr-refuses")
    high = page.locator("#stagebox").bounding_box()["height"]
    page.keyboard.press("End")
    at(page, total(page))
    assert page.locator("#stagebox").bounding_box()["height"] == high


def test_the_first_button_plays_the_story_where_its_picture_stands(visit: Opener) -> None:
    page = visit("/", newcomer=True, reduced_motion="no-preference")
    page.locator(".dots .dot").nth(3).click()
    step = page.locator("#watch").get_attribute("href").split("step=")[1]
    page.locator("#watch").click()
    page.wait_for_selector('body[data-ready="1"]')
    assert page.evaluate("document.querySelector('#board').dataset.size") == "story"
    page.wait_for_function(f"() => Number(document.querySelector('#stage').dataset.step) > {step}")
    assert page.locator(".caption").inner_text().strip()
