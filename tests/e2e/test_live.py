"""Losing the connection and finding it again; motion; two languages; small and large windows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from engine.scenarios.file import find
from engine.sim.run import Run
from tests.bench.stage import run_link
from tests.e2e.conftest import Opener, Server
from tests.e2e.walk import at, jump, panel, run_of, step_of, steps, total, typed

WHERE = """el => el.querySelector('path').getAttribute('d').replace(/[\\d.]+/g, Math.round)
  + el.querySelector('text').textContent"""


def test_a_restart_of_the_server_loses_nothing(visit: Opener, frail: Server) -> None:
    page = visit("/s/S01", site=frail)
    jump(page, 3)
    typed(page, "kill 3")
    page.wait_for_selector('[data-id="b3"][data-alive="down"]')
    run, step = run_of(page), step_of(page)
    frail.stop()
    page.wait_for_selector("[data-offline]")
    page.keyboard.press("ArrowLeft")
    at(page, step - 1)
    page.keyboard.press("/")
    assert page.get_by_role("button", name="Do it").is_disabled()
    frail.start()
    page.wait_for_selector("[data-offline]", state="detached", timeout=20_000)
    page.wait_for_function("() => !document.querySelector('.palette [type=submit]').disabled")
    assert (run_of(page), step_of(page)) == (run, step - 1)
    typed(page, "kill 2")
    page.wait_for_selector('[data-id="b2"][data-alive="down"]')


def test_a_long_run_is_shown_before_its_end_is_known(visit: Opener) -> None:
    page = visit(run_link(Run(find("S61"), "K39", 11, ("run 10m",))))
    assert "not known yet" in page.locator(".asks").inner_text()
    begun = total(page)
    assert page.locator(".rail.unfinished").count() == 1
    page.keyboard.press("ArrowRight")
    at(page, 1)
    page.keyboard.press("End")
    page.wait_for_selector(".rail:not(.unfinished)")
    whole = total(page)
    assert whole > 10 * begun
    at(page, whole)
    assert page.locator("[data-end]").count() == 1
    assert "not known" not in page.locator(".asks").inner_text()


def test_motion_shows_the_cause_before_the_effect(visit: Opener, server: Server) -> None:
    page = visit("/s/S01?layers=ends", reduced_motion="no-preference")
    step, message, broker = an_arrival(steps(server, run_of(page), 0, 40))
    jump(page, step)
    page.evaluate(
        """() => {
          // A clock one can set by hand.
          window.clock = 1000; performance.now = () => window.clock;
          const due = [];
          window.requestAnimationFrame = (f) => due.push(f);
          window.tick = (ms) => { window.clock += ms; due.splice(0).forEach(f => f(clock)); };
        }"""
    )
    place = page.locator(f'[data-id="m{message}"]')
    end = page.locator(f'[data-id="b{broker}:leo"]')
    before, still = place.get_attribute("transform"), end.evaluate(WHERE)
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#stage[data-moving]")
    page.evaluate("() => window.tick(180)")
    assert place.get_attribute("transform") != before
    assert end.evaluate(WHERE) == still
    page.evaluate("() => window.tick(900)")
    at(page, step + 1)
    assert place.count() == 0
    assert end.evaluate(WHERE) != still


def an_arrival(told: list[dict[str, Any]]) -> tuple[int, int, int]:
    """(step, message, broker): the message is in flight, and the next step puts it into the log."""
    for now, then in pairwise(told):
        flying = {m["id"]: m["to"] for m in now["view"]["messages"]}
        for gone in flying.keys() - {m["id"] for m in then["view"]["messages"]}:
            logs = [view["view"]["partitions"][0]["replicas"] for view in (now, then)]
            to = str(flying[gone])
            if to in logs[0] and logs[0][to]["leo"] < logs[1][to]["leo"]:
                return now["n"], gone, int(to)
    raise AssertionError("nothing arrives in this run")


def test_still_means_no_motion(visit: Opener) -> None:
    page = visit("/s/S20?still=1", reduced_motion="no-preference")
    page.keyboard.press("ArrowRight")
    at(page, 1)
    assert page.get_attribute("#stage", "data-moving") is None


def test_chinese_is_complete(visit: Opener) -> None:
    page = visit("/s/S20?lang=zh")
    assert page.get_attribute("html", "lang") == "zh-Hans"
    page.keyboard.press("ArrowRight")
    at(page, 1)
    assert any("\u4e00" <= ch <= "\u9fff" for ch in page.locator(".caption").inner_text())
    for tab in ("当前", "查看", "日志", "检查"):
        panel(page, tab)
    page.get_by_role("button", name="Highwater 的页面").click()
    page.get_by_role("link", name="English").click()
    page.wait_for_selector('body[data-ready="1"]')
    at(page, 1)
    assert page.get_attribute("html", "lang") == "en"


def test_the_library_finds_by_word_and_by_tag(visit: Opener) -> None:
    page = visit("/scenarios")
    everything = page.locator(".card:visible").count()
    page.get_by_role("checkbox", name="Truncation").check(force=True)
    some = page.locator(".card:visible").count()
    assert 0 < some < everything
    page.get_by_role("searchbox").fill("KIP-101")
    page.wait_for_selector('[data-slugs~="gone-after-a-clean-election"]', state="attached")
    assert 0 < page.locator(".card:visible").count() < some
    page.get_by_role("searchbox").fill("zzzzzz qqqqqq")
    page.locator("#nothing").wait_for()


def test_a_busy_server_is_asked_again(visit: Opener, server: Server) -> None:
    page = visit("/scenarios", site=server)
    page.route("**/hits?*", lambda route: route.fulfill(status=503), times=1)
    page.get_by_role("searchbox").fill("KIP-101")
    page.wait_for_selector('[data-slugs~="gone-after-a-clean-election"]', state="attached")


def test_an_unknown_address_is_explained(visit: Opener) -> None:
    page = visit("/s/no-such-scenario", ready=False)
    assert "no-such-scenario" in page.locator("main").inner_text()
    page.get_by_role("link", name="To the library").click()
    page.wait_for_selector('body[data-ready="1"]')


def test_watching_plays_from_the_message_that_is_lost(visit: Opener) -> None:
    page = visit("/", ready=False)
    page.locator("#watch").click()
    page.get_by_role("button", name="Pause").wait_for()
    begun = step_of(page)
    page.wait_for_function(
        "(n) => Number(document.getElementById('stage').dataset.step) > n + 1", arg=begun
    )
    page.locator("#stage").get_by_text("m1").first.wait_for()
    assert "play=" not in page.url, "coming back to it does not play it again"
    page.go_back()
    page.locator("#watch").wait_for()
