"""Links that open at exactly that moment, frames for other pages, files to take along."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from tests.e2e.conftest import Opener, Server
from tests.e2e.test_live import axe
from tests.e2e.walk import at, jump, step_of, total


@pytest.fixture
def elsewhere() -> Iterator[Callable[[str], str]]:
    """elsewhere(html) -> the address of that page on another site."""
    html = ""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """A test says nothing."""

    other = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    Thread(target=other.serve_forever, daemon=True).start()

    def put(text: str) -> str:
        nonlocal html
        html = text
        return f"http://localhost:{other.server_port}/"

    yield put
    other.shutdown()
    other.server_close()


def branch(page: Any) -> int:
    """A run of one's own, that no server has saved; the step it stands at."""
    jump(page, 3)
    page.get_by_label("Type a move").fill("kill 3")
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-id="b3"][data-alive="down"]')
    return step_of(page)


def shared(page: Any, kind: str = "Short") -> str:
    """The link that the dialog hands over, from its path on."""
    page.get_by_role("button", name="Share").click()
    page.get_by_role("radio", name=kind).check()
    page.get_by_role("button", name=re.compile("opy$")).click()
    page.get_by_text("Copied.").or_(page.get_by_text("The text is selected")).wait_for()
    href = page.get_by_label("Link to this run").input_value()
    page.keyboard.press("Escape")
    return str(href[href.index("/r") :])


def test_a_link_opens_elsewhere_at_the_same_step_view_and_language(visit: Opener) -> None:
    page = visit("/s/S01?lang=zh")
    page.get_by_role("tab", name="检查").click()
    jump_to = "el => { el.value = 4; el.dispatchEvent(new Event('input', {bubbles: true})); }"
    page.locator("#rail input[type=range]").evaluate(jump_to)
    at(page, 4)
    page.locator('input[name="size"][value="moment"]').check()
    page.wait_for_function("() => location.search.includes('size=moment')")
    address = page.evaluate("location.pathname + location.search")
    other = visit(address)
    at(other, 4)
    assert other.locator("html").get_attribute("lang") == "zh-Hans"
    assert other.get_by_role("tab", name="检查").get_attribute("aria-selected") == "true"
    assert other.locator('input[name="size"][value="moment"]').is_checked()


def test_saving_gives_a_short_link_that_opens_elsewhere(visit: Opener) -> None:
    page = visit("/s/S01")
    step = branch(page)
    href = shared(page)
    assert href.startswith("/r/") and len(href) < 80
    other = visit(href)
    at(other, step)
    assert other.get_attribute('[data-id="b3"]', "data-alive") == "down"


def test_a_link_with_the_run_inside_needs_no_memory_of_the_server(
    visit: Opener, frail: Server
) -> None:
    page = visit("/s/S01")
    step = branch(page)
    href = shared(page, "Self-contained")
    other = visit(href, site=frail)  # a server that has never heard of this run
    at(other, step)
    assert other.get_attribute('[data-id="b3"]', "data-alive") == "down"
    title = other.get_by_role("heading", level=1).inner_text()
    assert title == "When exactly is a record committed?"


def test_what_a_link_cannot_say_is_named_and_the_nearest_opens(visit: Opener) -> None:
    page = visit("/s/S01")
    branch(page)
    href = shared(page, "Self-contained")
    cut = visit(href[:-7])
    assert "the last 7 are missing" in cut.locator('[data-notice="warn"]').inner_text()
    assert step_of(cut) == 0 or step_of(cut) <= total(cut)
    late = visit("/s/S01?step=999999&size=huge&p=3")
    words = late.locator('[data-notice="warn"]').inner_text()
    assert "step 999999" in words and "size=huge" in words and "partition 3" in words
    at(late, total(late))


def test_a_frame_on_another_site_steps_through_the_run(
    visit: Opener, elsewhere: Callable[[str], str]
) -> None:
    page = visit("/s/S01?step=3")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("tab", name="Embed").click()
    page.get_by_role("button", name="Save the run").click()
    markup = page.get_by_label("Markup for your page").input_value()
    preview = page.frame_locator("iframe.preview")
    preview.locator('#stage[data-step="3"]').wait_for()
    page.goto(elsewhere(f"<!doctype html><title>Elsewhere</title>{markup}"))
    frame = page.frame_locator("iframe")
    frame.locator('#stage[data-step="3"]').wait_for()
    frame.get_by_role("button", name="Step on").click()
    frame.locator('#stage[data-step="4"]').wait_for()
    assert "4 / " in frame.locator("#bar").inner_text()
    assert [one["name"] for one in page.context.cookies("http://localhost")] == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_axe_finds_nothing_in_what_is_shared(
    visit: Opener, server: Server, lang: str
) -> None:
    page = visit(f"/s/S01?step=3&lang={lang}", color_scheme="dark" if lang == "zh" else "light")
    digest = page.locator("a[href^='/batch?run=']").get_attribute("href").split("=")[1]
    page.locator(".titlebar [aria-haspopup=dialog]").click()
    for part in page.locator("#share [role=tab]").all():
        part.click()
        assert axe(page) == []
    page.goto(f"{server.url}/e/{digest}?lang={lang}")
    page.wait_for_selector('body[data-ready="1"]')
    assert axe(page) == []
