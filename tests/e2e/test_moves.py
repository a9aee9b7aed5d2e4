"""Moves: by click, typed, impossible, in the past; branches, saving and violations."""

from __future__ import annotations

import highwater as hw
from tests.e2e.conftest import Opener
from tests.e2e.walk import at, jump, more, panel, run_of, runs, step_of, total, typed


def test_killing_by_click_opens_a_branch_and_keeps_the_old_future(visit: Opener) -> None:
    page = visit("/s/S01")
    old = run_of(page)
    jump(page, 4)
    page.get_by_role("button", name="broker 2: what can be done").click()
    page.get_by_role("dialog").get_by_role("button", name="kill 2").click()
    page.wait_for_selector('[data-id="b2"][data-alive="down"]')
    assert run_of(page) != old
    branches = page.get_by_role("list", name="Branches").locator(".branch")
    assert branches.count() == 0, "of one branch, Undo is the way back"
    page.wait_for_url("**#run=2.*")
    page.go_back()
    page.wait_for_selector(f'#board[data-run="{old}"]')
    at(page, 4)
    page.go_forward()
    page.wait_for_selector('[data-id="b2"][data-alive="down"]')
    jump(page, 4)
    typed(page, "kill 3")
    runs(page, 3)
    branches.first.click()
    page.wait_for_selector(f'#board[data-run="{old}"]')
    assert page.get_attribute('[data-id="b2"]', "data-alive") == "up"


def test_undo_takes_back_the_last_move_and_then_the_one_before(visit: Opener) -> None:
    page = visit("/s/S01")
    script = run_of(page)
    jump(page, 4)
    typed(page, "kill 2")
    page.wait_for_selector('[data-id="b2"][data-alive="down"]')
    first = run_of(page)
    typed(page, "kill 3")
    page.wait_for_selector('[data-id="b3"][data-alive="down"]')
    page.keyboard.press("Control+z")
    page.wait_for_selector(f'#board[data-run="{first}"]')
    assert page.get_attribute('[data-id="b3"]', "data-alive") == "up"
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(f'#board[data-run="{script}"]')
    at(page, 4)
    runs(page, 1)


def test_a_typed_move_is_the_same_run_as_a_clicked_one(visit: Opener) -> None:
    digests = []
    for by_hand in (True, False):
        page = visit("/s/S01")
        jump(page, 4)
        if by_hand:
            typed(page, "kill 2")
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
    typed(page, "restart 1")
    page.wait_for_selector('[data-notice="warn"]')
    assert page.evaluate(place) == before, "what is said of a refusal moves nothing"
    assert run_of(page) == run and step_of(page) == 0
    typed(page, "fly me to the moon")
    page.wait_for_function(
        "() => document.querySelector('[data-notice]').textContent.includes('fly')"
    )


def test_an_unsaved_branch_survives_a_reload_by_its_link(visit: Opener) -> None:
    page = visit("/s/S01")
    jump(page, 3)
    typed(page, "kill 3")
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
    panel(page, "Checks").locator('[data-inv="I7"].bad').wait_for()
    first = step_of(page)
    jump(page, first - 1)
    alert.wait_for(state="detached")
    jump(page, first)
    alert.wait_for()


def test_a_move_at_the_end_plays_on(visit: Opener) -> None:
    page = visit("/s/S01")
    page.keyboard.press("End")
    end = total(page)
    at(page, end)
    typed(page, "produce z")
    page.wait_for_function(f"() => Number(document.querySelector('#stage').dataset.step) > {end}")
    assert page.locator('[data-record="z"]').count() >= 0
    assert total(page) > end


def test_every_panel_opens_and_says_something(visit: Opener) -> None:
    page = visit("/s/S20?step=6")
    for name in ("Now", "Code", "Inspect", "Table", "Metrics", "Log", "Checks"):
        panel(page, name)
        page.wait_for_function(
            "() => document.querySelector('#panel').innerText.trim().length > 20"
        )
    panel(page, "Log").locator(".log li").nth(2).get_by_role("button").click()
    at(page, 2)
    page.keyboard.press("u")
    at(page, 6)


def test_the_same_script_under_a_newer_kafka_is_one_press_away(visit: Opener) -> None:
    page = visit("/s/R20?profile=Z0102")
    page.keyboard.press("n")
    page.get_by_role("alert").wait_for()
    panel(page, "Now").get_by_role("button", name="Same script under").click()
    page.wait_for_selector('.release input[data-profile="K41"]')
    page.keyboard.press("End")
    at(page, total(page))
    assert page.get_by_role("alert").count() == 0
    assert "profile=K41" in page.url
    more(page).locator("#profile").select_option("Z0102")
    page.wait_for_selector('.release input[data-profile="Z0102"]')
    page.keyboard.press("Escape")
    slider = page.get_by_label("Release", exact=True)
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_selector('.release.kept input[data-profile="4.4.0"]')


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
    more(page).get_by_role("button", name="By the clock").click()
    page.locator('.pace [aria-pressed="true"]', has_text="By the clock").wait_for()
    assert run_of(page) != run
    runs(page, 1)
    at(page, 5)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Step on").click()
    at(page, 6)
    more(page).get_by_role("button", name="By hand").click()
    at(page, 4)
    assert run_of(page) == run
    runs(page, 1)
    typed(page, "cut Broker 1 -> Broker 2")
    runs(page, 2)


PLAIN = "produce m1; settle; kill 1; detect 1"


def test_typed_moves_follow_one_another(visit: Opener) -> None:
    played = []
    for lines in (PLAIN.split("; "), [PLAIN]):
        page = visit("/s/build-your-own", reduced_motion="no-preference")
        for line in lines:
            typed(page, line)
        runs(page, 2)
        page.wait_for_function(
            "() => { const stage = document.querySelector('#stage');"
            " return !stage.dataset.moving && Number(stage.dataset.step) > 50; }",
            timeout=60_000,
        )
        runs(page, 2)
        played.append(run_of(page))
    assert played[0] == played[1], "one line and four lines are the same run"
    found = hw.run("S60", moves=PLAIN)
    assert found.digest == played[0], "Python plays the same run"


def test_a_producer_sends_when_it_is_pressed(visit: Opener) -> None:
    page = visit("/s/build-your-own")
    page.get_by_role("button", name="Producer").first.click()
    page.get_by_role("dialog").get_by_role("button", name="acks=all").click()
    page.wait_for_function("() => Number(document.querySelector('#stage').dataset.step) > 0")
    page.locator('[data-id="P1"]', has_text="sent 1").first.wait_for()


def test_stepping_back_before_a_move_opens_a_branch(visit: Opener) -> None:
    page = visit("/s/build-your-own")
    typed(page, "produce m1; settle")
    runs(page, 2)
    jump(page, 2)
    typed(page, "kill 2")
    runs(page, 3)


def test_a_later_move_that_cannot_be_played_is_named(visit: Opener) -> None:
    page = visit("/s/build-your-own")
    page.keyboard.press("/")
    page.locator("#typed").fill("produce m1; restart 1")
    page.keyboard.press("Enter")
    notice = page.locator('[data-notice="warn"]')
    notice.wait_for()
    assert "restart 1" in notice.inner_text()
    assert page.locator("#typed").input_value() == "produce m1; restart 1"
