"""Pages that a server and a tab have alike: they need neither the database nor Spark."""

from __future__ import annotations

from typing import Final

from app.cluster import pages as cluster
from app.compare import pages as compare
from app.compare import what_if
from app.editor import pages as editor
from app.explore import pages as explore
from app.find import pages as find
from app.incident import pages as incident
from app.learn import (
    course,
    glossary,
    learning,
    levels,
    practice,
    property,
    question_stage,
    reading,
)
from app.lens import pages as lens
from app.recordings import api as recordings_api
from app.recordings import page as recordings
from app.server import bundler
from app.upgrade import pages as upgrade
from app.web import api, embeds, exporting, home, library, link_preview, loop, pages

PAGES: Final = (
    bundler,
    pages,
    home,
    library,
    find,
    loop,
    editor,
    explore,
    api,
    compare,
    glossary,
    lens,
    embeds,
    exporting,
    incident,
    learning,
    question_stage,
    course,
    practice,
    property,
    levels,
    recordings,
    recordings_api,
    cluster,
    reading,
    link_preview,
    what_if,
    upgrade,
)
"""Modules with a `blueprint`, and FILES_PATH if one of its addresses takes files."""
