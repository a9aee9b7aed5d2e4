"""Two browsers in one room: one leads, the other follows, looks around and comes back."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.e2e.axe import violations
from tests.e2e.conftest import Opener, Server
from tests.e2e.walk import at, jump, run_of, step_of, typed


def started(page: Any) -> str:
    """Starts a class from the share dialog; the path of its address."""
    page.get_by_role("button", name="Share").click()
    page.get_by_role("tab", name="Class").click()
    page.get_by_role("button", name="Start a class").click()
    address = page.get_by_label("Address of the class", exact=True).input_value()
    assert page.get_by_role("img", name="QR code").is_visible()
    page.keyboard.press("Escape")
    return str(address[address.index("/class/") :])


def move(page: Any, text: str) -> None:
    typed(page, text)


def same_run(page: Any, run: str) -> None:
    """Waits until the page watches this run."""
    page.wait_for_selector(f'#board[data-run="{run}"]', state="attached")


def is_in(page: Any, state: str) -> None:
    page.wait_for_selector(f'[data-class="{state}"]')


def test_followers_see_the_leaders_steps_and_branches(visit: Opener) -> None:
    leader = visit("/s/S01")
    jump(leader, 4)
    path = started(leader)
    assert violations(leader) == []
    follower = visit(path)
    at(follower, 4)
    same_run(follower, run_of(leader))
    leader.get_by_text("1 follows.").wait_for()
    leader.keyboard.press("ArrowRight")
    at(leader, step_of(leader))
    at(follower, step_of(leader))
    move(leader, "kill 3")
    leader.wait_for_selector('[data-id="b3"][data-alive="down"]')
    same_run(follower, run_of(leader))
    follower.wait_for_selector('[data-id="b3"][data-alive="down"]')
    at(follower, step_of(leader))
    late = visit(f"{path}?lang=zh")
    at(late, step_of(leader))
    same_run(late, run_of(leader))
    is_in(late, "follow")
    leader.get_by_text("2 follow.").wait_for()
    assert follower.url.endswith(path)


def test_a_follower_looks_around_and_comes_back(visit: Opener) -> None:
    leader = visit("/s/S01")
    jump(leader, 3)
    follower = visit(started(leader))
    at(follower, 3)
    is_in(follower, "follow")
    follower.keyboard.press("ArrowRight")
    is_in(follower, "own")
    own = step_of(follower)
    assert own != 3
    leader.get_by_text("1 looks around.").wait_for()
    jump(leader, 9)
    follower.get_by_text("It is at step 9.").wait_for()
    move(follower, "kill 2")
    follower.wait_for_selector('[data-id="b2"][data-alive="down"]')
    follower.get_by_text("It is at step 9 of another run.").wait_for()
    follower.get_by_role("button", name="Follow again").click()
    at(follower, 9)
    same_run(follower, run_of(leader))
    jump(leader, 6)
    at(follower, 6)
    follower.get_by_role("button", name="Look around").click()
    is_in(follower, "own")
    leader.get_by_role("button", name="Address", exact=True).click()
    leader.get_by_role("button", name="End the class").click()
    is_in(follower, "ended")
    assert leader.locator("[data-class]").count() == 0
    follower.wait_for_url(re.compile(r"/r/[0-9a-f]{16}\?step=6"))


def test_the_lead_is_kept_over_a_reload_and_another_run(visit: Opener, server: Server) -> None:
    leader = visit("/s/S01")
    path = started(leader)
    follower = visit(path)
    jump(leader, 5)
    at(follower, 5)
    leader.reload()
    is_in(leader, "lead")
    leader.wait_for_selector('body[data-ready="1"]')
    jump(leader, 7)
    at(follower, 7)
    leader.goto(f"{server.url}/s/S20?step=9")
    at(follower, 9)
    same_run(follower, run_of(leader))
    # A new tab of the same browser may take the lead over, and the first is told.
    second = leader.context.new_page()
    second.goto(server.url + path)
    second.get_by_role("button", name="Lead from here").click()
    is_in(second, "lead")
    is_in(leader, "own")


@pytest.mark.night
def test_a_restart_of_the_server_brings_the_class_together_again(
    visit: Opener, frail: Server
) -> None:
    leader = visit("/s/S01", site=frail)
    jump(leader, 3)
    follower = visit(started(leader), site=frail)
    at(follower, 3)
    move(leader, "kill 3")
    follower.wait_for_selector('[data-id="b3"][data-alive="down"]')
    frail.stop()
    follower.wait_for_selector("[data-offline]")
    leader.wait_for_selector("[data-offline]")
    leader.context.set_offline(True)
    frail.start()
    is_in(follower, "away")
    leader.context.set_offline(False)
    leader.wait_for_selector("[data-offline]", state="detached", timeout=20_000)
    leader.get_by_text("1 follows.").wait_for()
    is_in(follower, "follow")
    jump(leader, 2)
    at(follower, 2)
    same_run(follower, run_of(leader))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_axe_finds_nothing_in_a_class(visit: Opener, lang: str) -> None:
    leader = visit("/s/S01")
    path = started(leader)
    page = visit(
        f"{path}?lang={lang}", color_scheme="dark", viewport={"width": 320, "height": 1000}
    )
    assert violations(page) == []
    page.keyboard.press("ArrowRight")
    is_in(page, "own")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_class_that_is_not_is_explained(visit: Opener) -> None:
    page = visit("/class/abc-defg-hjk", ready=False)
    assert "There is no class abc-defg-hjk now" in page.locator("main").inner_text()
