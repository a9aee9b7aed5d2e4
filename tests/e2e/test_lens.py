"""The code lens on the stage: thread, chain, links, two releases; and nothing of it before it is
opened."""

from __future__ import annotations

import re
from typing import Any

from tests.e2e.conftest import Opener
from tests.e2e.walk import more, panel

SHOWN = "#lens:not([aria-busy]) .stackbox"


def names(page: Any) -> list[str]:
    return [text.strip() for text in page.locator(".frames .name").all_inner_texts()]


def test_a_step_shows_the_code_that_acts(visit: Opener) -> None:
    page = visit("/s/S23?profile=Z011&step=85&tab=code")
    page.wait_for_selector(SHOWN)
    assert page.locator(".thread code").first.inner_text() == "ReplicaFetcherThread-0-2"
    frames = names(page)
    assert frames[:2] == ["ShutdownableThread.run", "AbstractFetcherThread.doWork"]
    assert page.locator(".frames .acting .name").first.inner_text() == "Partition.truncateTo"
    assert page.locator(".stackbox .taken code").first.inner_text().startswith("if end < LEO")
    link = page.locator(".frames .at").first.get_attribute("href")
    assert re.fullmatch(r"https://github\.com/apache/kafka/blob/1\.1\.1/\S+\.scala#L\d+", link)


def test_threads_over_time_lead_to_their_steps(visit: Opener) -> None:
    page = visit("/s/S23?profile=Z011&step=74&tab=code")
    page.wait_for_selector(SHOWN)
    page.get_by_text("Threads over time").click()
    cut = page.get_by_role("button", name="Partition.truncateTo, step 85")
    cut.click()
    page.wait_for_selector('#lens[data-key*="@85@"]:not([aria-busy])')
    assert "step=85" in page.url
    row = page.locator(".threadbox tr", has=page.locator('[data-rule="T-1"]'))
    assert row.locator("th code").inner_text() == "ReplicaFetcherThread-0-2"
    assert page.locator(".threadbox thead .here").inner_text() == "85"
    turn = page.locator(".turn li .name").all_inner_texts()
    on = page.locator(".turn li:not(.besides) .name").all_inner_texts()
    assert on[:2] == ["ShutdownableThread.run", "AbstractFetcherThread.doWork"]
    assert on[-1] == "Partition.truncateTo"
    assert "ReplicaFetcherThread.buildFetchRequest" in set(turn) - set(on)
    assert row.get_by_role("button", name="empty turn").count() == 1
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.step") == "86"


def test_two_releases_stand_beside_each_other(visit: Opener) -> None:
    page = visit("/s/S23?profile=Z011&step=85&tab=code")
    page.wait_for_selector(SHOWN)
    page.get_by_label("Compare with").select_option("3.9.1")
    page.wait_for_selector(".beside")
    heads = page.locator(".beside th").all_inner_texts()
    assert "1.1.1" in heads[0] and "3.9.1" in heads[1] and "T-4" in heads[1]
    assert page.get_by_text("moved to another file").first.is_visible()
    page.get_by_text("Through the releases: 10 forms").click()
    assert page.locator(".changes i").count() == 9
    page.get_by_role("button", name="2.3.1 – 2.7.2").click()
    page.wait_for_selector('#lens[data-key$="@1.1.1,2.3.1"]:not([aria-busy])')
    assert page.locator(".slider .pill").inner_text() == "new"
    assert page.locator(".forms td.here .changed .name").inner_text().endswith("doTruncate")
    page.get_by_label("Move through the releases").fill("0")
    page.wait_for_selector('#lens[data-key$="@1.1.1,0.8.2.2"]:not([aria-busy])')
    page.get_by_label("Compare with").select_option("3.9.1")
    page.get_by_label("Kafka release").select_option("2.5.1")
    page.wait_for_selector('#lens[data-key$="@2.5.1,3.9.1"]:not([aria-busy])')


def test_the_chain_follows_the_step(visit: Opener) -> None:
    page = visit("/s/S20?profile=K39&step=108&tab=code")
    page.wait_for_selector(SHOWN)
    assert page.locator(".gap").count() > 0
    rules = page.locator(".stackbox").evaluate_all("all => all.map((one) => one.dataset.rule)")
    assert "CP-ELECT-KR" in rules
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector('#lens:not([aria-busy]):not([data-key*="@108@"])')


def test_nothing_of_it_comes_before_it_is_opened(visit: Opener) -> None:
    page = visit("/s/S20?profile=K39&step=108", apart=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    loaded = page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    assert not [one for one in loaded if "lens" in one]
    panel(page, "Code")
    page.wait_for_selector(SHOWN)
    for part in ("js/lens/panel.js", "css/lens.css", "page=lens", "api/lens.json", "only=lens"):
        assert any(part in one for one in asked), part
    assert not any("threads.json" in one for one in asked)


def test_a_method_is_found_and_followed(visit: Opener) -> None:
    page = visit("/code?q=truncateToEpochEndOffsets", ready=False)
    page.locator(".hit .see").first.click()
    page.wait_for_selector(SHOWN)
    assert "AbstractFetcherThread.truncateToEpochEndOffsets" in names(page)


def test_playing_stops_where_a_method_runs(visit: Opener) -> None:
    page = visit("/s/S23?profile=2.5.1")
    more(page).get_by_label("Event to stop at").select_option("method")
    page.get_by_label("Value").fill("doTruncate")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="a breakpoint").click()
    page.wait_for_function("() => new URLSearchParams(location.search).get('step') > 0")
    step = page.evaluate("Number(new URLSearchParams(location.search).get('step'))")
    page.goto(page.url.split("?")[0] + f"?profile=2.5.1&step={step}&tab=code")
    page.wait_for_selector(SHOWN)
    assert "AbstractFetcherThread.doTruncate" in names(page)
