"""Moves: by click, typed, impossible, in the past; branches, saving and violations."""

from __future__ import annotations

import highwater as hw
from tests.e2e.conftest import Opener
from tests.e2e.walk import at, jump, run_of, step_of, total


def test_killing_by_click_opens_a_branch_and_keeps_the_old_future(visit: Opener) -> None:
    page = visit("/s/S01")
    old = run_of(page)
    jump(page, 4)
    page.get_by_role("button", name="broker 2: what can be done").click()
    page.get_by_role("dialog").get_by_role("button", name="kill 2").click()
    page.wait_for_selector('[data-id="b2"][data-alive="down"]')
    assert run_of(page) != old
    branches = page.get_by_role("list", name="Branches").locator(".branch")
    assert branches.count() == 2
    assert "#run=2." in page.url
    page.go_back()
    page.wait_for_function("old => document.body.innerHTML.includes(`run=${old}`)", arg=old)
    at(page, 4)
    page.go_forward()
    page.wait_for_selector('[data-id="b2"][data-alive="down"]')
    branches.first.click()
    page.wait_for_function("old => document.body.innerHTML.includes(`run=${old}`)", arg=old)
    assert run_of(page) == old
    assert page.get_attribute('[data-id="b2"]', "data-alive") == "up"


def test_a_typed_move_is_the_same_run_as_a_clicked_one(visit: Opener) -> None:
    digests = []
    for typed in (True, False):
        page = visit("/s/S01")
        jump(page, 4)
        if typed:
            page.get_by_label("Type a move").fill("kill 2")
            page.keyboard.press("Enter")
        else:
            page.get_by_role("button", name="broker 2: what can be done").click()
            page.get_by_role("dialog").get_by_role("button", name="kill 2").click()
        page.wait_for_selector('[data-id="b2"][data-alive="down"]')
        digests.append(run_of(page))
    assert digests[0] == digests[1]


def test_an_impossible_move_says_why_and_changes_nothing(visit: Opener) -> None:
    page = visit("/s/S01")
    run = run_of(page)
    place = "() => JSON.stringify(document.getElementById('board').getBoundingClientRect())"
    before = page.evaluate(place)
    page.get_by_label("Type a move").fill("restart 1")
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-notice="warn"]')
    assert page.evaluate(place) == before, "what is said of a refusal moves nothing"
    assert run_of(page) == run and step_of(page) == 0
    page.get_by_label("Type a move").fill("fly me to the moon")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => document.querySelector('[data-notice]').textContent.includes('fly')"
    )


def test_an_unsaved_branch_survives_a_reload_by_its_link(visit: Opener) -> None:
    page = visit("/s/S01")
    jump(page, 3)
    page.get_by_label("Type a move").fill("kill 3")
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-id="b3"][data-alive="down"]')
    page.wait_for_url("**#run=2.*")
    run, step = run_of(page), step_of(page)
    page.reload()
    page.wait_for_selector('body[data-ready="1"]')
    at(page, step)
    assert run_of(page) == run


def test_a_violation_is_told_in_words_with_the_lost_records(visit: Opener) -> None:
    page = visit("/s/R20?profile=Z0102")
    page.keyboard.press("n")
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "Lost: m1" in alert.inner_text()
    assert "m1" in alert.inner_text()
    page.get_by_role("tab", name="Checks").click()
    page.locator('[data-inv="I7"].bad').wait_for()
    first = step_of(page)
    alert.get_by_role("button", name="Close").click()
    alert.wait_for(state="detached")
    jump(page, first - 1)
    jump(page, first)
    alert.wait_for()


def test_a_move_at_the_end_plays_on(visit: Opener) -> None:
    page = visit("/s/S01")
    page.keyboard.press("End")
    end = total(page)
    at(page, end)
    page.get_by_label("Type a move").fill("produce z")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => Number(document.querySelector('#stage').dataset.step) > {end}")
    assert page.locator('[data-record="z"]').count() >= 0
    assert total(page) > end


