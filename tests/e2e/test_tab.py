"""The playground without a server: a folder on a host of files, and a real Chromium in it."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.explore.answering import SearchTask
from app.explore.search_request import Ask, budgets_of
from app.site.layout import SiteLayout
from engine.model.languages import short
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.sim.run import Run
from engine.study.batch import VIOLATES, run_chunk
from tests.conftest import THOROUGH
from tests.e2e.conftest import CALM, SEEN, Chromium, Opener
from tests.e2e.walk import more, typed
from tests.site_folder import LANGS, served

R20 = find("R20")
LOST = Run(R20, "Z0102", 0)
READY = 'body[data-ready="1"]'
ENGINE_MS = 60_000
"""For the engine of a tab on a busy machine."""
ASK = """
async ([event, request]) => {
  const channel = highwaterSite.connect({ onConnect() {} });
  const answer = await channel.engine.ask(
    "ask", { event, request: JSON.stringify(request), lang: "en" });
  return answer;
}
"""


@dataclass
class Tab:
    """A visitor of the site: pages in one context, and whatever went wrong in them."""

    context: Any
    root: str
    wrong: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def page(self) -> Any:
        page = self.context.new_page()
        page.set_default_timeout(ENGINE_MS)
        page.on("pageerror", lambda error: self.wrong.append(f"{page.url}: {error}"))
        page.on("console", lambda message: self._console(page, message))
        page.on("request", lambda request: self._request(page, request.url))
        page.on("response", lambda answer: self._response(page, answer))
        return page

    def open(self, path: str, ready: str = READY) -> Any:
        page = self.page()
        page.goto(self.root + path)
        page.wait_for_selector(ready)
        return page

    def _console(self, page: Any, message: Any) -> None:
        blocked = "blocked by Playwright" in message.text  # of the service worker
        if message.type in ("error", "warning") and not blocked:
            self.wrong.append(f"{page.url}: {message.text}")

    def _request(self, page: Any, url: str) -> None:
        self.loaded.append(url)
        if not url.startswith((self.root, "blob:", "data:")):
            self.wrong.append(f"{page.url} asks {url}")

    def _response(self, page: Any, answer: Any) -> None:
        if answer.status >= 400:
            self.wrong.append(f"{page.url}: {answer.status} {answer.url}")


@pytest.fixture(scope="session")
def host(site_folder: Path) -> Iterator[str]:
    """The address of the site, which lies in a subdirectory of its host."""
    with served(site_folder.parents[1]) as address:
        yield f"{address}{site_folder.parent.name}/{site_folder.name}/"


@pytest.fixture
def tab(browser: Chromium, host: str) -> Iterator[Tab]:
    """A visitor who has never been here.  Errors, 404s and requests elsewhere fail the test."""
    context = browser.new_context(**CALM, service_workers="block")
    context.add_init_script(SEEN)
    visitor = Tab(context, host)
    yield visitor
    context.close()
    assert visitor.wrong == []


@pytest.fixture(scope="module")
def awake(browser: Chromium, host: str) -> Iterator[Any]:
    """A page whose engine is there, for tests that ask it; to start one takes seconds."""
    context = browser.new_context(**CALM, service_workers="block")
    context.add_init_script(SEEN)
    visitor = Tab(context, host)
    yield visitor.open(f"s/{R20.slug}/?profile=Z0102&step=9")
    context.close()
    assert visitor.wrong == []


def ask(page: Any, event: str, **request: Any) -> Any:
    return page.evaluate(ASK, [event, request])


# -- played from the folder, and by the engine ----------------------------------------------------


def test_a_library_run_is_stepped_to_a_loss_before_there_is_an_engine(tab: Tab) -> None:
    held: list[Any] = []
    tab.context.route(
        "**/pyodide/**", lambda route: held.append(route)
    )  # the interpreter never comes
    page = tab.open(f"s/{R20.slug}/?profile=Z0102&size=moment")
    assert page.locator('#stage[data-step="0"]').count() == 1
    assert page.locator('.rail input[data-total="188"]').count() == 1
    for _ in range(200):
        page.keyboard.press("ArrowRight")
        if page.evaluate("new URLSearchParams(location.search).get('step')") == "188":
            break
        page.wait_for_timeout(20)
    page.wait_for_selector(".caption.lost")
    assert "lost" in page.locator(".caption").inner_text().lower()
    assert page.locator(".sitebar progress").is_visible()
    for route in held:
        route.abort()
    page.close()
    tab.wrong.clear()  # of the interpreter that was held back


def _branch(draw: random.Random, run: Run) -> tuple[Run, int, str]:
    """A random move at a random step of a run, as a visitor can make it."""
    replay = Replay(run)
    step = draw.randrange(replay.total)
    able = [one["text"] for one in replay.possible(step) if one["enabled"]]
    text = draw.choice(able)
    return replay.branch(step, text), step, text


def test_runs_in_the_tab_have_the_digests_and_steps_of_the_native_engine(awake: Any) -> None:
    draw = random.Random(36)
    every = list(library().values())
    for scenario in every if THOROUGH else draw.sample(every, 12):
        profile = draw.choice(scenario.profiles)
        run = Run(scenario, profile, 0)
        replay = Replay(run)
        told = ask(awake, "open", scenario=scenario.slug, profile=profile, ahead=0)
        assert (told["run"], told["facts"]["total"]) == (run.digest, replay.total), scenario.slug
        assert told["facts"]["verdict"]["holds"] == replay.verdict()["holds"]
        last = ask(awake, "seek", run=run.digest, step=replay.total)["steps"]
        own = replay.around(max(0, replay.total - 2), replay.total, 8)
        assert last == json.loads(json.dumps(own)), scenario.slug


@pytest.mark.night
def test_random_moves_in_the_tab_make_the_runs_of_the_native_engine(awake: Any) -> None:
    draw = random.Random(1)
    for code in draw.sample([one.code for one in library().values()], 50 if THOROUGH else 10):
        scenario = find(code)
        run = Run(scenario, scenario.profiles[0], 0)
        if scenario.workload.producers:
            continue
        native, step, text = _branch(draw, run)
        ask(awake, "open", text=run.text(), ahead=0)
        moved = ask(awake, "move", run=run.digest, step=step, text=text)
        assert moved["run"] == native.digest, (code, step, text)
        assert moved["facts"]["total"] == Replay(native).total


def test_a_move_becomes_a_link_that_the_server_opens_and_the_other_way_round(
    awake: Any, visit: Opener
) -> None:
    """A pasted cluster shows that the site opens such a link (below): here both make the same."""
    typed(awake, "kill 3")
    awake.wait_for_url(re.compile("#run="))
    digest = awake.evaluate("history.state.run")
    assert digest == Replay(LOST).branch(9, "kill 3").digest
    link = urlsplit(awake.url)
    there = visit(f"/r?{link.query}#{link.fragment}")
    assert there.evaluate("history.state.run") == digest
    assert there.locator(".caption").inner_text() == awake.locator(".caption").inner_text()
    back = urlsplit(there.url)
    assert (back.fragment, back.query) == (link.fragment, link.query)


@pytest.mark.parametrize(
    ("hash", "words"),
    [("#run=2.50.abc", "characters"), ("#run=9.3.abc", "format 9"), ("", "no run")],
)
def test_a_damaged_link_names_what_is_damaged(tab: Tab, hash: str, words: str) -> None:
    page = tab.open(f"r/{hash}")
    assert words in page.locator("#notice").inner_text()


@pytest.mark.night
def test_an_engine_that_dies_is_started_again_and_knows_the_run(awake: Any) -> None:
    asked = "run => highwaterSite.connect({ onConnect() {} }).ask('possible', { run, step: 9 })"
    first = awake.evaluate(asked, LOST.digest)
    awake.evaluate(
        "highwaterSite.connect({ onConnect() {} }).engine.worker.dispatchEvent(new Event('error'))"
    )
    assert awake.evaluate(asked, LOST.digest) == first


# -- pages ----------------------------------------------------------------------------------------

LINKS = (
    "/",
    "/glossary#F-6",
    "/s/R20?profile=Z0102&step=3",
    "/s/R20/ladder",
    "/s/R20?lang=zh",
    "/learn?n=1",
    "/r/0123456789abcdef?step=3",
    "/e/0123456789abcdef?controls=play",
    "/r/0123456789abcdef/compare?with=K39",
    "/batch",
    "/batch/0123456789ab",
    "/static/icons.svg",
)


@pytest.mark.parametrize("lang", [short(lang) for lang in LANGS])
def test_scripts_place_a_link_where_the_builder_places_it(
    tab: Tab, lang: str, site_folder: Path
) -> None:
    page = tab.open("cluster/" if lang == "en" else "zh/cluster/", "#paste")
    told = page.evaluate("({ ...highwaterMap, words: null, packs: null })")
    layout = SiteLayout(tuple(told["langs"]), set(told["pages"]), told["codes"])
    layout.answers = set(told["answers"])
    for link in LINKS:
        placed = page.evaluate("link => highwaterSite.placed(link)", link)
        assert placed == tab.root + layout.address(link, lang), link
        assert page.evaluate("link => highwaterSite.placed(link)", placed) == placed


LEAVING = """(links, root) => links.filter((link) => {
  link.focus(); // places what a script has written
  return !link.href.startsWith(root);
}).map((link) => link.outerHTML)"""


def _every(folder: Path, path: str) -> str:
    return next(one.parent.name for one in sorted((folder / path).glob("*/index.html")))


def test_pages_of_the_folder_open_without_a_complaint(tab: Tab, site_folder: Path) -> None:
    paths = ["", "zh/", "scenarios/", "practice/", "course/", "edit/", "incident/", "glossary/"]
    paths += [f"practice/{_every(site_folder, 'practice')}/", "levels/", "needs-server/"]
    paths += ["zh/e/"]
    page = tab.page()
    for path in paths:
        page.goto(tab.root + path)
        page.wait_for_load_state("load")
        assert page.locator("main").inner_text().strip(), path
    page.wait_for_timeout(300)


@pytest.mark.night
def test_the_engine_renders_the_pages_that_do_not_lie_in_the_folder(tab: Tab) -> None:
    page = tab.open(f"s/{R20.slug}/?profile=Z0102&step=9")
    page.click("#compare")
    page.wait_for_selector("body:not(:has(#rendering)) main h1")
    assert "compare" in page.url and R20.title in page.locator("main").inner_text()
    page.wait_for_selector(READY)
    leaving = page.locator("main a").evaluate_all(LEAVING, tab.root)
    assert leaving == []
    ladder = page.locator('main a[href*="ladder"]').first.get_attribute("href")
    text = page.evaluate("href => fetch(href).then((answer) => answer.text())", ladder)
    assert text.count("<svg") > 5 and R20.title in text


@pytest.mark.night
def test_a_level_is_judged_in_the_tab(tab: Tab) -> None:
    page = tab.open("levels/high-watermark/?moves=kill+1;restart+1;kill+2;wait")
    page.locator(".caption.kept", has_text="3 moves: par.").wait_for(timeout=90_000)
    page.locator("#nextlevel").click()
    page.locator(".goal", has_text="Kafka 1.1").wait_for(timeout=90_000)
    page.locator('[data-id="b1"]').first.wait_for(timeout=90_000)


@pytest.mark.night
def test_every_future_is_searched_in_the_tab_as_by_a_server(tab: Tab) -> None:
    """The counts are those of the search that a server's process plays; and it can be cancelled."""
    native = SearchTask(Ask(LOST, 31, budgets_of({"crashes": 1})))
    while not native.over:
        native.advance(60)
    assert native.answer is not None
    card = native.answer["card"]
    page = tab.open(f"s/{R20.slug}/?profile=Z0102&step=31&tab=moves")
    more(page).get_by_role("link", name="Can it go wrong from here?").click()
    page.wait_for_selector("#question")
    page.wait_for_selector(READY)
    answer = page.locator("#answer")
    page.locator("select[name=crashes]").select_option("3")
    page.locator("select[name=writes]").select_option("3")
    page.get_by_role("button", name="Search every future").click()
    answer.locator("[data-running] p", has_text="states").wait_for()
    answer.get_by_role("button", name="Cancel").click()
    answer.get_by_role("heading", name="Extent of the search").wait_for()
    page.locator("select[name=crashes]").select_option("1")
    page.locator("select[name=writes]").select_option("0")
    page.get_by_role("button", name="Search every future").click()
    answer.get_by_text(f"{card['distinct']:,} different states").first.wait_for()
    answer.locator(".distances li").first.wait_for()
    assert f"{card['generated']:,}" in answer.inner_text()
    assert answer.locator(".distances li").count() == len(native.answer["distances"])
    assert page.url.startswith(tab.root) and "crashes" in page.url


