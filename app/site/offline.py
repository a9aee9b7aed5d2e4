"""Files that let a site be kept and found: service worker, manifest, list of pages."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Final
from xml.sax.saxutils import escape

from app.core.config import ROOT
from app.site.layout import SiteLayout

FIRST: Final = re.compile(
    r"static/(css|vendor)/[^/]+\.(css|mjs|woff2)|static/.*\.(svg|js)|packs/.*|pyodide/.*|python/.*"
    r"|i18n/.*|api/.*|pictures/.*|loop/.*|runs/.*|s/[^/]+/endings\.json|places\.js"
    r"|site\.webmanifest"
)
"""Files that are kept at the first visit."""
_PAGE: Final = re.compile(r"(\w+/)?[\w-]*/?index\.html")
"""Pages that no other stands above; the engine renders the others where there is no network."""
RUN_BYTES: Final = 30_000
"""Largest frozen run that the first visit keeps."""


def files(found: dict[str, bytes], layout: SiteLayout, base: str) -> dict[str, bytes]:
    """Return the files by name, for a site that consists of `found`."""
    made = {"site.webmanifest": _manifest(), "sw.js": _worker()}
    first = sorted(
        name for name in (*found, *made) if FIRST.fullmatch(name) or _PAGE.fullmatch(name)
    )
    names = [re.sub(r"index\.html$", "", name) or "./" for name in first]
    told = {"edition": _edition({**found, **made}), "langs": layout.langs[1:], "first": names}
    made["files.js"] = f"self.highwaterFiles = {json.dumps(told)};\n".encode()
    if base:
        made["sitemap.xml"] = _sitemap(layout, base)
    made[".nojekyll"] = b""
    return made


def _worker() -> bytes:
    return (ROOT / "static" / "js" / "site" / "sw.js").read_bytes()


def _edition(found: dict[str, bytes]) -> str:
    """Return the digest of all files: equal sites have equal editions."""
    told = hashlib.sha256()
    for name in sorted(found):
        told.update(name.encode() + hashlib.sha256(found[name]).digest())
    return told.hexdigest()[:12]


def _manifest() -> bytes:
    icon = {"src": "static/brand.svg", "sizes": "any", "type": "image/svg+xml"}
    return json.dumps(
        {
            "name": "Highwater",
            "short_name": "Highwater",
            "description": "See how Kafka's replication works, and when it loses data.",
            "start_url": "./",
            "scope": "./",
            "display": "standalone",
            "background_color": "#fbfbf9",
            "theme_color": "#0b5cad",
            "icons": [icon],
        }
    ).encode()


def _sitemap(layout: SiteLayout, base: str) -> bytes:
    hidden = {"/at", "/404", "/r", "/e"}
    urls = "".join(
        f"  <url><loc>{escape(base)}/{escape(layout.address(path, lang))}</loc></url>\n"
        for lang in layout.langs
        for path in sorted(layout.pages - hidden)
    )
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'{head}<urlset xmlns="{space}">\n{urls}</urlset>\n'.encode()