def test_every_panel_opens_and_says_something(visit: Opener) -> None:
    page = visit("/s/S20?step=6")
    for name in ("Now", "Inspect", "Moves", "Log", "Checks"):
        page.get_by_role("tab", name=name).click()
        page.wait_for_function(
            "() => document.querySelector('#panel').innerText.trim().length > 20"
        )
    page.get_by_role("tab", name="Log").click()
    page.locator(".log li").nth(2).get_by_role("button").click()
    at(page, 2)
    page.keyboard.press("u")
    at(page, 6)


def test_the_same_script_under_a_newer_kafka_is_one_press_away(visit: Opener) -> None:
    page = visit("/s/R20?profile=Z0102")
    page.keyboard.press("n")
    page.get_by_role("alert").get_by_role("button", name="Same script under").click()
    page.wait_for_function("() => document.querySelector('#profile').value === 'K41'")
    page.keyboard.press("End")
    at(page, total(page))
    assert page.get_by_role("alert").count() == 0
    assert "profile=K41" in page.url
    page.get_by_role("list", name="Branches").get_by_role("button").first.click()
    page.wait_for_function("() => document.querySelector('#profile').value === 'Z0102'")


def test_back_leads_to_where_a_jump_began(visit: Opener) -> None:
    page = visit("/s/S01")
    page.keyboard.press("ArrowRight")
    at(page, 1)
    page.keyboard.press("End")
    end = total(page)
    at(page, end)
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("end => !location.search.includes(`step=${end}&`)", arg=end)
    page.go_back()
    at(page, 1)
    assert "/s/S01" in page.url
    for step in (4, 7, 9):  # a drag is one jump
        jump(page, step)
    page.go_back()
    at(page, 1)


def test_the_mover_of_messages_is_a_switch_and_no_branch(visit: Opener) -> None:
    page = visit("/s/S01?step=4")
    run = run_of(page)
    branches = page.locator(".branch")
    page.get_by_role("button", name="By the clock").click()
    page.locator('.pace [aria-pressed="true"]', has_text="By the clock").wait_for()
    assert run_of(page) != run and branches.count() == 0
    at(page, 5)
    page.get_by_role("button", name="Step on").click()
    at(page, 6)
    page.get_by_role("button", name="By hand").click()
    at(page, 4)
    assert run_of(page) == run and branches.count() == 0
    page.get_by_label("Type a move").fill("cut Broker 1 -> Broker 2")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.branch').length === 2")


PLAIN = "produce m1; settle; kill 1; detect 1"


def test_typed_moves_follow_one_another(visit: Opener) -> None:
    runs = []
    for lines in (PLAIN.split("; "), [PLAIN]):
        page = visit("/s/build-your-own", reduced_motion="no-preference")
        for line in lines:
            page.get_by_label("Type a move").fill(line)
            page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelectorAll('.branch').length === 2")
        page.wait_for_function(
            "() => { const stage = document.querySelector('#stage');"
            " return !stage.dataset.moving && Number(stage.dataset.step) > 50; }",
            timeout=60_000,
        )
        assert page.locator(".branch").count() == 2
        runs.append(run_of(page))
    assert runs[0] == runs[1], "one line and four lines are the same run"
    found = hw.run("S60", moves=PLAIN)
    assert found.digest == runs[0], "Python plays the same run"


def test_a_producer_sends_when_it_is_pressed(visit: Opener) -> None:
    page = visit("/s/build-your-own")
    page.get_by_role("button", name="Producer").first.click()
    page.get_by_role("dialog").get_by_role("button", name="acks=all").click()
    page.wait_for_function("() => Number(document.querySelector('#stage').dataset.step) > 0")
    page.locator('[data-id="P1"]', has_text="sent 1").first.wait_for()


def test_stepping_back_before_a_move_opens_a_branch(visit: Opener) -> None:
    page = visit("/s/build-your-own")
    page.get_by_label("Type a move").fill("produce m1; settle")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.branch').length === 2")
    jump(page, 2)
    page.get_by_label("Type a move").fill("kill 2")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.branch').length === 3")


def test_a_later_move_that_cannot_be_played_is_named(visit: Opener) -> None:
    page = visit("/s/build-your-own")
    page.get_by_label("Type a move").fill("produce m1; restart 1")
    page.keyboard.press("Enter")
    notice = page.locator('[data-notice="warn"]')
    notice.wait_for()
    assert "restart 1" in notice.inner_text()
    assert page.get_by_label("Type a move").input_value() == "produce m1; restart 1"
