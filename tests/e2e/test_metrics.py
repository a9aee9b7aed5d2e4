"""The operator's dashboard: what brokers say of themselves, and where that is not so."""

from __future__ import annotations

from typing import Any

from tests.e2e.conftest import Opener
from tests.e2e.walk import jump, panel, step_of


def dashboard(page: Any) -> Any:
    """Waits for the dashboard of the step the stage rests on."""
    page.wait_for_selector(f'#metrics[data-key$="@{step_of(page)}"]:not([aria-busy])')
    return page.locator("#metrics")


def cells(page: Any, metric: str) -> list[str]:
    return [text.strip() for text in page.locator(f'[data-metric="{metric}"] td').all_inner_texts()]


def test_an_isolated_leader_reports_what_is_not_so(visit: Opener) -> None:
    page = visit("/s/S38")
    panel(page, "Metrics")
    dashboard(page)
    assert cells(page, "LeaderCount") == ["1", "0", "0", "1"]
    assert page.locator("[data-off]").count() == 0
    jump(page, 108)
    dashboard(page)
    row = page.locator('[data-metric="LeaderCount"]')
    assert row.locator("td.wrong").inner_text().startswith("1 ≠ 0")
    assert row.locator("td.wrong .sr").text_content() == "but it is 0"
    assert row.get_attribute("data-off") == "1"
    assert "of them do not say what is so" in page.locator("#metrics").inner_text()
    name = row.get_by_role("button")
    assert name.inner_text() == "LeaderCount"
    group = page.locator("tbody", has=row).locator(".kind")
    assert group.inner_text() == "kafka.server:type=ReplicaManager"
    name.focus()
    page.keyboard.press("Enter")
    page.get_by_text("Partitions it believes to lead. So are those").wait_for()
    assert page.locator(".serverlog li").first.is_visible()
    page.locator(".serverlog .jump").last.click()
    page.wait_for_function("() => Number(document.querySelector('#stage').dataset.step) < 108")
