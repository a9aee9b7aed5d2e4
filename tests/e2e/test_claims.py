"""The deck of claims: answered by keyboard, kept in the browser, without a script, on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from engine.learn.claims import claims
from tests.e2e.conftest import CALM, Server


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(**CALM)
    yield context.new_page()
    context.close()


def test_the_deck_is_played_by_keyboard_and_goes_on_where_it_was_left(
    page: Any, server: Server
) -> None:
    page.goto(f"{server.url}/claims")
    page.wait_for_selector("body[data-ready]")
    asked = page.locator("#sentence").inner_text()
    page.keyboard.press("2")
    page.wait_for_url("**/claims/*said=false*")
    expect(page.locator("#verdict")).to_be_visible()
    expect(page.locator("h1")).to_have_text(asked)
    page.keyboard.press("Enter")
    page.wait_for_selector(".deckcard")
    assert page.locator("#sentence").inner_text() != asked
    score = page.locator("#score")
    expect(score).to_have_text(re.compile("1 answered, [01] right"))
    page.goto(f"{server.url}/claims")
    page.wait_for_url("**/claims?card=*")
    assert page.locator("#sentence").inner_text() != asked


def test_after_the_last_sentence_the_deck_says_so_and_starts_again(
    page: Any, server: Server
) -> None:
    page.goto(f"{server.url}/claims")
    every = dict.fromkeys(claims(), True)
    page.evaluate("all => localStorage.setItem('highwater.claims', JSON.stringify(all))", every)
    page.goto(f"{server.url}/claims")
    expect(page.locator("#over")).to_be_visible()
    page.click("#again")
    expect(page.locator("#over")).to_be_hidden()
    expect(page.locator("#score")).to_be_hidden()


@pytest.mark.parametrize("width", [390, 1440])
def test_the_deck_works_without_a_script(browser: Any, server: Server, width: int) -> None:
    context = browser.new_context(
        **{**CALM, "viewport": {"width": width, "height": 844}}, java_script_enabled=False
    )
    page = context.new_page()
    page.goto(f"{server.url}/claims")
    first = page.locator("#sentence").inner_text()
    for button in page.locator(".says button").all():
        box = button.bounding_box()
        assert box is not None and box["height"] >= 44 and box["x"] + box["width"] <= width
    page.locator(".says button").nth(2).click()
    expect(page.locator("#verdict")).to_be_visible()
    page.click("#next")
    assert page.locator("#sentence").inner_text() != first
    context.close()
