"""Run at scale in a browser: from the form over Spark to the failing run."""

from __future__ import annotations

import re
from typing import Any

import pytest

from engine.study.metrics import METRICS
from tests.e2e.axe import violations
from tests.e2e.conftest import Opener
from tests.e2e.walk import STEPS, step_of, total

pytestmark = pytest.mark.spark

SPARK_WITHIN_MS = 180_000


def finished(page: Any) -> None:
    page.wait_for_selector("#said", timeout=SPARK_WITHIN_MS)
    page.wait_for_selector("#shares svg")


@pytest.fixture(scope="module")
def batch(browser: Any, server: Any) -> str:
    """The address of a small batch that was started by hand and has finished."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url + "/batch?scenario=S61")
    page.wait_for_selector('body[data-ready="1"]')
    page.locator("#otherreleases").evaluate("one => one.open = true")
    for box in page.query_selector_all("input[name=profiles]:checked"):
        box.uncheck()
    for name in ("Z0102", "K39"):
        page.check(f"input[name=profiles][value={name}]")
    page.fill("#runs", "40")
    page.click("#start")
    page.wait_for_url("**/batch/*")
    finished(page)
    address = str(page.url)[len(server.url) :]
    context.close()
    return address


@pytest.fixture(scope="module")
def grid(browser: Any, server: Any, batch: str) -> tuple[str, str]:
    """The address of a study with two varied values, and that of it beside the first one."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url + "/batch?scenario=S61")
    page.wait_for_selector('body[data-ready="1"]')
    page.locator("#otherreleases").evaluate("one => one.open = true")
    for box in page.query_selector_all("input[name=profiles]:checked"):
        box.uncheck()
    page.check("input[name=profiles][value=Z0102]")
    page.fill("#runs", "6")
    page.fill("#vary", "min.insync.replicas=1,2\nbrokers=3,5")
    page.click("#start")
    page.wait_for_url("**/batch/*")
    finished(page)
    page.locator("#manage > summary").click()
    page.get_by_text("Name…").click()
    page.fill("[name=title]", "A grid")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="A grid").wait_for()
    address = str(page.url)[len(server.url) :]
    page.locator("#manage > summary").click()
    page.fill("[name=address]", server.url + batch)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_url("**/with/*")
    beside = str(page.url)[len(server.url) :]
    context.close()
    return address, beside


@pytest.mark.night
def test_a_cell_of_the_map_leads_to_its_failing_runs(visit: Opener, grid: tuple[str, str]) -> None:
    page = visit(grid[0] + "#heat")
    assert page.evaluate("scrollY") > 0, "a link to a chart ends at the chart"
    assert page.locator("#heat .plot rect.go").count() == 4
    page.locator("#heat details summary").click()
    by_hand = page.locator("#heat tbody a").first.get_attribute("href")
    page.locator("#heat .plot rect.go").first.click()
    page.wait_for_url(f"**{by_hand}")
    assert page.locator("#failures select[name=cell]").input_value() == "0"
    rows = page.locator("#failures tbody tr td:nth-child(3)").all_inner_texts()
    assert set(rows) <= {"min.insync.replicas=1, brokers=3"}


def test_two_studies_side_by_side(visit: Opener, grid: tuple[str, str]) -> None:
    page = visit(grid[1])
    assert page.get_by_role("link", name="A grid").is_visible()
    assert "Seeds 0 to 5 are the same runs" in page.inner_text("#remarks")
    drawn = page.locator("#shares svg")
    assert drawn.get_attribute("aria-label").count("Kafka 0.10.2") == 2
    page.locator("#shares select").select_option("")
    with page.expect_download() as got:
        page.locator("#shares .give button", has_text="CSV").click()
    text = got.value.path().read_text()
    assert text.startswith("study,profile,cell,hits,n,share,low,high")
    assert page.locator("#shares .give a").get_attribute("href").endswith("#shares")


def test_the_result_says_counts_draws_and_lists(visit: Opener, batch: str) -> None:
    page = visit(batch)
    said = page.inner_text("#said")
    assert re.search(
        r"\d+ of 40 runs lost a record that Kafka had promised to keep under Kafka 0\.10\.2", said
    )
    assert "40 runs" in said
    assert page.locator("#shares svg").get_attribute("role") == "img"
    assert re.match(r"Kafka 0\.10\.2: \d", page.locator("#shares svg").get_attribute("aria-label"))
    for part in page.locator("details.part > summary").all():
        part.click()
    shown = page.locator("#shares svg").get_attribute("aria-label")
    assert shown.count("Kafka 3.9.1") == 1
    assert page.locator("#metrics tbody").count() == len(METRICS)
    for kind, said in (("produce", "Produce latency"), ("replication", "Replication lag")):
        tail = page.locator(f"#tail-{kind}")
        assert re.match(said + r".*: \d+ % of \d+ runs under", tail.locator("h3").inner_text())
        assert tail.locator("svg").get_attribute("role") == "img"
        assert tail.locator("details.twin tbody tr").count() in (6, 8), "p50 to p90 or p95, of two"
        assert tail.get_by_role("link").get_attribute("href").endswith(f"#tail-{kind}")
    causes = page.locator("#causes")
    told = causes.locator("svg").get_attribute("aria-label")
    assert re.match(r"Kafka 0\.10\.2 \D+ · \D+: \d+", told), told
    assert "Kafka 3.9.1" not in told, "none of its runs failed"


