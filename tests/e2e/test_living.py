"""A cluster that lives: time goes on, and one press breaks a broker."""

from __future__ import annotations

from typing import Any

from tests.e2e.conftest import Opener
from tests.e2e.walk import STEPS, jump, run_of, runs, step_of


def living(visit: Opener) -> Any:
    page = visit("/s/a-cluster-that-lives?size=story", reduced_motion="no-preference")
    page.wait_for_function(STEPS, arg=32, timeout=40_000)
    return page


def press(page: Any, broker: int, verb: str) -> None:
    page.get_by_role("button", name=f"broker {broker}: what can be done").click()
    page.get_by_role("dialog").get_by_role("button", name=verb).first.click()


def test_after_the_leader_is_killed_another_broker_leads(visit: Opener) -> None:
    page = living(visit)
    press(page, 1, "Kill")
    page.wait_for_selector('[data-id="b1"][data-alive="down"]')
    page.locator(".caption", has_text="leader").wait_for(timeout=60_000)
    assert page.locator(".branch").count() == 0, "Undo is the way back"
    page.wait_for_function("() => localStorage.getItem('highwater.done')?.includes('S82')")


def test_time_stands_while_a_menu_is_open_and_when_it_is_paused(visit: Opener) -> None:
    page = living(visit)
    page.get_by_role("button", name="broker 2: what can be done").click()
    page.get_by_role("dialog").get_by_role("button", name="Freeze").wait_for()
    page.wait_for_selector("#stage:not([data-moving])", state="attached")
    here = step_of(page)
    page.wait_for_timeout(1200)
    assert step_of(page) == here
    page.keyboard.press("Escape")
    page.wait_for_function(STEPS, arg=here)
    page.get_by_role("button", name="Pause").click()
    page.wait_for_selector("#stage:not([data-moving])", state="attached")
    here = step_of(page)
    page.wait_for_timeout(1200)
    assert step_of(page) == here


def test_a_move_made_in_the_past_opens_a_branch(visit: Opener) -> None:
    page = living(visit)
    page.get_by_role("button", name="Pause").click()
    old = run_of(page)
    jump(page, 30)
    press(page, 3, "Freeze")
    runs(page, 3)
    assert run_of(page) != old


def test_a_step_is_one_write_or_one_fault_and_undo_brings_the_broker_back(visit: Opener) -> None:
    page = living(visit)
    page.get_by_role("button", name="Pause").click()
    page.wait_for_selector("#stage:not([data-moving])", state="attached")
    here = step_of(page)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        page.wait_for_function(STEPS, arg=here)
        page.wait_for_selector("#stage:not([data-moving])", state="attached")
        assert step_of(page) - here < 60, "it does not leap over what happens"
        here = step_of(page)
    assert "records written" in page.locator(".caption").inner_text()
    page.get_by_role("button", name="broker 1: what can be done").click()
    kill = page.get_by_role("dialog").get_by_role("button", name="Kill").first
    kill.wait_for()
    old, here = run_of(page), step_of(page)
    kill.click()
    page.wait_for_selector('[data-id="b1"][data-alive="down"]')
    assert page.locator(".branch").count() == 0, "nothing that was seen has changed"
    page.keyboard.press("Control+z")
    page.wait_for_selector('[data-id="b1"][data-alive="up"]')
    assert (run_of(page), step_of(page)) == (old, here)