@pytest.mark.night
def test_a_cluster_is_pasted_and_asked_what_if(tab: Tab) -> None:
    page = tab.open("cluster/", "#paste")
    page.fill("#text", "Topic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2\n")
    page.click("#paste button[type=submit], #paste .btn.primary")
    page.wait_for_selector("#found table")
    link = page.locator('#found a[href*="#run="]').first
    page.goto(link.evaluate("link => { link.focus(); return link.href; }"))
    page.wait_for_selector(READY)
    assert page.locator("#stage svg").count() >= 1


def test_the_editor_says_what_is_wrong_where(awake: Any) -> None:
    asked = """async yaml => {
      const answer = await fetch("/api/scenarios/check", { method: "POST",
        headers: { "Content-Type": "application/json" }, body: JSON.stringify({ yaml }) });
      return answer.json();
    }"""
    told = awake.evaluate(asked, "title: a\nscript: |\n  produce m0\n  dance 2\n")
    assert told["ok"] and [one["line"] for one in told["problems"]] == [4]


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("s/R20?profile=Z0102&step=31", f"s/{R20.slug}/?profile=Z0102&step=31"),
        ("zh/s/R20?step=31", f"zh/s/{R20.slug}/?step=31"),
        (f"r/{LOST.digest}?step=31", f"r/?run={LOST.digest}&step=31"),
    ],
)
def test_an_address_of_a_server_leads_into_the_site(
    browser: Chromium, site_folder: Path, path: str, to: str
) -> None:
    context = browser.new_context(**CALM, service_workers="block")
    parts = site_folder.parent.name, site_folder.name
    (site_folder.parents[1] / "404.html").write_bytes((site_folder / "404.html").read_bytes())
    with served(site_folder.parents[1], helpful=True) as address:
        root = f"{address}{'/'.join(parts)}/"
        page = context.new_page()
        gone: list[str] = []
        page.on("framenavigated", lambda frame: gone.append(frame.url))
        page.goto(root + path)
        page.wait_for_selector(READY)
        assert root + to in gone
        page.wait_for_selector('#stage[data-step="31"]')
    context.close()


