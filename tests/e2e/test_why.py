"""Why something happened, or did not: rule cards, guards and the glossary, in a real browser."""

from __future__ import annotations

from tests.e2e.conftest import Opener
from tests.e2e.walk import jump


def test_the_rule_card_marks_the_lines_that_the_step_went_through(visit: Opener) -> None:
    page = visit("/s/S01")
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
    page = visit("/s/S01?profile=Z0102&lang=zh&step=14")
    card = page.locator('[data-rule="H-2"]')
    card.locator("li.taken").wait_for()
    assert "committed ISR" not in card.inner_text()
    assert "领导者的计算" in card.inner_text()
