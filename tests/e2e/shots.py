"""Pictures of every screen and of what opens on it, in every theme, language and size.

    python -m tests.e2e.shots [folder [screen ...]]

For a person to look at before handing in a change of a page; the folder is ignored by git.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests import chromium
from tests.e2e.conftest import CALM, FLAGS, ROOT, SEEN
from tests.e2e.filled import Filled
from tests.e2e.screens import SCREENS, Screen, address

MOMENTS = {
    "begin": Screen("/s/S01"),
    "differ": Screen("/s/S24?profile=Z20&step=150"),
    "parting": Screen("/s/S23?profile=Z20&step=84"),
    "storm": Screen("/s/crash-storm?step=400"),
}
"""More of the stage: these are the same page as others, at a moment that is drawn differently."""
SIZES = {"wide": (1440, 900), "phone": (390, 844)}


def main(folder: Path, wanted: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    screens = {
        name: screen
        for name, screen in {**SCREENS, **MOMENTS}.items()
        if not wanted or name in wanted
    }
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        server = Filled(Path(place))
        server.start()
        browser = chromium.launch(playwright, *FLAGS)
        try:
            for scheme, size, lang in itertools.product(("light", "dark"), SIZES, ("en", "zh")):
                width, height = SIZES[size]
                options: Any = {
                    **CALM,
                    "viewport": {"width": width, "height": height},
                    "color_scheme": scheme,
                }
                context = browser.new_context(**options)
                context.add_init_script(f"try {{ localStorage.clear(); }} catch {{ }} {SEEN}")
                for name, screen in screens.items():
                    page = context.new_page()
                    page.goto(server.url + address(screen, server.names, lang))
                    shoot(page, screen, folder / name, f"{size}-{scheme}-{lang}.png")
                    page.close()
                context.close()
        finally:
            browser.close()
            server.stop()


def shoot(page: Any, screen: Screen, place: Path, look: str) -> None:
    """The page, long where it is long, and everything that opens on it."""
    page.wait_for_selector(screen.shown)
    page.screenshot(path=f"{place}-{look}", full_page=True)
    for opened in screen.opens:
        opened.act(page)
        page.wait_for_selector(opened.shown)
        page.screenshot(path=f"{place}-{opened.name}-{look}")
        if opened.close:
            page.keyboard.press(opened.close)
            page.wait_for_selector(opened.shown, state="hidden")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "shots", sys.argv[2:])
