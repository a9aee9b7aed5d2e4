"""The library: found while typing, remembered by the browser, readable without a script."""

from __future__ import annotations

import re
from pathlib import Path

from tests.e2e.conftest import Opener
from tests.e2e.walk import at, total, typed


def test_cards_are_found_while_one_types_and_near_words_help(visit: Opener) -> None:
    page = visit("/scenarios")
    page.get_by_role("searchbox").fill("R20")
    page.get_by_text("1 scenarios", exact=True).wait_for()
    assert page.locator(".card:visible h3").all_text_contents() == [
        "Can an acknowledged record vanish?"
    ]
    page.get_by_role("searchbox").fill("watermrk")
    page.get_by_text("Searched for “watermark” instead of “watermrk”.").wait_for()
    assert page.locator(".card:visible").count() > 1
    page.get_by_role("searchbox").fill("zzzzzz")
    page.get_by_text("0 scenarios", exact=True).wait_for()
    build = page.get_by_role("link", name="Build it yourself")
    assert "title=zzzzzz" in build.get_attribute("href")
    page.get_by_role("link", name="Show all").click()
    assert page.locator(".card:visible").count() > 60
    page.get_by_role("searchbox").fill("zzzzzz")
    page.get_by_role("link", name="GC pause").click()
    page.wait_for_selector('[data-slugs^="paused-"]', state="attached")
    assert page.locator(".card:visible").first.get_attribute("data-code") in ("S42", "S43")


def test_the_first_page_finds_a_run_while_one_types(visit: Opener) -> None:
    page = visit("/")
    page.get_by_role("searchbox").fill("GC pause")
    first = page.locator("#answers a").first
    first.wait_for()
    assert "pause" in first.inner_text() and "Matches:" in first.inner_text()
    shown = page.locator(".hits li").count()
    assert re.search(rf"\b{shown} (of \d+ )?results", page.locator("#sought-count").inner_text())
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.matches('#answers li:first-child a')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/paused-*")
    page.wait_for_selector('body[data-ready="1"]')


def test_the_first_page_offers_words_where_it_finds_nothing(visit: Opener) -> None:
    page = visit("/")
    page.get_by_role("searchbox").fill("zzzzzz")
    page.get_by_text("Nothing matches “zzzzzz”.").wait_for()
    page.get_by_role("link", name="GC pause").click()
    page.locator("#answers a[href='/s/paused-leader']").wait_for()
    assert page.get_by_role("searchbox").input_value() == "GC pause"


def test_the_glossary_leads_to_its_own_entries_and_to_runs(visit: Opener) -> None:
    page = visit("/glossary")
    page.get_by_role("searchbox").fill("NotEnoughReplicasException")
    page.locator("#answers a[href='/s/min-isr-refuses']").wait_for()
    page.locator("#answers a[href='/glossary#NOT_ENOUGH_REPLICAS']").click()
    page.wait_for_url("**/glossary#NOT_ENOUGH_REPLICAS")
    assert page.locator("dl > div:target dt code").inner_text() == "NOT_ENOUGH_REPLICAS"


def test_a_search_without_a_script_leads_to_ranked_cards(visit: Opener) -> None:
    page = visit("/", ready=False, java_script_enabled=False)
    page.get_by_role("searchbox").fill("split brain")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**/scenarios?q=split+brain")
    assert page.locator(".card:visible").count() > 2


def test_the_browser_remembers_the_path_and_runs_of_ones_own(visit: Opener) -> None:
    page = visit("/s/S01")
    page.keyboard.press("End")
    at(page, total(page))
    typed(page, "kill 2")
    page.wait_for_function("() => location.hash.startsWith('#run=')")
    page.goto(page.url.split("/s/")[0] + "/")
    page.wait_for_selector('body[data-ready="1"]')
    assert page.locator("#progress").inner_text() == "1 of 6 done"
    page.get_by_role("link", name="Your runs").click()
    page.wait_for_url("**/scenarios#yours")
    page.wait_for_selector('body[data-ready="1"]')
    own = page.locator("#runs a")
    assert own.count() == 1
    own.click()
    page.wait_for_selector('body[data-ready="1"]')
    at(page, total(page))


def test_the_library_is_whole_without_a_script(visit: Opener) -> None:
    page = visit("/scenarios?tag=truncation", ready=False, java_script_enabled=False)
    assert page.locator(".card:visible").count() > 5
    page.get_by_role("link", name="Can an acknowledged record vanish?").first.wait_for()


def test_the_slider_of_versions_is_dragged(visit: Opener) -> None:
    page = visit("/")
    ladder = page.locator("#versions").bounding_box()
    y = ladder["y"] + 6
    page.mouse.move(ladder["x"] + 40, y)
    page.mouse.down()
    page.locator("#versions label", has=page.locator("input:checked")).first.wait_for()
    page.mouse.move(ladder["x"] + ladder["width"] - 10, y, steps=6)
    last = page.locator("#versions input").last
    assert last.is_checked()
    page.mouse.up()
    page.mouse.move(ladder["x"] + 10, y)
    assert last.is_checked(), "nothing is dragged without a pressed button"
    page.locator("#answer .kept").wait_for()


def test_the_path_can_be_finished(visit: Opener) -> None:
    page = visit("/")
    keys = page.evaluate("[...document.querySelectorAll('.steps li')].map(li => li.dataset.key)")
    page.evaluate("k => localStorage.setItem('highwater.done', JSON.stringify(k))", keys[:-1])
    page.reload()
    page.locator("#progress", has_text="5 of 6").wait_for()
    page.locator(".steps li a").last.click()
    page.wait_for_selector('body[data-ready="1"]')
    typed(page, "kill 1")
    page.wait_for_function("() => localStorage.getItem('highwater.done').includes('S82')")
    page.goto(page.url.split("/s/")[0])
    page.get_by_role("link", name="All 6 done").wait_for()


def test_own_runs_are_saved_as_a_file_and_loaded_again(visit: Opener, tmp_path: Path) -> None:
    page = visit("/s/S01")
    typed(page, "kill 3")
    page.wait_for_selector('[data-id="b3"][data-alive="down"]')
    page.wait_for_function("() => localStorage.getItem('highwater.runs')?.includes('S01')")
    page.goto(page.url.split("/s/")[0].split("/r/")[0] + "/scenarios?lang=en")
    page.wait_for_selector("#runs li")
    with page.expect_download() as saved:
        page.click("#runssave")
    file, bad = tmp_path / "runs.json", tmp_path / "bad.json"
    saved.value.save_as(file)
    bad.write_text(file.read_text("utf-8")[:-9], "utf-8")
    page.set_input_files("#runsload", bad)
    page.wait_for_function("() => document.getElementById('runstold').textContent !== ''")
    assert page.inner_text("#runstold") == page.get_attribute("#runstold", "data-bad")
    assert page.locator("#runs li").count() == 1
    page.click("#forget")
    assert page.locator("#runs li").count() == 0
    page.set_input_files("#runsload", file)
    page.wait_for_selector("#runs li")
    page.click("#runs li a")
    page.wait_for_selector('[data-id="b3"][data-alive="down"]')
