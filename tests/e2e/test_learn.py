"""A new visitor learns: she drags the mark, is wrong, sees why, and walks a chapter to its end.

While she predicts, the page, its frames, storage and cache hold no step beyond the question.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pytest

from tests.conftest import sample
from tests.e2e.axe import violations
from tests.e2e.conftest import Opener
from tests.e2e.walk import at, more
from tests.test_drill import DESCRIBED

ANSWERS: Final = "JSON.parse(localStorage.getItem('highwater.answers'))"
HELD: Final = """async () => {
  const found = [document.documentElement.outerHTML, JSON.stringify({ ...localStorage }),
    JSON.stringify({ ...sessionStorage })];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const one of await cache.keys()) found.push(await (await cache.match(one)).text());
  }
  return found;
}"""


def stage_of(page: Any) -> Any:
    frame = page.frame_locator("iframe.stage").first
    frame.locator('body[data-ready="1"]').wait_for()
    return frame


def drag(page: Any, frame: Any, up: int) -> None:
    """Drag the mark up or down by a number of offsets."""
    grip = frame.locator(".grip circle")
    cells = frame.locator(".record rect.cell")
    box, cell = grip.bounding_box(), cells.first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - up * (cell["height"] + 5), steps=6)
    page.mouse.up()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_mark_is_dragged_and_the_misconception_named(visit: Opener, lang: str) -> None:
    page = visit(f"/practice/question?lang={lang}")
    frame = stage_of(page)
    page.keyboard.press("c")
    drag(page, frame, 2)
    assert frame.locator(".grip").get_attribute("aria-valuenow") == "4"
    frame.locator(".handbar .primary").click()
    page.wait_for_selector(".verdict.bad")
    assert page.locator(".belief h3").count() == 1
    played = stage_of(page)
    played.locator(".guess line").wait_for(state="attached")
    kept = json.loads(page.evaluate("localStorage.getItem('highwater.answers')"))
    assert [(one["right"], one["sure"]) for one in kept] == [(False, 3)] and kept[0]["ids"]
    asked = page.locator("#question").inner_text()
    page.goto(page.url.split("/question")[0] + f"?lang={lang}")
    page.wait_for_selector("#calibration:not([hidden])")
    assert re.findall("[01]", page.locator("#calibration .num").first.inner_text())
    again = page.locator("#surewrong a")
    assert again.inner_text() == asked
    again.click()
    page.wait_for_selector(".choice")
    assert not page.locator("#verdict").count() and not page.locator(".sure :checked").count()


def test_nothing_that_comes_is_anywhere_while_one_predicts(visit: Opener) -> None:
    """The record y1 is only written later in this run; so is step 111 on."""
    page = visit("/practice/question", apart=True)
    asked: list[str] = []
    bodies: list[str] = []
    page.on("websocket", lambda socket: asked.append(socket.url))

    def note(answer: Any) -> None:
        asked.append(answer.url)
        if "json" in answer.headers.get("content-type", "") and "/i18n/" not in answer.url:
            bodies.append(answer.text())

    page.on("response", note)
    page.goto(page.url.split("/practice")[0] + "/learn/after-kip-101/4")
    page.wait_for_selector('body[data-ready="1"]')
    stage_of(page)
    page.wait_for_timeout(800)
    assert not [url for url in asked if "steps.json" in url or "/socket.io/" in url]
    held = [*bodies]
    for one in page.frames:
        held += one.evaluate(HELD)
    boot = json.loads(page.frames[-1].locator("#boot").text_content())
    assert [one["n"] for one in boot["steps"]] == [112] and boot["facts"]["total"] == 112
    assert held and not any('"n":113' in text.replace(" ", "") for text in held)
    assert not any('"y1"' in text.replace("\\", "") for text in held)


def test_a_chapter_is_walked_to_its_end_by_keyboard(visit: Opener) -> None:
    page = visit("/learn/high-watermark/1", viewport={"width": 390, "height": 844})
    for _ in range(40):
        if page.locator(".recap").count():
            break
        at = page.url
        if page.locator(".choice").count():
            page.keyboard.press("1")
        elif page.locator("#moves").count() and not page.locator("#done").count():
            page.locator("#moves").fill("fetch 2\nask 2")
            page.locator("form.ownform button").click()
        else:
            page.keyboard.press("ArrowRight")
        page.wait_for_url(lambda url, at=at: url != at)
        page.wait_for_selector('body[data-ready="1"]')
    assert page.locator(".recap li").count() == 3
    done = json.loads(page.evaluate("localStorage.getItem('highwater.course')"))
    assert sorted(done["high-watermark"]) == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.night
@pytest.mark.parametrize("lang", sample(["zh", "en"], 2))
def test_a_mock_interview_asks_on_and_ends_in_a_sheet_of_one_page(visit: Opener, lang: str) -> None:
    page = visit(f"/practice?lang={lang}", viewport={"width": 390, "height": 844})
    page.locator("#begin [value=mock]").click()
    asked: list[str] = []
    while not page.url.endswith("#done"):
        assert len(asked) < 60, "it asks without an end"
        page.wait_for_selector("#session:not([hidden])")
        asked.append(page.url)
        assert not page.locator(".fact").first.is_visible()
        page.keyboard.press("t")
        page.locator(".points > summary").first.press("Enter")
        page.wait_for_selector(".sure :checked:disabled", state="attached")
        page.locator(".points .points > summary").click()
        for box in page.locator(".fact input").all()[len(asked) == 1 :]:
            box.check()
        page.locator("#next").click()
        page.wait_for_url(lambda url: url != asked[-1])
        page.wait_for_selector("body[data-ready]")
    assert len(set(asked)) == len(asked) > 8
    assert page.locator("#missedcards li").count() == 1
    page.locator("#sheet").click()
    page.wait_for_selector(".sheetitems article")
    assert page.locator(".sheetitems article").count() == 1
    page.goto(page.url.split("?")[0] + "?only=" + ",".join(f"Q{n}" for n in range(31, 43)))
    assert page.locator(".sheetitems article").count() == 12
    assert page.pdf(format="A4").count(b"/Type /Page\n") == 1


def test_ten_minutes_are_walked_by_keyboard_and_what_was_wrong_comes_first(visit: Opener) -> None:
    page = visit("/practice?lang=en")
    page.locator("#begin [value=ten]").press("Enter")
    kinds, sides = [], []
    for _ in range(20):
        page.wait_for_selector("body[data-ready]")
        if page.url.endswith("#done"):
            break
        at, card = page.url, page.locator("[data-card]")
        kinds.append(card.get_attribute("data-kind"))
        if page.locator(".choice").count():
            page.keyboard.press("1")
            page.wait_for_selector("#verdict")
            page.wait_for_selector("body[data-ready]")
            if kinds[-1] == "claim":
                sides.append("said=true" in page.url and card.get_attribute("data-right") == "1")
            at = page.url
            page.keyboard.press("ArrowRight")
        else:
            page.locator(".points > summary").first.press("Enter")
            last = page.locator(".grades [value='1']")
            (last if last.count() else page.locator("#next")).press("Enter")
        page.wait_for_url(lambda url, at=at: url != at)
    assert len(kinds) == 14 and kinds.count("claim") == 6 and sides.count(True) == 3
    assert page.locator("#card").is_visible() and page.locator("#missedcards li").count() >= 3
    wrong = {one["card"] for one in page.evaluate(ANSWERS) if not one["right"]}
    page.locator("#begin [value=gaps]").click()
    page.wait_for_selector("#session:not([hidden])")
    cards = page.evaluate("JSON.parse(sessionStorage.getItem('highwater.session')).cards")
    assert wrong & {one["id"] for one in cards} and len(cards) == 14


def strings(page: Any) -> list[str]:
    """Every string that the page's scripts can reach, its frames' included, after a collection."""
    devtools = page.context.new_cdp_session(page)
    parts: list[str] = []
    devtools.on("HeapProfiler.addHeapSnapshotChunk", lambda one: parts.append(one["chunk"]))
    devtools.send("HeapProfiler.collectGarbage")
    devtools.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False})
    devtools.detach()
    found: list[str] = json.loads("".join(parts))["strings"]
    return found


def test_while_one_predicts_the_animator_has_forgotten_what_comes(visit: Opener) -> None:
    """The stage's own page asks; broker 1 is only given y1 later in this run."""
    page = visit("/s/R11?profile=Z011", apart=True)
    received: list[str] = []
    page.on("websocket", lambda one: one.on("framereceived", lambda frame: received.append(frame)))
    page.goto(page.url.split("?")[0] + "?profile=Z011&step=110")
    page.wait_for_selector('body[data-ready="1"]')
    page.wait_for_function("document.querySelector('.rail input').dataset.total > 111")
    page.wait_for_timeout(600)
    later = "produce y1"
    assert [one for one in strings(page) if later in one]
    more(page).locator("#predict").click()
    asked = page.frame_locator(".predicting iframe")
    asked.locator('body[data-ready="1"] .choice').first.wait_for()
    asked.frame_locator("iframe.stage").locator('body[data-ready="1"]').wait_for()
    received.clear()
    for _ in range(8):  # what a frame under way holds goes when it is drawn
        page.wait_for_timeout(600)
        known = [one for one in strings(page) if later in one]
        if not known:
            break
    assert not known
    held = [text for frame in page.frames for text in frame.evaluate(HELD)]
    assert not [text for text in held if later in text]
    assert not [frame for frame in received if "steps" in str(frame)]
    assert "/s/R11?step=110" in page.url and not violations(page)
    page.keyboard.press("Escape")
    page.wait_for_selector("#board:visible")
    at(page, 110)
    more(page).locator("#predict").click()
    asked.locator('body[data-ready="1"] .choice').first.wait_for()
    page.keyboard.press("t")
    page.keyboard.press("1")
    asked.locator("#verdict").wait_for()
    kept = json.loads(page.evaluate("localStorage.getItem('highwater.answers')"))
    assert kept[0]["sure"] == 2 and int(kept[0]["probe"].split("@")[1].split(".")[0]) >= 110
    until = json.loads(asked.locator("#onward").get_attribute("data-onward"))["to"]
    asked.locator("#onward").click()
    at(page, until)
    assert until > 110 and page.locator("#board").is_visible()


def test_a_pasted_cluster_is_asked_about(visit: Opener) -> None:
    page = visit("/cluster")
    page.locator("#text").fill(DESCRIBED)
    page.locator("#paste .btn.primary").click()
    page.get_by_role("button", name="Quiz: five questions about your cluster").click()
    for n in range(1, 6):
        page.get_by_text(f"Question {n} of 5 about this run").wait_for()
        page.wait_for_selector('body[data-ready="1"]')
        page.keyboard.press("1")
        page.wait_for_selector("#verdict")
        page.locator("#next").click()
    page.wait_for_url("**/r/*")
