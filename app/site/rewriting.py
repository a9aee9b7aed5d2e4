"""HTML of a page as it stands in the folder: relative links, and a policy that needs no header."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import posixpath
import re
from typing import Final
from urllib.parse import urlsplit

from app.site.layout import SiteLayout

_LINK: Final = re.compile(r'(\s(?:href|src|action|data-live)=")([^"]*)(")')
_MAP: Final = re.compile(r'<script type="importmap"[^>]*>(.*?)</script>', re.S)
_REFRESH: Final = re.compile(r'<noscript><meta http-equiv="refresh"[^>]*></noscript>')
_CARD: Final = re.compile(r'<meta (?:property="og:image[^"]*"|name="twitter:card")[^>]*>')
_NONCE: Final = re.compile(r' nonce="[^"]*"')
_CSRF: Final = re.compile(r' data-csrf="[^"]*"')
POLICY: Final = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' {hashes}; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; worker-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'"
)


class Page:
    """One page on its way into a file: its address on a server, its language and its depth."""

    def __init__(self, layout: SiteLayout, path: str, lang: str) -> None:
        self._layout = layout
        self._path = path
        self._lang = lang
        self.file = layout.page_file(path, lang)
        self.root = "../" * self.file.count("/") or "./"

    def relative(self, link: str) -> str:
        """Return a link of the page, relative to its file; a foreign one as it is."""
        if link.startswith("?"):
            link = self._path + link
        if not link.startswith("/") or link.startswith("//"):
            return link
        return self.root + self._layout.address(link, self._lang)

    def rewritten(self, text: str, site_script: str, extra: str = "") -> str:
        """Return the text with relative links, the scripts of the site, and its policy.

        `extra` are attributes of the root element.
        """
        for dropped in (_REFRESH, _CARD, _NONCE, _CSRF):
            text = dropped.sub("", text)
        text = _LINK.sub(self._link, text)
        hashes = []

        def import_map(match: re.Match[str]) -> str:
            body = self._import_map(match[1])
            hashes.append(_source_hash(body))
            script = f'<script type="module" src="{self.root}{site_script}"></script>'
            return f'<script type="importmap">{body}</script>\n  {script}'

        text = _MAP.sub(import_map, text)
        head = "\n  ".join(
            (
                '<meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="'
                f'{POLICY.format(hashes=" ".join(hashes))}">',
                f'<script src="{self.root}places.js"></script>',
                f'<link rel="manifest" href="{self.root}site.webmanifest">',
                f'<link rel="stylesheet" href="{self.root}static/css/site.css">',
            )
        )
        text = text.replace('<meta charset="utf-8">', head, 1)
        return text.replace("<html ", f'<html data-site="{self.root}"{extra} ', 1)

    def _link(self, found: re.Match[str]) -> str:
        link = self.relative(html.unescape(found[2]))
        return f"{found[1]}{html.escape(link)}{found[3]}"

    def _import_map(self, body: str) -> str:
        imports = json.loads(body)["imports"]
        placed = {name: self.relative(target) for name, target in imports.items()}
        return json.dumps({"imports": placed}, separators=(",", ":")).replace("<", "\\u003c")


def _source_hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def links(text: str, file: str) -> list[str]:
    """Return the files that a page of the folder links to, relative to the root of the site."""
    folder = posixpath.dirname(file)
    targets = []
    for match in _LINK.finditer(text):
        parts = urlsplit(html.unescape(match[2]))
        if parts.scheme or parts.netloc or not parts.path:
            continue
        target = posixpath.normpath(posixpath.join(folder, parts.path))
        targets.append(f"{target}/index.html" if parts.path.endswith("/") else target)
    return ["index.html" if name == "./index.html" else name for name in targets]
