"""What was answered comes back on its day, and the memory travels as a file, by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.conftest import CALM, Server

READY = "[data-memory]"


def test_an_answer_comes_back_and_travels_as_a_file(
    browser: Any, server: Server, tmp_path: Path
) -> None:
    context = browser.new_context(**CALM, accept_downloads=True)
    page = context.new_page()
    page.clock.set_fixed_time("2026-03-02T09:00:00")

    def go(path: str) -> None:
        page.goto(f"{server.url}{path}")
        page.wait_for_selector(READY)

    go("/learn?n=1&answer=0&sure=3")
    asked = page.inner_text("#question")
    page.reload()
    page.wait_for_selector(READY)  # the same answer again is not another one
    go("/learn")
    assert page.locator("#duelist li").count() == 0 and "2026" in page.inner_text("#duesaid")

    page.clock.set_fixed_time("2026-06-02T09:00:00")
    go("/learn")
    assert page.inner_text("#duelist li") == asked
    page.focus("#duelist a")
    page.keyboard.press("Enter")
    page.wait_for_selector(".choice")
    assert page.inner_text("#question") == asked and "answer=" not in page.url

    go("/learn")
    with page.expect_download() as saved:
        page.focus("#memorysave")
        page.keyboard.press("Enter")
    file = tmp_path / "memory.json"
    saved.value.save_as(file)
    bad = tmp_path / "bad.json"
    bad.write_text(file.read_text("utf-8").replace('"/learn', '"//learn'), "utf-8")
    page.set_input_files("#memoryload", bad)
    page.wait_for_function("() => document.getElementById('memorytold').textContent !== ''")
    assert page.inner_text("#memorytold") == page.get_attribute("#memorytold", "data-bad")
    assert page.locator("#duelist li").count() == 1
    page.evaluate("localStorage.clear()")
    go("/learn")
    assert page.locator("#duelist li").count() == 0
    page.set_input_files("#memoryload", file)
    page.wait_for_selector("#duelist li")
    assert page.locator("#calibration").is_visible()

    go("/interview#Q1")
    page.focus("#Q1 .grading button[value=hard]")
    page.keyboard.press("Enter")
    assert page.inner_text("#Q1 .grading [role=status]")
    cards = page.evaluate("JSON.parse(localStorage.getItem('highwater.memory')).cards")
    assert cards["Q1"]["href"] == "/interview#Q1" and len(cards) == 2
    context.close()
