"""The real application in a process of its own, and a real Chromium looking at it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests import chromium
from tests.conftest import ends_within
from tests.ports import free_port

FLAGS = [
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--hide-scrollbars",
]
ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PATIENCE_S = 60
PAGE_MS = 30_000
"""Timeout of a page's actions and waits, long enough for a busy machine."""

MISSING = chromium.missing()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder; skip them without a browser, except in CI."""
    for item in items:
        if HERE not in Path(str(item.fspath)).parents:
            continue
        item.add_marker(pytest.mark.browser)
        if MISSING and not os.environ.get("CI"):
            item.add_marker(pytest.mark.skip(reason=MISSING))


class Server:
    """One server on a port of its own; it can be killed and started again on the same port."""

    def __init__(self, place: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.place = place
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "HIGHWATER_INSTANCE": str(self.place),
            # One machine plays all visitors here.
            "HIGHWATER_SOCKETS_PER_ADDRESS": "200",
            "HIGHWATER_CPU_MS_PER_S": "100000",
            "HIGHWATER_MOVES_PER_S": "400",
            "HIGHWATER_MOVES_BURST": "400",
            "HIGHWATER_OPENS_PER_S": "100",
            "HIGHWATER_OPENS_BURST": "100",
        }
        with (self.place / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app", "serve", "--port", str(self.port)],
                cwd=ROOT,
                env=env,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=2):
                    return
            except OSError:
                assert self.process.poll() is None, (self.place / "server.log").read_text()
                time.sleep(0.1)
        raise AssertionError("the server did not start: " + (self.place / "server.log").read_text())

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
            self.process = None


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("site"))
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def frail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Another server, which has played nothing before, to be killed and started again."""
    made = Server(tmp_path_factory.mktemp("frail"))
    made.start()
    yield made
    made.stop()


class Chromium:
    """The browser of all tests of a process; one that answers no more is replaced."""

    def __init__(self, playwright: Any, error: type[Exception]) -> None:
        self._playwright = playwright
        self._error = error
        self._launch()

    def _launch(self) -> None:
        self._now = chromium.launch(self._playwright, *FLAGS)

    def new_context(self, **options: Any) -> Any:
        try:
            with ends_within(PATIENCE_S, "Chromium, asked for a window"):
                return self._now.new_context(**options)
        except (pytest.fail.Exception, self._error):
            self._launch()
        return self._now.new_context(**options)

    def another(self) -> Chromium:
        return Chromium(self._playwright, self._error)

    def close(self) -> None:
        self._now.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        made = Chromium(playwright, Error)
        yield made
        made.close()


CALM = {
    "viewport": {"width": 1280, "height": 800},
    "locale": "en-GB",
    "timezone_id": "UTC",
    "reduced_motion": "reduce",
}
# A browser that draws nothing calls no handler; the next question lays the page out by itself.
FRAME: Final = """() => new Promise((done) => {
  requestAnimationFrame(() => setTimeout(done));
  setTimeout(done, 2_000);
})"""
# What a browser itself says of a server that is down, and of an address that does not exist.
FORESEEN = ("ERR_CONNECTION_REFUSED", "ERR_INTERNET_DISCONNECTED", "status of 404")
CUT_OFF = (*FORESEEN, "ERR_CONNECTION_RESET", "ERR_SOCKET_NOT_CONNECTED", "status of 503")
"""The same where the server is one that its test ends: it no longer gives what it still makes."""
Opener = Callable[..., Any]
SEEN = (
    "try { localStorage.setItem('highwater.coached', '1');"
    " localStorage['highwater.size'] ??= 'event'; } catch { }"
)
"""Coach marks and the story are for newcomers; `visit(newcomer=True)` is one."""


class Window:
    """A page in a context of its own, as a visitor who has never been here has them.

    To open one costs Chromium three times what it costs to load another page into it: where all
    that a test did to it can be undone, the next test gets it, with nothing kept.
    """

    def __init__(self, browser: Chromium, newcomer: bool, **options: Any) -> None:
        self.context = browser.new_context(**{**CALM, **options})
        if not newcomer:
            self.context.add_init_script(SEEN)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PAGE_MS)
        self._heard: list[tuple[str, Callable[[Any], None]]] = []

    def look(self, viewport: Any, color_scheme: str, reduced_motion: str) -> None:
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(
            media="null", color_scheme=color_scheme, reduced_motion=reduced_motion
        )

    def hear(self, event: str, hand: Callable[[Any], None]) -> None:
        self.page.on(event, hand)
        self._heard.append((event, hand))

    def forget(self, server: Server) -> None:
        """Where no script of a page can keep anything while it is thrown away."""
        for event, hand in self._heard:
            self.page.remove_listener(event, hand)
        self._heard.clear()
        for other in self.context.pages:
            if other is not self.page:
                other.close()
        self.page.mouse.move(-1, -1)
        self.page.goto(f"{server.url}/health")
        self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); name = ''; }")
        self.context.clear_cookies()


LOOK = {"viewport", "color_scheme", "reduced_motion"}
"""The options of a context that a page can be given later."""


@pytest.fixture(scope="session")
def windows() -> list[Window]:
    """Those that rest."""
    return []


@pytest.fixture
def visit(
    browser: Chromium, server: Server, windows: list[Window], request: pytest.FixtureRequest
) -> Iterator[Opener]:
    """visit(path, **context options) -> a page that is ready, of a visitor who was never here.

    Any error on the page or its console fails the test; a failed test leaves a picture.  A
    test that listens to a page or changes what cannot be undone asks for one `apart`.
    """
    used: list[tuple[Window, bool]] = []
    errors: list[str] = []

    def open_page(
        path: str,
        *,
        ready: bool = True,
        newcomer: bool = False,
        apart: bool = False,
        site: Server | None = None,
        **options: Any,
    ) -> Any:
        plain = site is None and not newcomer and not apart and options.keys() <= LOOK
        if plain:
            window = windows.pop() if windows else Window(browser, newcomer)
        else:
            window = Window(browser, newcomer, **options)
        used.append((window, plain))
        if plain:
            look = {"color_scheme": "light", **CALM, **options}
            window.look(**{name: look[name] for name in LOOK})
        foreseen = FORESEEN if site is None else CUT_OFF

        def note(message: Any) -> None:
            if message.type == "error" and not any(text in message.text for text in foreseen):
                errors.append(f"{path}: {message.text}")

        window.hear("pageerror", lambda error: errors.append(f"{path}: {error}"))
        window.hear("console", note)
        page = window.page
        page.goto((site or server).url + path)
        if ready:
            page.wait_for_selector('body[data-ready="1"]')
        return page

    failed_before = request.session.testsfailed
    yield open_page
    failed = request.session.testsfailed > failed_before
    if failed:
        folder = ROOT / "shots"
        folder.mkdir(exist_ok=True)
        for i, (window, _) in enumerate(used):
            if not window.page.is_closed():
                window.page.screenshot(path=folder / f"{request.node.name}-{i}.png")
    for window, again in used:
        if again and not failed and not errors and not window.page.is_closed():
            window.forget(server)
            windows.append(window)
        else:
            window.context.close()
    assert not errors, errors
