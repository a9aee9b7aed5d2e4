"""Why something happened, or did not: rule cards, guards and the glossary, in a real browser."""

from __future__ import annotations

import pytest

from tests.conftest import sample
from tests.e2e.conftest import Opener
from tests.e2e.walk import at, jump


def test_the_rule_card_marks_the_lines_that_the_step_went_through(visit: Opener) -> None:
    page = visit("/s/S01?tab=why")
    jump(page, 14)
    card = page.locator('[data-rule="H-2"]')
    taken = card.locator("li.taken")
    assert taken.count() == 1
    assert "HW := candidate" in taken.inner_text() and "0 → 1" in taken.inner_text()
    assert "Partition.maybeIncrementLeaderHW" in card.inner_text()
    assert "KAFKA-15583" in card.inner_text()
    assert card.get_attribute("open") is not None
    assert page.locator('[data-rule="S-4"]').get_attribute("open") is None
    card.get_by_role("link", name="Glossary").wait_for()


def test_the_pseudo_code_is_that_of_the_profile(visit: Opener) -> None:
    page = visit("/s/S01?profile=Z0102&lang=zh&step=14&tab=why")
    card = page.locator('[data-rule="H-2"]')
    card.locator("li.taken").wait_for()
    assert "committed ISR" not in card.inner_text()
    assert "的计算" in card.inner_text()


def test_the_mark_says_what_it_waits_for_and_the_suggested_moves_move_it(visit: Opener) -> None:
    page = visit("/s/S01?step=7")
    for move in ("fetch 2", "fetch 3 x2"):
        page.get_by_role("button", name="Broker 1: why does the high watermark not move?").click()
        box = page.get_by_role("dialog")
        box.locator("li.no").first.wait_for()
        assert "counts and is known only up to 0; 1 is needed." in box.inner_text()
        box.get_by_role("button", name=move, exact=True).click()
        box.wait_for(state="hidden")
        end = page.get_by_label("Step of the run")
        page.wait_for_function("el => el.value === el.max", arg=end.element_handle())
    page.wait_for_selector('[data-id="b1:hw"][data-value="1"]')


def test_why_by_key_and_back_to_where_one_was(visit: Opener) -> None:
    page = visit("/s/S01?step=7&lang=zh&layers=pipes")
    pill = page.locator('[data-hit="why:b2:isr"]')
    pill.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.id === 'whybox'")
    assert "在 ISR 中" in page.locator("#whyhead").inner_text().replace("\u2009", " ")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.activeElement.closest('#whybox')")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.dataset.hit === 'why:b2:isr'")
    page.locator('[data-hit="b3"]').focus()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("w")
    page.wait_for_selector("#whybox:popover-open li.no")


def test_a_greyed_move_a_waiting_write_and_the_crown_can_be_asked(visit: Opener) -> None:
    page = visit("/s/S01?step=7")
    page.get_by_role("button", name="a: why is it not acknowledged?").click()
    page.wait_for_selector("#whybox:popover-open .guards .no")
    assert "The write of a is not acknowledged yet." in page.locator("#whyhead").inner_text()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Broker 1: why does it lead?").click()
    page.wait_for_selector("#whybox:popover-open .then.yes")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.locator("#typed").fill("restart 1")
    page.get_by_role("button", name="restart 1").click()
    page.wait_for_selector("#whybox:popover-open")
    page.get_by_role("dialog").get_by_role("button", name="kill 1").wait_for()


@pytest.mark.parametrize("lang", sample(["zh", "en"], 2))
def test_the_glossary_opens_a_run_to_see_a_rule_in(visit: Opener, lang: str) -> None:
    page = visit(f"/glossary?lang={lang}#H-2", ready=False)
    page.wait_for_selector('body[data-ready="1"]')
    page.get_by_role("searchbox").fill("H-2")
    page.locator("#answers a[href='/glossary#H-2']").click()
    page.wait_for_selector("#H-2:target")
    page.locator("#H-2 .see").click()
    page.wait_for_selector('[data-rule="H-2"] li.taken')


def test_an_answer_names_the_step_where_it_changes(visit: Opener) -> None:
    page = visit("/s/S01?step=7")
    page.keyboard.press("w")
    page.wait_for_selector("#whybox:popover-open li.no")
    page.get_by_role("button", name="In this run this changes at step 14").click()
    at(page, 14)
    page.wait_for_selector("#whybox", state="hidden")
