"""The card after the twelve questions shows the score, the weak topics and what comes next."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import CALM, Server


def test_the_end_card_tells_score_and_weak_topic(browser: Any, server: Server) -> None:
    context = browser.new_context(**CALM)
    page = context.new_page()
    for number, answer in ((11, 0), (12, 0), (12, 1), (12, 2)):
        page.goto(f"{server.url}/learn?n={number}&answer={answer}&lang=en")
        page.wait_for_selector("body[data-ready]")
    page.click("#next")
    page.wait_for_url("**/learn?end=1")
    page.wait_for_selector("body[data-ready]")
    kept = page.evaluate("JSON.parse(localStorage.getItem('highwater.learn')).path")
    right = sum(kept.values())
    assert set(kept) == {"11", "12"}
    score = page.locator("#endscore")
    expect(score).to_have_text(f"{right} of 2 right. 10 not answered yet.")
    weak = page.locator("#weak")
    if right < 2:
        expect(weak).to_have_text("Look again at: What survives.")
    else:
        expect(weak).to_be_hidden()
    page.click("#afresh")
    page.wait_for_url("**/learn?n=1")
    page.goto(f"{server.url}/learn?end=1")
    expect(score).to_be_hidden()
    expect(page.locator("#next")).to_have_attribute("href", re.compile("mix=1"))
    context.close()
