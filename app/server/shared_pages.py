"""Pages that a server and a tab have alike: they need neither the database nor Spark."""

from __future__ import annotations

from typing import Final

from app.core import features
from app.server import bundler
from app.web import api, embeds, exporting, home, library, link_preview, loop, pages

PAGES: Final = (
    bundler,
    pages,
    home,
    library,
    loop,
    api,
    embeds,
    exporting,
    link_preview,
    *features.pages(),
)
"""Modules with a `blueprint`, and FILES_PATH if one of its addresses takes files."""
