"""Levels in a browser: solved by keyboard alone and by touch, and a link that plays a solution."""

from __future__ import annotations

from typing import Any, Final

import pytest

from engine.learn.levels import levels
from tests.e2e.conftest import Opener

LEVEL: Final = "/levels/high-watermark?lang=en"
LINK: Final = LEVEL + "&moves=kill+1;restart+1;kill+2;wait"
AT_PAR: Final = "Lost: m1 was acknowledged, and broker 3 leads without it. 3 moves: par."


def played(page: Any, moves: int) -> None:
    """Wait until this number of moves has been made, played out and judged."""
    told = f"{moves} move{'' if moves == 1 else 's'}"
    page.locator(".titlebar .pathplace", has_text=told).wait_for()
    page.locator('.transport [aria-label="Let time pass"]').wait_for()


def test_a_level_is_solved_by_keyboard_alone(visit: Opener) -> None:
    page = visit(LEVEL)
    page.locator(".goal").wait_for()
    for number, move in enumerate(("Kill broker 1", "Restart broker 1", "Kill broker 2"), 1):
        page.keyboard.press("b")
        page.locator("#breaksheet button", has_text=move).wait_for()
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent.trim()") == move:
                break
        page.keyboard.press("Enter")
        played(page, number)
        page.locator("#breaksheet").wait_for(state="detached")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Space")
    page.locator(".caption.kept", has_text=AT_PAR).wait_for()
    assert "level:high-watermark" in page.evaluate("localStorage['highwater.done']")
    page.goto(page.url.split("/levels")[0] + "/levels")
    page.locator('[data-level="high-watermark"]').wait_for()
    assert page.locator("[data-level]:visible").count() == 1


@pytest.mark.night
def test_a_level_is_solved_by_touch(visit: Opener) -> None:
    page = visit(
        "/levels/one-copy?lang=zh",
        apart=True,
        viewport={"width": 390, "height": 844},
        has_touch=True,
        locale="zh-CN",
    )
    # On a slow phone several changes are drawn in one frame.
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.locator("#breakit").tap()
    page.locator("#breaksheet button", has_text="写到 Broker 1").tap()
    told = page.locator(".titlebar .pathplace")
    told.filter(has_text="· 1 步 ·").wait_for()
    page.locator('[data-hit="b1"]').tap()
    page.get_by_role("dialog").get_by_role("button", name="杀掉 Broker 1").tap()
    told.filter(has_text="· 2 步 ·").wait_for()
    page.locator('.transport [aria-label="让时间流逝"]').tap()
    page.locator(".caption.kept", has_text="2 步，正是标准").wait_for()
    page.locator("#nextlevel").tap()
    page.locator(".goal", has_text=levels()["three-copies"].goal["zh-Hans"]).wait_for()


def test_the_link_of_a_solution_plays_it_and_marks_nothing(visit: Opener) -> None:
    page = visit(LINK, apart=True)
    page.locator(".caption.kept", has_text=AT_PAR).wait_for()
    assert page.evaluate("localStorage['highwater.done']") is None
    assert page.locator("#levellink").get_attribute("href") == page.url
    assert "moves=kill+1" in page.url


def test_undo_and_start_again(visit: Opener) -> None:
    page = visit(LEVEL)
    for number, broker in enumerate((3, 2), 1):
        page.keyboard.press("b")
        page.locator("#breaksheet button", has_text=f"Kill broker {broker}").click()
        played(page, number)
    page.keyboard.press("u")
    played(page, 1)
    page.locator('[data-id="b2"][data-alive="up"]').wait_for()
    page.locator("#again").click()
    played(page, 0)
    page.locator('[data-id="b3"][data-alive="up"]').wait_for()
    assert "moves=" not in page.url


def test_saying_that_it_cannot_be_lost_solves_some_levels(visit: Opener) -> None:
    page = visit("/levels/epochs?lang=en")
    page.locator("#never").click()
    told = f"{levels()['epochs'].states} states, 0 ways"
    page.locator(".caption.kept", has_text=told).wait_for()
    page.locator("#nextlevel").wait_for()
    page = visit(LEVEL)
    page.locator("#never").click()
    page.locator(".caption", has_text="It can be lost, in 3 moves.").wait_for()
    assert page.locator(".caption.kept").count() == 0


@pytest.mark.parametrize("typed", ["elect 2", "power 1"])
def test_a_move_of_another_level_is_refused(visit: Opener, typed: str) -> None:
    page = visit(LEVEL)
    page.keyboard.press("/")
    page.locator(".choices .movebtn").first.wait_for()
    page.locator("#typed").fill(typed)
    page.keyboard.press("Enter")
    page.locator('[data-notice="warn"]', has_text="This level has these moves only").wait_for()
    assert page.locator(".pathplace", has_text="0 moves").count()