@pytest.mark.night
def test_a_batch_in_the_tab_counts_what_local_processes_count(tab: Tab) -> None:
    """With one engine: tests/js/seeds.test.mjs has several of them share the seeds."""
    tab.context.add_init_script(
        "Object.defineProperty(navigator, 'hardwareConcurrency', { value: 1 })"
    )
    page = tab.open("batch/?scenario=random-schedules")
    page.fill("[name=runs]", "40")
    page.click("#go")
    page.locator("#told", has_text="Done: 80 runs").wait_for()
    for profile, row in zip(("Z0102", "K39"), page.locator("tbody tr").all(), strict=True):
        told = json.loads(row.get_attribute("data-counts"))
        scenario = find("S74").to_dict()
        chunk = {"scenario": scenario, "profile": profile, "cell": 0, "first_seed": 0, "count": 40}
        rows = run_chunk(chunk)
        assert told["runs"] == len(rows) and told["errors"] == 0
        assert told["violates"] == sum(one["verdict"] == VIOLATES for one in rows)
        broken = Counter(name for one in rows for name, _, _ in one["broken"])
        assert told["broken"] == dict(broken)
        first: dict[str, list[int]] = {}
        for one in rows:
            for name, step, _ in one["broken"]:
                first.setdefault(name, [one["seed"], step])
        assert told["first"] == first
    page.fill("[name=runs]", "5000")
    page.click("#go")
    page.locator("tbody tr").first.wait_for()
    page.click("#stop")
    page.locator("#told", has_text="Stopped after").wait_for()
    assert json.loads(page.locator("tbody tr").first.get_attribute("data-counts"))["runs"] < 5000


