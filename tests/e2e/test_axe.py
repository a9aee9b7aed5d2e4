"""Nothing on any page keeps anybody out: axe, the width of windows and words instead of codes,
over the table of screens.

A page is loaded once per language; light and dark are two looks at the same page, since they
differ in nothing but colours, and the sizes of windows are tried on it as well.
"""

from __future__ import annotations

from collections.abc import Iterator
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


@pytest.fixture(scope="module", params=["en", "zh"])
def visitor(
    browser: Any, site: Filled, request: pytest.FixtureRequest
) -> Iterator[tuple[str, Any]]:
    """(language, a browser of who started all studies, and remembers nothing else)."""
    context = browser.new_context(**CALM, has_touch=True)
    context.add_init_script(f"try {{ localStorage.clear(); }} catch {{ }} {SEEN}")
    context.add_init_script(axe.SCRIPT)
    page = context.new_page()
    page.goto(f"{site.url}/batch")
    site.belongs_to(page.evaluate("JSON.parse(document.getElementById('boot').textContent).csrf"))
    page.close()
    yield request.param, context
    context.close()


@pytest.mark.parametrize("name", SCREENS)
def test_axe_finds_nothing_and_nothing_is_too_wide(
    visitor: tuple[str, Any], site: Filled, name: str
) -> None:
    lang, context = visitor
    screen = SCREENS[name]
    page = context.new_page()
    page.set_default_timeout(15_000)
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))

    def look(state: str, part: str = "") -> None:
        for scheme, rules in LOOKS if lang == "en" or THOROUGH else ():
            page.emulate_media(color_scheme=scheme)
            told = axe.violations(page, part, rules)
            found.extend(f"{state}, {scheme}: {one}" for one in told)
        if name not in codes.EXPERTS:
            found.extend(f"{state}: {one}" for one in codes.shown(page))

    page.goto(site.url + address(screen, site.names, lang))
    page.wait_for_selector(screen.shown)
    look("page")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        page.evaluate(FRAME)
        found.extend(f"{width} px: {one}" for one in page.evaluate(TOO_WIDE, width))
    page.set_viewport_size(CALM["viewport"])
    # What opens has the same bones in every language, and no window is narrowed around it.
    for opened in screen.opens if lang == "en" or THOROUGH else ():
        opened.act(page)
        page.wait_for_selector(opened.shown)
        look(opened.name, opened.part)
        if opened.close:
            page.keyboard.press(opened.close)
            page.wait_for_selector(opened.shown, state="hidden")
    page.close()
    assert found == []
