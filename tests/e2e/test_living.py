"""A cluster that lives: time goes on, and one press breaks a broker."""

from __future__ import annotations

from typing import Any

from tests.e2e.conftest import Opener
from tests.e2e.walk import jump, run_of, step_of

STEPS = "n => Number(document.querySelector('#stage').dataset.step) > n"


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
    assert page.locator(".branch").count() == 2, "what nobody has seen is no branch"
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
    page.wait_for_function("() => document.querySelectorAll('.branch').length === 3")
    assert run_of(page) != old