# -- in other people's pages ----------------------------------------------------------------------


def test_an_element_plays_a_run_in_a_foreign_page_without_an_engine(
    tab: Tab, site_folder: Path
) -> None:
    foreign = site_folder.parents[1] / "post.html"
    foreign.write_text(
        f'<!doctype html><script type="module" src="{site_folder.parent.name}/'
        f'{site_folder.name}/highwater.js"></script><h1>A post</h1>'
        '<highwater-run scenario="R20" kafka="0.10.2.2" step="31" controls></highwater-run>'
    )
    page = tab.page()
    page.goto(tab.root.removesuffix(f"{site_folder.parent.name}/{site_folder.name}/") + "post.html")
    frame = page.frame_locator("highwater-run iframe")
    frame.locator(READY).wait_for()
    assert frame.locator("#framed").inner_text() == R20.title
    assert frame.locator("#bar .num").inner_text() == "31 / 188"
    frame.locator("#bar .primary").click()
    frame.locator("#bar .num", has_text=re.compile(r"^67 / 188")).wait_for()
    assert frame.locator(".caption").inner_text().strip(), "it goes from beat to beat"
    high = page.locator("highwater-run iframe").bounding_box()["height"]
    whole = frame.locator("main").evaluate("el => el.scrollHeight")
    assert abs(high - whole) < 2, "the frame is as high as its content"
    assert not [url for url in tab.loaded if "/pyodide/" in url or "/python/" in url]
    tab.wrong[:] = [one for one in tab.wrong if "post.html" not in one and "favicon" not in one]


