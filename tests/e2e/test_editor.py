"""The editor: form and text follow each other, lines move, a try is seen, what happened is kept."""

from __future__ import annotations

import re
from typing import Any

from tests.e2e.conftest import Opener
from tests.e2e.walk import more, typed


def test_either_side_changes_the_other_and_mistakes_have_a_place(visit: Opener) -> None:
    page = visit("/edit")
    text = page.get_by_label("The same as YAML")
    page.get_by_label("Question", exact=True).fill("Who wins?")
    page.get_by_label("Question", exact=True).press("Enter")
    page.wait_for_function("() => document.querySelector('#yaml').value.includes('Who wins?')")
    text.fill("title: Other?\nscript: |\n  fech 2\n  settle\n")
    jump = page.get_by_role("button", name="Line 3, column 3:")
    jump.click()
    assert page.evaluate("document.getElementById('yaml').selectionStart") == 26
    assert page.locator("input[name=move]").first.get_attribute("aria-invalid") == "true"
    page.locator("input[name=move]").first.fill("fetch 2")
    page.locator("input[name=move]").first.press("Enter")
    page.get_by_text("No problems found.").wait_for()
    assert "fetch 2" in text.input_value()


def test_typed_text_outlives_a_response(visit: Opener) -> None:
    page = visit("/edit")
    second = page.locator("input[name=move]").nth(1)
    page.get_by_label("Question", exact=True).fill("Who wins?")
    page.get_by_label("Question", exact=True).press("Enter")
    second.press("End")
    page.keyboard.type(" late")
    page.wait_for_function("() => document.querySelector('#yaml').value.includes('Who wins?')")
    assert second.input_value() == "fetch 2 x2 late"


def test_lines_move_by_button_by_key_and_by_dragging(visit: Opener) -> None:
    page = visit("/edit")
    moves = page.locator("input[name=move]")

    def becomes(*order: str) -> None:
        page.wait_for_function(
            "want => [...document.querySelectorAll('input[name=move]')]"
            ".map(i => i.value.split(' ').slice(0, 2).join(' ')).join() === want",
            arg=",".join(order),
        )

    becomes("produce m0", "fetch 2", "fetch 3")
    page.get_by_role("button", name="Line 1 down").click()
    becomes("fetch 2", "produce m0", "fetch 3")
    moves.nth(2).press("Alt+ArrowUp")
    becomes("fetch 2", "fetch 3", "produce m0")
    page.locator(".grip").nth(2).drag_to(page.locator(".move").nth(0))
    becomes("produce m0", "fetch 2", "fetch 3")


def test_a_script_is_tried_judged_and_saved(visit: Opener) -> None:
    page = visit("/edit/S03")
    page.get_by_label("Expected under Kafka 0.10.2").fill("violates I7")
    page.get_by_label("Expected under Kafka 0.10.2").press("Enter")
    wrong = "/Z0102: .*violates I7/.test(document.querySelector('#yaml').value)"
    page.wait_for_function(f"() => {wrong}")
    page.get_by_role("button", name="Play under all profiles").click()
    page.get_by_text("Is this what you expected?").wait_for()
    page.get_by_role("button", name="Yes").click()
    page.wait_for_function(f"() => !{wrong}")
    page.get_by_role("button", name="Try", exact=True).click()
    page.wait_for_selector('#stage[data-step="0"] .lanegroup')
    page.get_by_role("button", name="Step on").click()
    page.wait_for_selector('#stage[data-step="1"]')
    page.get_by_role("button", name="Save and get a link").click()
    link = page.locator("a[href*='/s/']")
    link.wait_for()
    assert re.search(r"/s/[0-9a-f]{16}$", link.get_attribute("href") or "")
    assert re.search(r"/edit/[0-9a-f]{16}$", page.url)


def held(page: Any, where: str) -> list[Any]:
    """The questions that go there from now on, each waiting until its `continue_` is called."""
    questions: list[Any] = []
    page.route(where, lambda route: questions.append(route))
    return questions


def until_one_waits(page: Any, questions: list[Any]) -> None:
    for _ in range(150):
        if questions:
            return
        page.wait_for_timeout(100)
    raise AssertionError("nothing was asked")


def test_a_press_counts_while_a_change_is_being_played(visit: Opener) -> None:
    page = visit("/edit/S03", apart=True)
    page.locator("#trying[data-run]").wait_for()
    page.get_by_role("button", name="To the beginning").click()
    page.wait_for_selector('#stage[data-step="0"]:not([data-moving])')
    tries = held(page, "**/api/scenarios/try")
    before = page.locator("#trying").get_attribute("data-run")
    page.locator("input[name=move]").last.fill("kill 1")
    page.locator("input[name=move]").last.press("Enter")
    until_one_waits(page, tries)
    page.get_by_role("button", name="Step on").click()
    page.wait_for_selector('#stage[data-step="1"]')
    tries.pop().continue_()
    page.wait_for_selector(f'#trying:not([data-run="{before}"])')
    assert page.locator("#stage").get_attribute("data-step") == "1"


