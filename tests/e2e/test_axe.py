"""Nothing on any page keeps anybody out: axe, the width of windows and words instead of codes,
over the table of screens.

A page is loaded once per language; light and dark are two looks at the same page, since they
differ in nothing but colours, and the sizes of windows are tried on it as well.  Without
HIGHWATER_THOROUGH=1 a page has one look: see `looks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pytest

from tests.conftest import THOROUGH, built_once
from tests.e2e import axe, codes
from tests.e2e.conftest import CALM, FRAME, PAGE_MS, SEEN
from tests.e2e.filled import Filled, fill_folder
from tests.e2e.screens import SCREENS, address

# The other look of the same page differs in colours alone: these are the rules that see them.
COLOURS: Final = ["color-contrast", "link-in-text-block"]
LANGUAGES: Final = ("en", "zh")
THEMES: Final = ("light", "dark")
NARROWEST, *WIDER = WIDTHS = (320, 390, 1024, 1280, 1920)


@dataclass(frozen=True)
class Look:
    """How one screen is looked at: which rules of axe are asked in which theme, how wide it is."""

    lang: str
    name: str
    themes: tuple[tuple[str, list[str]], ...]
    widths: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.lang}-{self.name}"


def looks() -> Iterator[Look]:
    """Every screen in every language, theme and width.

    Without HIGHWATER_THOROUGH=1 the sample: every fourth screen once, with all that opens on it,
    in a language and a theme, in the narrowest window and one other.  They change from screen to
    screen, so that a mistake of a language, a theme or a width is still met somewhere.
    """
    every = ((THEMES[0], axe.LEVELS), (THEMES[1], COLOURS))
    for lang in LANGUAGES:
        for place, name in enumerate(SCREENS):
            if THOROUGH:
                yield Look(lang, name, every, WIDTHS)
            elif place % 4 == 0 and lang == LANGUAGES[place // 4 % 2]:
                theme, wider = THEMES[place // 8 % 2], WIDER[place // 16 % len(WIDER)]
                yield Look(lang, name, ((theme, axe.LEVELS),), (NARROWEST, wider))


# What sticks out, but for what a scroller of its own holds.
TOO_WIDE: Final = """width => document.documentElement.scrollWidth <= width ? [] :
  [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > width
  + 0.5 && getComputedStyle(one.parentElement).overflowX === "visible" &&
  !one.parentElement.closest(".scroll")).map((one) => one.outerHTML.slice(0, 120))"""


# The tests of one file need not follow each other where workers share them.
@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    filled = built_once(tmp_path_factory, "filled", fill_folder)
    made = Filled(tmp_path_factory.mktemp("filled"), filled)
    made.start()
    yield made
    made.stop()


class Visitor:
    """A visitor who started all studies, reads what an address asks for and remembers no more."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self._rests: Any = None

    @contextmanager
    def page(self) -> Iterator[Any]:
        """A page as if it were new: to open one takes Chromium longer than to load it again.

        A page on which something was raised is in an unknown state, and is not used again.
        """
        page, self._rests = self._rests or self.context.new_page(), None
        try:
            page.set_default_timeout(PAGE_MS)
            page.emulate_media(color_scheme="light")
            page.mouse.move(-1, -1)
            yield page
            page.evaluate("sessionStorage.clear()")
            self._rests = page
        finally:
            if self._rests is None:
                page.close()


@pytest.fixture(scope="module")
def visitor(browser: Any, site: Filled) -> Iterator[Visitor]:
    context = browser.new_context(**CALM, has_touch=True)
    context.add_init_script(f"try {{ localStorage.clear(); }} catch {{ }} {SEEN}")
    context.add_init_script(axe.SCRIPT)
    page = context.new_page()
    page.goto(f"{site.url}/batch")
    site.belongs_to(page.evaluate("document.body.dataset.csrf"))
    page.close()
    yield Visitor(context)
    context.close()


@pytest.mark.parametrize("looked", list(looks()), ids=str)
def test_axe_finds_nothing_and_nothing_is_too_wide(
    visitor: Visitor, site: Filled, looked: Look
) -> None:
    name, screen = looked.name, SCREENS[looked.name]
    found: list[str] = []

    def note(error: Any) -> None:
        found.append(str(error))

    def look(page: Any, state: str, part: str = "") -> None:
        for theme, rules in looked.themes:
            page.emulate_media(color_scheme=theme)
            told = axe.violations(page, part, rules)
            found.extend(f"{state}, {theme}: {one}" for one in told)
        if name not in codes.EXPERTS:
            found.extend(f"{state}: {one}" for one in codes.shown(page))

    with visitor.page() as page:
        page.on("pageerror", note)
        page.goto(site.url + address(screen, site.names, looked.lang))
        page.wait_for_selector(screen.shown)
        look(page, "page")
        for width in looked.widths:
            page.set_viewport_size({"width": width, "height": 844})
            page.evaluate(FRAME)
            found.extend(f"{width} px: {one}" for one in page.evaluate(TOO_WIDE, width))
        page.set_viewport_size(CALM["viewport"])
        for opened in screen.opens:  # no window is narrowed around it
            opened.act(page)
            page.wait_for_selector(opened.shown)
            look(page, opened.name, opened.part)
            if opened.close:
                page.keyboard.press(opened.close)
                page.wait_for_selector(opened.shown, state="hidden")
        page.remove_listener("pageerror", note)
    assert found == []
