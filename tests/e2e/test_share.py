"""Links that open at exactly that moment, frames for other pages, files to take along."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from xml.etree import ElementTree

import pytest

from engine.scenarios.file import library
from engine.sim.run import Run
from tests.bench.view import LOAD
from tests.e2e.conftest import Opener, Server
from tests.e2e.walk import at, jump, more, panel, run_of, step_of, total, typed


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
    typed(page, "kill 3")
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
    panel(page, "检查")
    jump_to = "el => { el.value = 4; el.dispatchEvent(new Event('input', {bubbles: true})); }"
    page.locator(".rail input").evaluate(jump_to)
    at(page, 4)
    more(page).locator('input[name="size"][value="moment"]').check(force=True)
    page.wait_for_function("() => location.search.includes('size=moment')")
    address = page.evaluate("location.pathname + location.search")
    other = visit(address)
    at(other, 4)
    assert other.locator("html").get_attribute("lang") == "zh-Hans"
    assert other.get_by_role("tab", name="检查").get_attribute("aria-selected") == "true"
    assert more(other).locator('input[name="size"][value="moment"]').is_checked()


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


def test_a_run_that_can_be_played_no_further_says_so(visit: Opener) -> None:
    run = Run(library()["happy-path"], "K41", 0, ("produce m1", "restart 1", "settle"))
    data = base64.urlsafe_b64encode(zlib.compress(run.text().encode())).decode().rstrip("=")
    page = visit(f"/r#run=2.{len(data)}.{data}")
    words = page.locator("[data-stops]").inner_text()
    assert "cannot play it further" in words and "Move 2 (“restart 1”)" in words
    at(page, 0)
    page.keyboard.press("ArrowRight")
    at(page, 1)


def test_invalid_parts_of_a_link_are_named_and_the_nearest_opens(visit: Opener) -> None:
    page = visit("/s/S01")
    branch(page)
    href = shared(page, "Self-contained")
    cut = visit(href[:-7])
    assert "the last 7 are missing" in cut.locator('[data-notice="warn"]').inner_text()
    assert step_of(cut) == 0 or step_of(cut) <= total(cut)
    nothing = visit("/r#run=2.99.abc").locator('[data-notice="warn"]').inner_text()
    assert "the last 96 are missing" in nothing and "first scenario" in nothing
    late = visit("/s/S01?step=999999&size=huge&p=3&view=map&layers=disk,sky")
    words = late.locator('[data-notice="warn"]').inner_text()
    assert "step 999999" in words and "size=huge" in words and "partition 3" in words
    assert "view=map" in words and "layers=sky" in words
    words = visit("/s/S01?lang=de").locator('[data-notice="warn"]').inner_text()
    assert words == "The link says lang=de; it can say zh, zh-Hans, en."
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
    frame.locator('#stage[data-step="5"]').wait_for()
    assert "5 / " in frame.locator("#bar").inner_text()
    assert "Broker 2 copies a." in frame.locator(".caption").inner_text()
    assert "Kafka 3.9.1" in frame.locator(".titled").inner_text()
    assert [one["name"] for one in page.context.cookies("http://localhost")] == []


def test_a_run_that_replays_differently_says_so(
    visit: Opener, server: Server, frail: Server
) -> None:
    page = visit("/s/S01?step=3")
    href = shared(page)
    with sqlite3.connect(frail.place / "highwater.db") as rows:  # has not played it
        rows.execute("attach ? as other", (str(server.place / "highwater.db"),))
        rows.execute("insert into run select * from other.run where digest = ?", (run_of(page),))
        rows.execute("update run set engine_version = 0, outcome = 'another'")
    other = visit(href, site=frail)
    at(other, 3)
    words = other.locator('[data-older="differs"]').inner_text()
    assert words.startswith("Engine 0 saved this run") and words.endswith("replays it differently.")


# -- files ----------------------------------------------------------------------------------------


def taken(page: Any, press: Callable[[], object]) -> tuple[str, bytes]:
    """The name and the bytes of what a press hands over."""
    with page.expect_download() as coming:
        press()
    return coming.value.suggested_filename, coming.value.path().read_bytes()


def exporting(visit: Opener, path: str) -> Any:
    page = visit(path)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("tab", name="Export").click()
    return page


def test_a_frame_is_a_picture_that_needs_nothing_else(visit: Opener) -> None:
    page = exporting(visit, "/s/R20?profile=Z0102&step=137")
    name, svg = taken(page, page.get_by_role("button", name="SVG").click)
    assert name == "gone-after-a-clean-election-Z0102-137.svg"
    text = svg.decode()
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    title, desc = (root.find(f"{{http://www.w3.org/2000/svg}}{one}") for one in ("title", "desc"))
    assert title is not None and "Can an acknowledged record vanish?" in str(title.text)
    assert desc is not None and "Broker 3 becomes leader in epoch 4." in str(desc.text)
    assert re.search(r"/r/[0-9a-f]{16}\?step=137", str(desc.text)) and "Apache-2.0" in str(
        desc.text
    )
    # Neither links nor style sheets, variables or classes of the page it came from.
    of_a_page = r"href|@import|var\(|class=|light-dark|color-mix|oklab|<style|<script"
    assert not re.search(of_a_page, text)
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {"#off", "#hatch"}
    assert text.count("HW 1") == 1 and "LEO" not in text, "what everybody sees"
    name, png = taken(page, page.get_by_role("button", name="PNG", exact=True).click)
    assert name.endswith("-137.png") and png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == (2 * int(root.get("width", 0)), 2 * int(root.get("height", 0)))
    assert page.locator("#stage .offstage").count() == 0


def frames_of(gif: bytes) -> int:
    """How many pictures a GIF has, by walking over its blocks."""
    at = 13 + (3 << ((gif[10] & 7) + 1) if gif[10] & 128 else 0)
    frames = 0
    while gif[at] != 0x3B:
        if gif[at] == 0x21:
            at += 2
        else:
            assert gif[at] == 0x2C
            frames += 1
            packed = gif[at + 9]
            at += 10 + (3 << ((packed & 7) + 1) if packed & 128 else 0) + 1
        while gif[at]:
            at += gif[at] + 1
        at += 1
    return frames


FRAMES_OFF = (
    f"""async ({{ gif, first }}) => {{ {LOAD}"""
    + """
  const [s, frame] = await Promise.all([load("animator/state"), load("export/frame")]);
  const data = Uint8Array.from(atob(gif), (one) => one.charCodeAt(0));
  const decoder = new ImageDecoder({ data, type: "image/gif" });
  await Promise.all([decoder.tracks.ready, decoder.completed]);
  const off = [];
  for (let i = 0; i < decoder.tracks.selectedTrack.frameCount; i += 1) {
    const { image } = await decoder.decode({ frameIndex: i });
    const { displayWidth: w, displayHeight: h } = image;
    // Words over and under the picture are not compared: only the stage has a twin here.
    const head = { title: "", kind: "", words: "" };
    const words = { title: "", head, lines: [] };
    const svg = frame.ofStep(s.tapeNow.value.steps.get(first + i), w, words);
    const draw = (one) => {
      const pen = new OffscreenCanvas(w, h).getContext("2d", { willReadFrequently: true });
      pen.drawImage(one, 0, 0);
      return pen.getImageData(0, 36, w, Math.floor(svg.height) - 36 - 14).data;
    };
    const [a, b] = [draw(image), draw(await frame.image(svg.text))];
    let wrong = 0;
    for (let at = 0; at < a.length; at += 4) {
      if ([0, 1, 2].some((k) => Math.abs(a[at + k] - b[at + k]) > 24)) wrong += 1;
    }
    off.push(wrong / (a.length / 4));
  }
  frame.clear();
  return off;
}"""
)
"""Which share of each frame's pixels is not what the stage shows at its step: of a palette's 255
colours, letters' edges get the nearest."""


def test_steps_become_an_animation_that_can_be_stopped(visit: Opener) -> None:
    page = exporting(visit, "/s/S20?profile=Z0102&step=3")
    page.get_by_text(re.compile(r"\d+ frames, ")).wait_for()
    page.get_by_label("the story, beat by beat").uncheck()
    page.get_by_label("from step").fill("2")
    page.get_by_label("to step").fill("5")
    page.get_by_label("with motion between steps").uncheck()
    page.get_by_text("4 frames, ").wait_for()
    page.get_by_role("button", name="Estimate its size").click()
    page.get_by_text(re.compile(r"About \d+ kB")).wait_for()
    name, gif = taken(page, page.get_by_role("button", name="Make the GIF").click)
    assert name.endswith(".gif") and gif[:6] == b"GIF89a"
    width, height = struct.unpack("<HH", gif[6:10])
    assert width == 960 and 300 < height < 700
    assert frames_of(gif) == 4
    told = {"gif": base64.b64encode(gif).decode(), "first": 2}
    assert max(page.evaluate(FRAMES_OFF, told)) < 0.004, "each frame is the picture of its step"
    page.get_by_label("to step").fill("66")
    page.keyboard.press("Tab")
    page.get_by_text("65 frames, ").wait_for()
    page.get_by_role("button", name="Make the GIF").click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Make the GIF").wait_for()
    assert page.locator("#stage .offstage").count() == 0


def test_beats_become_a_film_and_a_strip(visit: Opener) -> None:
    page = exporting(visit, "/s/S01?size=story")
    page.get_by_text(re.compile(r"\d+ frames, ")).wait_for()
    page.get_by_label("with motion between steps").uncheck()
    beats = int(page.get_by_text(re.compile(r"\d+ frames, ")).inner_text().split()[0])
    name, png = taken(page, page.get_by_role("button", name="Make a strip").click)
    assert name.endswith(".png") and png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert width == 960 and height > 400 * beats
    page.get_by_label("the story, beat by beat").uncheck()
    page.get_by_label("from step").fill("2")
    page.get_by_label("to step").fill("3")
    page.keyboard.press("Tab")
    page.get_by_text("2 frames, ").wait_for()
    name, film = taken(page, page.get_by_role("button", name="Make the film").click)
    assert name.endswith(".webm") and film[:4] == b"\x1a\x45\xdf\xa3" and len(film) > 5_000


def test_texts_are_handed_over_under_their_names(visit: Opener) -> None:
    page = visit("/s/S01")
    branch(page)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("tab", name="Export").click()
    press = page.get_by_role("link", name="Download: Run, JSON").click
    name, run = taken(page, press)
    assert name.endswith(".run.json") and json.loads(run)["moves"][-1] == "kill 3"
    page.get_by_role("tab", name="Test").click()
    page.get_by_label("Test of this run").wait_for()
    assert "def test_run_" in page.get_by_label("Test of this run").input_value()


# -- one's own cluster ----------------------------------------------------------------------------


def test_a_pasted_cluster_opens_in_the_animator(visit: Opener) -> None:
    page = visit("/cluster")
    page.get_by_role("button", name="Insert an example").click()
    box = page.get_by_label("Paste a describe")
    assert page.get_by_role("button", name="Insert an example").is_disabled()
    page.get_by_text("What can be read").click()
    page.get_by_role("button", name="Insert the line").click()
    assert box.input_value().endswith("# broker 1 orders-0 leader-epoch-checkpoint\n")
    page.get_by_role("button", name="Read it").click()
    page.get_by_text("Not in any ISR, so offline in the run: broker 3").wait_for()
    page.get_by_role("link", name="Open in the animator, Kafka 3.9").click()
    page.wait_for_selector('body[data-ready="1"] #stage[data-step="0"]')
    page.wait_for_selector('[data-id="b3"][data-alive="down"]')
    assert page.locator('[data-id$=":same"]').count() == 3
    typed(page, "restart 3")
    page.wait_for_selector('[data-id="b3"]:not([data-alive="down"])')


def test_an_assumption_is_changed_with_one_press(visit: Opener) -> None:
    page = visit("/cluster")
    box = page.get_by_label("Paste a describe")
    box.fill("Topic: a Partition: 0 Leader: 1 Replicas: 1,2,3 Isr: 1,2\n")
    page.get_by_role("button", name="Read it").click()
    page.get_by_text("Offline: broker 3.").wait_for()
    page.get_by_role("button", name="Broker 3 is running").click()
    page.get_by_text("Offline: broker 3.").wait_for(state="detached")
    page.get_by_role("button", name="Use 2").click()
    page.get_by_text("does not have min.insync.replicas").wait_for(state="detached")
    assert box.input_value().splitlines()[:2] == [
        "# min.insync.replicas=2",
        "# broker 3 is running",
    ]
    page.get_by_role("link", name="Open in the animator").click()
    page.wait_for_selector('body[data-ready="1"] [data-id="b3"]:not([data-alive="down"])')


def test_a_garbled_line_is_named_by_its_number(visit: Opener) -> None:
    page = visit("/cluster?lang=zh", color_scheme="dark")
    text = "Topic: a Partition: 0 Leader: 1 Replicas: 1,2 Isr: 1\nhello\n"
    page.locator("#text").fill(text)
    page.get_by_role("button", name="读取").click()
    assert "第 2 行" in page.get_by_role("alert").inner_text()
    page.get_by_role("link", name="打开已读取的部分").wait_for()
