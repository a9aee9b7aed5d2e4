"""The stage: layers, message surgery, breakpoints, bookmarks, the rail's two spacings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench.stage import stage_link
from tests.e2e import axe
from tests.e2e.conftest import FRAME, Opener
from tests.e2e.walk import at, jump, more, runs, step_of, total, typed


def test_layers_are_chosen_remembered_and_in_the_link(visit: Opener) -> None:
    page = visit("/s/S20?step=30")
    assert page.locator('[data-id="b1:disk"]').count() == 0
    assert page.locator('[data-id="b1:leo"]').count() == 0, "that is for experts"
    sheet = more(page)
    sheet.get_by_label("Disk: flushed, checkpoints").check()
    sheet.get_by_label("Log ends").check()
    page.wait_for_selector('[data-id="b1:disk"]')
    sheet.get_by_label("High watermark").uncheck()
    page.wait_for_selector('[data-id="b1:hw"]', state="detached")
    page.wait_for_function("() => /layers=[^&]*-/.test(location.search)")  # all are written
    page.goto(page.url)
    page.wait_for_selector('[data-id="b1:disk"]')
    assert page.locator('[data-id="b1:hw"]').count() == 0
    assert page.locator('[data-id="b1:leo"]').count() == 1


def test_remote_storage_is_a_shelf_below_the_tanks(visit: Opener) -> None:
    page = visit("/s/S93?step=182")
    store = page.locator('[data-id="store"]')
    store.wait_for()
    assert store.get_attribute("data-up") == "1"
    assert page.locator(".tiered.only text").all_text_contents() == ["0–3"] * 3
    assert page.locator(".tiered.copy text").all_text_contents() == ["4–5"] * 3
    assert page.locator('[data-id="b1:o3"]').count() == 0, "it is no more on the disk"
    page.goto(page.url.replace("S93?step=182", "S95?step=101"))
    page.locator('[data-id="store"][data-up="0"]').wait_for()
    assert "fails" in page.locator('[data-id="store"]').get_attribute("aria-label")


def test_the_diverging_offset_is_shown_during_its_exchange(visit: Opener) -> None:
    page = visit("/s/S23?profile=Z20&step=84")
    part = page.locator('.part[data-id="part:1"]')
    part.wait_for()
    assert "Up to where do the logs agree?" in part.text_content()
    assert part.get_attribute("data-offset") == "1"


def open_message(page: Any) -> Any:
    page.locator('[data-hit^="m"]').first.focus()
    page.keyboard.press("Enter")
    menu = page.get_by_role("dialog", name="OffsetForLeaderEpoch from B to A")
    menu.locator(".fullfields").wait_for()
    return menu


def test_one_message_can_be_held_dropped_and_sent_again(visit: Opener) -> None:
    page = visit("/s/S20?profile=Z20&step=59")
    menu = open_message(page)
    assert "partitions" in menu.locator(".fullfields").inner_text()
    assert menu.get_by_text("It waits for a hand: time does not move it.").is_visible()
    menu.get_by_role("button", name="Send again").click()
    at(page, 60)
    runs(page, 2)
    assert page.locator('.msg[data-kind="OffsetForLeaderEpoch"]').count() == 2
    open_message(page).get_by_role("button", name="Hold").click()
    at(page, 61)
    assert page.locator('.linkmark[data-id="link:2:1"], [data-id="link:1:2"]').count() == 1


def test_playing_stops_where_a_breakpoint_waits(visit: Opener) -> None:
    page = visit("/s/S20?profile=Z0102")
    box = more(page)
    box.get_by_label("On which broker").select_option("2")
    box.get_by_role("button", name="Add").click()
    assert box.get_by_text("high watermark moves, broker B").is_visible()
    box.get_by_label("Speed").select_option("4")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("4")
    page.get_by_role("button", name="Play").click()
    page.get_by_text("Stopped at a breakpoint").wait_for()
    stopped = step_of(page)
    before = page.get_attribute('[data-id="b2:hw"]', "data-value")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("2")
    page.get_by_role("button", name="Step back").click()
    page.wait_for_function(f"() => document.querySelector('#stage').dataset.step < {stopped}")
    assert page.get_attribute('[data-id="b2:hw"]', "data-value") != before


def test_going_on_until_a_violation_and_back(visit: Opener) -> None:
    page = visit("/s/R20?profile=Z0102&step=3")
    more(page).get_by_role("button", name="the next violation").click()
    page.get_by_role("alert").wait_for()
    page.keyboard.press("u")
    at(page, 3)


def test_a_bookmark_stands_on_the_rail_after_a_reload(visit: Opener) -> None:
    page = visit("/s/S20?step=9")
    page.keyboard.press("m")
    page.wait_for_selector(".mk.bookmark")
    page.reload()
    page.wait_for_selector(".mk.bookmark")
    more(page).get_by_label("Place the steps by the time of the run").check()
    end = int(page.get_by_label("Step of the run").get_attribute("max"))
    assert end != total(page)
    page.keyboard.press("Escape")
    page.get_by_label("Step of the run").focus()
    page.keyboard.press("ArrowRight")
    at(page, 10)


def test_a_branch_is_renamed(visit: Opener) -> None:
    page = visit("/s/S20?step=9")
    typed(page, "kill A")
    runs(page, 2)
    jump(page, 9)
    typed(page, "kill B")
    runs(page, 3)
    page.get_by_role("button", name="Rename this branch").click()
    page.get_by_label("Name of the branch").fill("what if A dies")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="what if A dies").wait_for()
    assert total(page) >= 10


def test_space_time_and_table_are_one_key_away_and_in_the_link(visit: Opener) -> None:
    page = visit("/s/S20?profile=Z0102&step=51&view=lanes")
    page.wait_for_selector('#board[data-view="tanks"] [data-id="b1:hw"]')  # what old links name
    page.keyboard.press("v")
    page.wait_for_selector('[data-view="spacetime"] .sthere[data-n="51"]')
    page.wait_for_function("() => location.search.includes('view=spacetime')")
    page.wait_for_function("() => document.querySelector('.stscroll').scrollTop > 0")
    box = page.locator(".sthere").bounding_box()
    page.mouse.click(box["x"] + 40, box["y"] - box["height"] / 2)
    page.wait_for_selector('.sthere[data-n="50"]')
    page.keyboard.press("v")
    row = page.locator("#tableview table.grid").nth(1).locator("tbody tr").first
    assert "broker A" in row.inner_text()
    page.keyboard.press("v")
    at(page, 50)
    assert page.locator('[data-id="b1:hw"]').is_visible()


def test_a_long_run_in_space_time_draws_only_what_is_seen(visit: Opener) -> None:
    page = visit("/s/crash-storm?step=900&view=spacetime")
    page.wait_for_selector('.sthere[data-n="900"]')
    page.wait_for_function("() => Number(document.querySelector('.stscroll').dataset.from) < 899")
    assert page.locator("#spacetime svg *").count() < 1500
    page.evaluate("document.querySelector('.stscroll').scrollTop = 0")
    page.wait_for_function("() => Number(document.querySelector('.stscroll').dataset.from) === 0")


def test_a_square_of_the_matrix_leads_to_tanks(visit: Opener) -> None:
    page = visit("/s/S46?step=60")
    page.wait_for_selector('#board[data-view="matrix"]')
    page.locator('[data-square="6:2"]').click()
    page.wait_for_selector('#board[data-view="tanks"]')
    chosen = page.get_by_label("Partition", exact=True)
    assert chosen.input_value() == "6"
    page.wait_for_function("() => location.search.includes('view=tanks')")


BROKERS = [3, 9, 30]


@pytest.mark.parametrize("brokers", BROKERS)
def test_a_stage_of_many_brokers_stays_small(visit: Opener, brokers: int) -> None:
    page = visit(stage_link(brokers))
    page.get_by_role("heading", name=f"{brokers} brokers").wait_for()
    page.keyboard.press("End")
    page.wait_for_function("() => Number(document.querySelector('#stage').dataset.step) > 20")
    tanks = page.locator("#stage .tank").count()
    assert tanks == min(brokers, 8), "as many as have room"
    assert page.locator("#stage .broker").count() == brokers, "the others are marks"
    last = page.locator("#hits [data-hit^=b]").last
    if brokers > tanks:
        name = last.get_attribute("data-hit")
        last.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(f'#stage .tank [data-id="{name}"]', state="attached")
        assert page.locator("#stage .tank").count() == tanks
        page.wait_for_selector(f'[data-hit="{name}"]:focus')
        page.keyboard.press("Enter")
        page.locator(".menu").wait_for()
        page.keyboard.press("Escape")
    small = page.locator("#stage .record .cell").evaluate_all(
        "all => all.filter((one) => one.getBoundingClientRect().height < 36).length"
    )
    assert small == 0
    assert page.locator("#stage *").count() < 5000
    more(page).get_by_role("button", name="Unfold").click()
    page.wait_for_selector('#moresheet [aria-pressed="true"]:has-text("Unfold")')
    assert page.locator("#stage *").count() < 5000


def test_the_flag_of_a_logs_end_opens_what_can_be_done_with_the_log(visit: Opener) -> None:
    page = visit("/s/S20?step=30&layers=ends")
    page.get_by_role("button", name="Do something with the log of Broker B").click()
    page.get_by_role("button", name="checkpoint B").click()
    at(page, 31)
    runs(page, 2)


def test_an_empty_run_says_what_to_press_and_a_pressed_tank_tells_in_words(visit: Opener) -> None:
    page = visit("/s/S60", newcomer=True)
    assert "Press the producer" in page.locator(".caption").inner_text()
    page.locator("#stage .tank").nth(1).click(position={"x": 60, "y": 90})
    menu = page.get_by_role("dialog", name="Broker 2: what can be done")
    kill = menu.get_by_role("button", name="Kill (kill 2)")
    kill.wait_for()
    assert "The process dies; its disk stays as it is." in kill.get_attribute("title")
    assert axe.violations(page, ".menu") == []
    kill.click()
    page.wait_for_selector('[data-id="b2"][data-alive="down"]', state="attached")


def test_deleted_records_are_floor(visit: Opener) -> None:
    page = visit("/s/delete-records?step=60")
    seabed = page.locator("#stage .seabed")
    assert seabed.count() == 2, "broker 3 has not heard of it"
    assert page.locator("#stage").get_by_text("starts at 3").count() == 2
    assert page.locator('[data-id="b1:o0"] .name').count() == 0
    assert page.locator('[data-id="b3:o0"] .name').count() == 1


CAPTION = """() => {
  const rows = (el) => new Set([...el.getClientRects()].map((one) => Math.round(one.top))).size;
  const words = document.createRange();
  words.selectNodeContents(document.querySelector('.caption'));
  const box = document.querySelector('#caption').getBoundingClientRect();
  const stage = document.querySelector('#stagebox').getBoundingClientRect();
  const said = words.getBoundingClientRect();
  return {
    lines: rows(words), inside: said.top >= box.top - 1 && said.bottom <= box.bottom + 1,
    over: stage.bottom - box.top, top: box.top, height: box.height,
  };
}"""


def test_the_verdict_has_its_place_and_nothing_jumps(visit: Opener) -> None:
    page = visit("/s/gone-after-a-clean-election?profile=Z0102&step=136&size=story")
    for width in (360, 600, 720, 820, 1081, 1180, 1280, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(FRAME)
        before = page.evaluate(CAPTION)
        page.keyboard.press("ArrowRight")
        page.locator(".caption.lost").wait_for()
        page.evaluate(FRAME)
        after = page.evaluate(CAPTION)
        assert after["lines"] <= 3 and after["inside"] and after["over"] <= 0, (width, after)
        assert (after["top"], after["height"]) == (before["top"], before["height"]), width
        page.keyboard.press("ArrowLeft")
        page.locator(".caption.lost").wait_for(state="detached")


def test_an_abandoned_response_fades_with_its_step(visit: Opener) -> None:
    page = visit("/s/gone-after-a-clean-election?profile=Z0102&step=150")
    assert page.locator(".msg.slip.faint").count() == 0
    more(page).get_by_label("Heartbeats").check()
    page.locator(".msg.slip.faint").wait_for(state="attached")


def test_a_lost_record_has_its_grave_wherever_it_was(visit: Opener) -> None:
    page = visit("/s/gone-after-a-clean-election?profile=Z0102&step=188")
    for broker in (1, 3):
        page.wait_for_selector(f'[data-id="b{broker}:gone1"], [data-id="b{broker}:cut1"]')
