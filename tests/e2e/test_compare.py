"""One run under two profiles, in a browser: found from the run, gone through by its differences."""

from __future__ import annotations

from typing import Any

from tests.e2e.conftest import Opener
from tests.e2e.walk import run_of


def pair(page: Any) -> int:
    return int(page.get_attribute("#both", "data-at"))


def at(page: Any, number: int) -> None:
    page.wait_for_selector(f'#both[data-at="{number}"]')


def test_from_a_run_to_its_first_difference_and_on(visit: Opener) -> None:
    page = visit("/s/R20?profile=Z0102")
    run = run_of(page)
    page.get_by_role("link", name="Compare").click()
    page.wait_for_url(f"**/r/{run}/compare**")
    page.wait_for_selector('body[data-ready="1"]')
    page.select_option("select[name=with]", "Z011")
    page.wait_for_url("**with=Z011**")
    page.wait_for_selector('body[data-ready="1"]')
    line = page.locator(".verdictline")
    assert "LEO 1 ≠ 2" in line.inner_text()
    sides = page.locator(".side")
    assert [page.locator(f"pattern#{name}").count() for name in ("hatch", "off")] == [1, 1]
    assert sides.nth(0).locator('[data-id="b3"].differs').count() == 1
    first = pair(page)
    page.get_by_role("button", name="Step back").click()
    at(page, first - 1)
    assert "No difference up to here" in line.inner_text()
    assert page.locator(".differs").count() == 0
    page.keyboard.press("n")
    at(page, first)
    page.get_by_role("button", name="Next difference").click()
    page.wait_for_function(f"Number(document.getElementById('both').dataset.at) > {first}")
    assert f"at={pair(page)}" in page.url, "the address opens the same pair"


def test_it_opens_where_logs_part_beside_the_nearest_other_ending(visit: Opener) -> None:
    page = visit("/s/R20?profile=Z0102")
    page.get_by_role("link", name="Compare").click()
    page.wait_for_url("**with=Z011**")
    page.wait_for_selector('body[data-ready="1"]')
    assert "log 1" in page.locator(".verdictline").inner_text()
    left, right = (page.locator(".side").nth(i).bounding_box() for i in (0, 1))
    assert left["y"] == right["y"] and left["x"] + left["width"] <= right["x"]
