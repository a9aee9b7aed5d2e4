"""What was answered comes back on its day, and the memory travels as a file, by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.conftest import CALM, Server

READY = "body[data-ready]"
QUESTION = "/practice/question?s=S02&profile=K39&kind=hw"


def test_an_answer_comes_back_and_travels_as_a_file(
    browser: Any, server: Server, tmp_path: Path
) -> None:
    context = browser.new_context(**CALM, accept_downloads=True)
    page = context.new_page()
    page.clock.set_fixed_time("2026-03-02T09:00:00")

    def go(path: str) -> None:
        page.goto(f"{server.url}{path}")
        page.wait_for_selector(READY)

    go(f"{QUESTION}&answer=0&sure=3")
    asked = page.inner_text("#question")
    page.reload()
    page.wait_for_selector(READY)  # the same answer again is not another one
    go("/practice")
    assert "2026" in page.inner_text("#due")

    page.clock.set_fixed_time("2026-06-02T09:00:00")
    go("/practice")
    assert "Due today: 1" in page.inner_text("#due")
    page.focus("#begin [value=ten]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#session:not([hidden])")
    cards = page.evaluate("JSON.parse(sessionStorage.getItem('highwater.session')).cards")
    assert "S02 K39 hw" in [card["id"] for card in cards]
    go(QUESTION)
    assert page.inner_text("#question") == asked and page.locator(".choice").count()

    go("/practice")
    with page.expect_download() as saved:
        page.focus("#memorysave")
        page.keyboard.press("Enter")
    file = tmp_path / "memory.json"
    saved.value.save_as(file)
    bad = tmp_path / "bad.json"
    bad.write_text(file.read_text("utf-8").replace('"/practice', '"//practice'), "utf-8")
    page.set_input_files("#memoryload", bad)
    page.wait_for_function("() => document.getElementById('memorytold').textContent !== ''")
    assert page.inner_text("#memorytold") == page.get_attribute("#memorytold", "data-bad")
    page.evaluate("localStorage.clear()")
    go("/practice")
    assert "Due today" not in page.inner_text("#due")
    page.set_input_files("#memoryload", file)
    page.wait_for_selector("#calibration:not([hidden])")
    assert "Due today: 1" in page.inner_text("#due")

    go("/interview#Q1")
    page.wait_for_url("**/practice/Q1")
    page.wait_for_selector(READY)
    page.focus(".points > summary")
    page.keyboard.press("Enter")
    page.locator(".fact input").first.check()
    page.focus("#next")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: not url.endswith("/Q1"))
    cards = page.evaluate("JSON.parse(localStorage.getItem('highwater.memory')).cards")
    assert cards["Q1"]["href"] == "/practice/Q1" and len(cards) == 2
    context.close()