def test_a_study_is_a_poster(visit: Opener, batch: str) -> None:
    """Two screens at most before the folds, and texts to quote under one button."""
    page = visit(batch, viewport={"width": 1440, "height": 900})
    folds = page.locator("details.part").first.bounding_box()
    assert folds["y"] < 2 * 900
    assert page.locator("details.part[open]").count() == 0
    page.locator("#copies summary").click()
    source = page.inner_text("#source")
    for text in page.locator("#copies textarea").all()[:2]:
        assert source in text.input_value()
    page.locator("#rows a").first.click()
    page.wait_for_selector('body[data-ready="1"]')


def test_a_failing_run_opens_before_the_violation(visit: Opener, batch: str) -> None:
    page = visit(batch + "?profile=Z0102&invariant=I7&order=step")
    row = page.locator("#failures tbody tr").first
    step = int(row.locator("td").nth(3).inner_text())
    row.get_by_role("link").first.click()
    page.wait_for_selector('body[data-ready="1"]')
    lead = min(step, 10)
    assert f"step={step - lead}" in page.url
    assert page.get_by_role("tab", name="Checks").get_attribute("aria-selected") == "true"
    while step_of(page) < step:
        here = step_of(page)
        page.keyboard.press("ArrowRight")
        page.wait_for_function(STEPS, arg=here)
    page.locator('[role="alert"][data-violation~="I7"]').wait_for()


@pytest.mark.night
def test_a_failing_run_is_shortened_and_asked_when_it_was_lost(visit: Opener, batch: str) -> None:
    page = visit(batch + "?profile=Z0102&invariant=I7&order=step")
    row = page.locator("#failures tbody tr").first
    step = int(row.locator("td").nth(3).inner_text())
    row.get_by_text("More…").click()
    row.get_by_role("button", name="Shorten").click()
    page.wait_for_url("**/r/**")
    page.wait_for_selector('body[data-ready="1"]')
    assert total(page) < step, "a shorter run"
    page.keyboard.press("ArrowRight")
    page.get_by_role("alert").wait_for()
    asks = page.locator("#caption")
    asks.get_by_role("button", name="Point of no return").click()
    asks.get_by_role("button", name="Start up to").click()
    page.wait_for_url("**/batch/*")
    page.wait_for_selector("#futures svg", timeout=SPARK_WITHIN_MS)
    page.get_by_role("link", name="Open the run there").click()
    page.locator(".noreturn polygon").wait_for()


def test_progress_and_cancel(visit: Opener, batch: str) -> None:
    page = visit("/batch?scenario=S61")
    page.fill("#runs", "20000")
    page.click("#start")
    page.wait_for_url("**/batch/*")
    page.locator("#figures", has_text="runs/s").wait_for(timeout=SPARK_WITHIN_MS)
    page.locator("#shares svg").wait_for(timeout=SPARK_WITHIN_MS)
    page.get_by_role("button", name="Cancel").click()
    page.locator("#ended", has_text="Cancelled.").wait_for(timeout=SPARK_WITHIN_MS)
    assert page.get_by_role("button", name="Run the rest").is_visible()
    assert page.locator("#rows tbody tr").count() >= 1


def test_invalid_batches_get_a_sentence_beside_the_button(browser: Any, server: Any) -> None:
    context = browser.new_context()  # Chromium itself reports the refusal as an error
    page = context.new_page()
    page.goto(server.url + "/batch")
    page.wait_for_selector('body[data-ready="1"]')
    page.fill("#vary", "nonsense=1")
    page.click("#estimate")
    page.locator("#problem", has_text="nonsense cannot be varied").wait_for()
    assert page.input_value("#vary") == "nonsense=1"
    context.close()


@pytest.mark.parametrize(("lang", "scheme"), [("en", "light"), ("zh", "dark")])
def test_everybody_can_use_the_pages(
    visit: Opener, batch: str, grid: tuple[str, str], lang: str, scheme: str
) -> None:
    for path in ("/batch", batch, *grid):
        page = visit(f"{path}?lang={lang}", color_scheme=scheme, bypass_csp=True)
        if path == batch:
            finished(page)
        assert violations(page) == [], path


WIDE = """[...document.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right >
innerWidth + 0.5).map(e => `${e.tagName}.${e.className} ${e.getBoundingClientRect().right}`)"""


@pytest.mark.parametrize("width", [320, 1024])
def test_no_page_scrolls_sideways(
    visit: Opener, batch: str, grid: tuple[str, str], width: int
) -> None:
    for path in ("/batch", batch, *grid):
        page = visit(path, viewport={"width": width, "height": 800})
        wide = page.evaluate(WIDE)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, wide)