def test_a_try_is_not_undone_by_an_answer_that_comes_late(visit: Opener) -> None:
    page = visit("/edit/S03", apart=True)
    page.locator("#trying[data-run]").wait_for()
    tries = held(page, "**/api/scenarios/try")
    page.locator("input[name=move]").last.fill("kill 1")
    page.locator("input[name=move]").last.press("Enter")
    until_one_waits(page, tries)
    late = tries.pop()
    page.get_by_role("button", name="Try", exact=True).click()
    until_one_waits(page, tries)
    tries.pop().continue_()
    page.wait_for_selector('#stage[data-step="0"]')
    with page.expect_response("**/api/scenarios/try") as answered:
        late.continue_()
    answered.value.finished()
    page.wait_for_timeout(500)
    assert page.locator("#stage").get_attribute("data-step") == "0"


def test_actions_on_the_cluster_become_lines(visit: Opener) -> None:
    page = visit("/edit")
    moves = page.locator("input[name=move]")
    page.locator('[data-hit="b1"]').click()
    page.locator(".menu").get_by_role("button", name="kill 1").click()
    page.wait_for_selector('#stage [data-id="b1"][data-alive="down"]')
    assert moves.last.input_value() == "kill 1"
    page.get_by_role("button", name="To the beginning").click()
    page.wait_for_selector('#stage[data-step="0"]')
    page.get_by_role("button", name="Step on").click()
    page.wait_for_selector('#stage[data-step="1"]:not([data-moving])')
    page.locator('[data-hit="b3"]').click()
    page.locator(".menu").get_by_role("button", name="kill 3").click()
    page.wait_for_selector('#stage [data-id="b3"][data-alive="down"]')
    assert moves.nth(1).input_value() == "kill 3", "a press in the middle is a line in the middle"
    page.get_by_role("link", name="a rack loses power").click()
    page.wait_for_function("() => document.querySelector('#yaml')?.value.includes('power 1')")
    page.locator("#stage svg").first.wait_for()


def test_a_run_of_the_animator_becomes_a_scenario(visit: Opener) -> None:
    page = visit("/s/S01")
    typed(page, "kill 1")
    page.wait_for_function("() => location.hash.startsWith('#run=')")
    more(page).get_by_role("link", name="Make a scenario").click()
    page.wait_for_url("**/edit?run=*")
    page.wait_for_function(
        "() => [...document.querySelectorAll('input[name=move]')].at(-1)?.value === 'kill 1'"
    )
    asked = page.locator(".asked").last
    sentence = asked.locator("span").inner_text()
    asked.get_by_role("button", name="Use this sentence").click()
    page.wait_for_function("s => document.querySelector('#yaml').value.includes(s)", arg=sentence)


def test_save_takes_what_is_being_typed(visit: Opener) -> None:
    page = visit("/edit")
    page.get_by_label("Question", exact=True).fill("Who wins?")
    page.get_by_role("button", name="Save and get a link").click()
    saved = page.locator(".bar.ok")
    saved.wait_for()
    assert saved.inner_text().startswith("Saved")
    page.goto(saved.get_by_role("link").get_attribute("href"))
    page.get_by_role("heading", level=1).get_by_text("Who wins?").wait_for()


def test_a_new_line_is_empty_and_has_the_focus(visit: Opener) -> None:
    page = visit("/edit")
    rows = page.locator("input[name=move]")
    before = rows.count()
    page.get_by_role("button", name="+ move").click()
    page.keyboard.type("tick 1")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#yaml').value.includes('tick 1')")
    assert rows.count() == before + 1


def test_changes_are_undone_and_redone(visit: Opener) -> None:
    page = visit("/edit")
    text = page.get_by_label("The same as YAML")
    first = text.input_value()

    def becomes(value: str) -> None:
        page.wait_for_function("v => document.querySelector('#yaml').value === v", arg=value)

    page.get_by_role("button", name="Remove Line 1").click()
    page.wait_for_function("v => document.querySelector('#yaml').value !== v", arg=first)
    second = text.input_value()
    page.locator(".begin .chip").first.click()
    page.wait_for_function("v => document.querySelector('#yaml').value !== v", arg=second)
    page.get_by_role("button", name="Undo").click()
    becomes(second)
    page.locator("h1").click()
    page.keyboard.press("Control+z")
    becomes(first)
    page.keyboard.press("Control+Shift+z")
    becomes(second)
