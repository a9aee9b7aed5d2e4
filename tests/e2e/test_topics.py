"""Topics that come and go, several log directories, and the empty canvas."""

from __future__ import annotations

from typing import Any

from tests.e2e.conftest import Opener
from tests.e2e.walk import jump, panel, step_of, total, typed


def play(page: Any, move: str) -> None:
    """Types a move at the end of the run, and goes to where it ends."""
    before = total(page)
    typed(page, move)
    page.wait_for_function(
        "before => Number(document.querySelector('.rail input').dataset.total) > before", arg=before
    )
    jump(page, total(page))


def test_the_empty_canvas_takes_any_move(visit: Opener) -> None:
    page = visit("/s/S60?layers=controller")
    assert (total(page), step_of(page)) == (0, 0)
    play(page, "create_topic orders partitions=2 factor=2")
    parts = page.get_by_label("Partition", exact=True)
    tabs = parts.get_by_role("button")
    assert tabs.all_inner_texts() == ["t-0", "orders-0", "orders-1"]
    tabs.nth(1).click()
    play(page, "produce a p=orders-0 acks=1")
    page.locator('[data-record="a"]').first.wait_for()
    play(page, "delete_topic t")
    assert tabs.all_inner_texts() == ["orders-0", "orders-1"]
    assert page.locator('[data-record="a"]').count() >= 1, "the partition looked at stays"
    play(page, "delete_topic orders")
    assert "no topic" in page.locator('[data-id="K"]').first.text_content()
    panel(page, "Checks")
    page.get_by_role("tabpanel").get_by_text(
        "Once all faults are repaired, the replicas become equal"
    ).first.wait_for()


def test_a_failed_directory_is_drawn_where_it_is(visit: Opener) -> None:
    page = visit("/s/S50?step=66")
    card = page.locator("g.broker[data-id=b1]")
    assert "d1 failed" in card.text_content() and "offline" in card.text_content()
    page.get_by_label("Partition", exact=True).get_by_role("button").nth(1).click()
    page.wait_for_function(
        "() => document.querySelector('g.broker[data-id=b1]').dataset.role === 'leader'"
    )
    assert "d1 failed" in card.text_content()