# -- without a network ----------------------------------------------------------------------------


@pytest.fixture
def offline(browser: Chromium, host: str) -> Iterator[Callable[[], Tab]]:
    """A visitor whose browser has kept the site, and has lost the network since."""
    context = browser.new_context(**CALM)
    context.add_init_script(SEEN)
    visitor = Tab(context, host)

    def cut() -> Tab:
        page = visitor.open("scenarios/", ".card")
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        page.close()
        visitor.wrong.clear()
        context.set_offline(True)
        return visitor

    yield cut
    context.close()
    assert visitor.wrong == []


@pytest.mark.night
def test_after_one_visit_the_site_works_with_the_network_cut(offline: Callable[[], Tab]) -> None:
    tab = offline()
    other = find("S02")  # neither looked at nor frozen here: the engine renders and plays it
    page = tab.open(f"s/{other.slug}/?step=3")
    assert other.title in page.locator("#title").inner_text()
    typed(page, "kill 2")
    page.wait_for_url(re.compile("#run="))
    replay = Replay(Run(other, other.profiles[0]))
    assert page.evaluate("history.state.run") == replay.branch(3, "kill 2").digest
    page.goto(f"{tab.root}scenarios/")
    page.wait_for_selector(".card")
    assert page.url == f"{tab.root}scenarios/"
    assert page.locator(".card").count() == len(library())
