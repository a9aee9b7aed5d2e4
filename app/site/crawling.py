"""Pages of a site, rendered by the application of a tab: found by the links between them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from flask import Flask
from werkzeug.test import Client

from app.site.layout import NEEDS_SERVER
from app.site.standing import STANDING

FIRST: Final = ("/", "/r", "/incident", *STANDING)
"""Pages to begin with; all others are linked from them.  To /incident only old links lead."""
_LINK: Final = re.compile(r'\s(?:href|src|action|data-live)="(/[^"/][^"]*|/)"')
_FILE: Final = re.compile(r"/(?:i18n|loop|pictures)/")
_NO_PAGE: Final = re.compile(r"/(?:static|packs|api|r/|e/|i18n|loop|pictures|favicon)|/s/[^/]+/")
_SERVER: Final = tuple(f"{name}/" for name in NEEDS_SERVER)


@dataclass
class Site:
    """Rendered pages by address, and the other files that they ask for, by link."""

    pages: dict[str, str] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)
    texts: dict[str, bytes] = field(default_factory=dict)
    """Answers that are no HTML, by address."""


def links_of(text: str) -> Iterator[str]:
    """Yield the links of a page within the site, without their fragments."""
    for match in _LINK.finditer(text):
        yield html.unescape(match[1]).partition("#")[0]


def crawl(app: Flask, lang: str) -> Site:
    """Render every page in a language.  Raises RuntimeError for a page that fails."""
    client = Client(app)
    site = Site()
    waiting = list(FIRST)
    while waiting:
        path = waiting.pop()
        if path in site.pages or path in site.texts:
            continue
        answer = client.get(path, headers={"Accept-Language": lang})
        if answer.status_code != 200:
            raise RuntimeError(f"{path} cannot be rendered: {answer.status}")
        if answer.mimetype != "text/html":
            site.texts[path] = answer.get_data()
            continue
        site.pages[path] = text = answer.get_data(as_text=True)
        for link in links_of(text):
            parts = urlsplit(link)
            site.links.add(link)
            if not parts.query and not _NO_PAGE.match(parts.path) and not _of_server(parts.path):
                waiting.append(parts.path)
    return site


def _of_server(path: str) -> bool:
    return path in NEEDS_SERVER or path.startswith(_SERVER)


def files(app: Flask, links: set[str], lang: str) -> dict[str, bytes]:
    """Return answers that pages ask for by links that are no pages: words, pictures, a loop."""
    client = Client(app)
    found = {}
    for link in links:
        if _FILE.match(link):
            answer = client.get(link, headers={"Accept-Language": lang})
            if answer.status_code == 200:
                found[link] = answer.get_data()
    return found
