"""Pictures of every screen, theme, language and size, for a person to look at.

    python -m tests.e2e.shots [folder]

Look at them before handing in a change of the scene; the folder is ignored by git.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.e2e.conftest import CALM, CHROMIUM, FLAGS, ROOT, Server

SCREENS = {
    "library": "/",
    "begin": "/s/S01",
    "fetch": "/s/S01?step=9",
    "lost": "/s/S20?profile=Z0102&step=51",
    "differ": "/s/S24?profile=Z20&step=150",
    "parting": "/s/S23?profile=Z20&step=84",
    "layers": "/s/S20?profile=Z0102&step=41&layers=disk,sessions,heartbeats",
    "spacetime": "/s/S20?profile=Z0102&step=51&view=spacetime",
    "table": "/s/S20?profile=Z0102&step=41&view=table",
    "matrix": "/s/S46?step=60",
    "storm": "/s/crash-storm?step=400",
    "batch": "/batch",
    "cluster": "/cluster",
}
SIZES = {"wide": (1920, 1000), "desk": (1280, 720), "phone": (390, 844)}


def main(folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        server = Server(Path(place))
        server.start()
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            for scheme in ("light", "dark"):
                for size, (width, height) in SIZES.items():
                    for lang in ("en", "zh"):
                        options: Any = {
                            **CALM,
                            "viewport": {"width": width, "height": height},
                            "color_scheme": scheme,
                        }
                        page = chromium.new_context(**options).new_page()
                        for name, path in SCREENS.items():
                            mark = "&" if "?" in path else "?"
                            page.goto(f"{server.url}{path}{mark}lang={lang}")
                            page.wait_for_load_state("networkidle")
                            page.screenshot(path=folder / f"{name}-{size}-{scheme}-{lang}.png")
                        page.context.close()
        finally:
            chromium.close()
            server.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "shots")
