"""Nothing on any page keeps anybody out: axe, the width of windows and words instead of codes,
over the table of screens.

A page is loaded once per language; light and dark are two looks at the same page, since they
differ in nothing but colours, and the sizes of windows are tried on it as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from tests.e2e import axe, codes
from tests.e2e.conftest import CALM, SEEN, THOROUGH
from tests.e2e.filled import Filled
from tests.e2e.screens import SCREENS, address

# The other look of the same page differs in colours alone: these are the rules that see them.
COLOURS: Final = ["color-contrast", "link-in-text-block"]
# Bones and colours do not depend on the language: without HIGHWATER_THOROUGH=1 one is looked at,
# and of the other what its words alone can do: be too wide, or be no words.
LOOKS: Final = (("light", axe.LEVELS), ("dark", COLOURS))
WIDTHS: Final = (320, 390, 1024, 1280, 1920)
# What sticks out, but for what a scroller of its own holds.
TOO_WIDE: Final = """width => document.documentElement.scrollWidth <= width ? [] :
  [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > width
  + 0.5 && getComputedStyle(one.parentElement).overflowX === "visible" &&
  !one.parentElement.closest(".scroll")).map((one) => one.outerHTML.slice(0, 120))"""
# A browser that draws nothing calls nobody; what is asked next lays the page out by itself.
FRAME: Final = """() => new Promise((done) => {
  requestAnimationFrame(() => setTimeout(done));
  setTimeout(done, 2_000);
})"""


# The tests of one file need not follow each other where workers share them.
@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    made = Filled(tmp_path_factory.mktemp("filled"))
    made.start()
    yield made
    made.stop()


class Visitor:
    """Who started all studies, reads one language, and remembers nothing else."""

    def __init__(self, lang: str, context: Any) -> None:
        self.lang = lang
        self.context = context
        self._rests: Any = None

    @contextmanager
    def page(self) -> Iterator[Any]:
        """A page as if it were new: to open one takes Chromium longer than to load it again.

        One on which something was raised stands who knows where, and is not used again.
        """
        page, self._rests = self._rests or self.context.new_page(), None
        try:
            page.set_default_timeout(15_000)
            page.emulate_media(color_scheme="light")
            page.mouse.move(-1, -1)
            yield page
            page.evaluate("sessionStorage.clear()")
            self._rests = page
        finally:
            if self._rests is None:
                page.close()


@pytest.fixture(scope="module", params=["en", "zh"])
def visitor(browser: Any, site: Filled, request: pytest.FixtureRequest) -> Iterator[Visitor]:
    context = browser.new_context(**CALM, has_touch=True)
    context.add_init_script(f"try {{ localStorage.clear(); }} catch {{ }} {SEEN}")
    context.add_init_script(axe.SCRIPT)
    page = context.new_page()
    page.goto(f"{site.url}/batch")
    site.belongs_to(page.evaluate("JSON.parse(document.getElementById('boot').textContent).csrf"))
    page.close()
    yield Visitor(request.param, context)
    context.close()


@pytest.mark.parametrize("name", SCREENS)
def test_axe_finds_nothing_and_nothing_is_too_wide(
    visitor: Visitor, site: Filled, name: str
) -> None:
    lang, screen = visitor.lang, SCREENS[name]
    found: list[str] = []

    def note(error: Any) -> None:
        found.append(str(error))

    def look(page: Any, state: str, part: str = "") -> None:
        for scheme, rules in LOOKS if lang == "en" or THOROUGH else ():
            page.emulate_media(color_scheme=scheme)
            told = axe.violations(page, part, rules)
            found.extend(f"{state}, {scheme}: {one}" for one in told)
        if name not in codes.EXPERTS:
            found.extend(f"{state}: {one}" for one in codes.shown(page))

    with visitor.page() as page:
        page.on("pageerror", note)
        page.goto(site.url + address(screen, site.names, lang))
        page.wait_for_selector(screen.shown)
        look(page, "page")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844})
            page.evaluate(FRAME)
            found.extend(f"{width} px: {one}" for one in page.evaluate(TOO_WIDE, width))
        page.set_viewport_size(CALM["viewport"])
        # What opens has the same bones in every language, and no window is narrowed around it.
        for opened in screen.opens if lang == "en" or THOROUGH else ():
            opened.act(page)
            page.wait_for_selector(opened.shown)
            look(page, opened.name, opened.part)
            if opened.close:
                page.keyboard.press(opened.close)
                page.wait_for_selector(opened.shown, state="hidden")
        page.remove_listener("pageerror", note)
    assert found == []
