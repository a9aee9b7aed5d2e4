"""Layout of a static site: which file a server's address is, and the map that scripts read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from flask import Flask

from app.core import features

ANY_QUERY: Final = ("/s/", "/r", "/e", "/batch", "/glossary", "/needs-server", "/at")
"""Pages whose scripts read the query, so that one file does for every query."""
_RUN: Final = re.compile(r"/([re])(?:/([0-9a-f]{16}))?")
_WORDS: Final = re.compile(r"/i18n/([\w-]+)\.json")


@dataclass
class SiteLayout:
    """Pages of the folder by the addresses a server has for them, and the languages."""

    langs: tuple[str, ...]
    pages: set[str]
    codes: dict[str, str]
    """Code of a library scenario -> its slug."""
    texts: set[str] = field(default_factory=set)
    """Addresses of answers that are plain text."""
    answers: set[str] = field(default_factory=set)
    """Files of the folder that answer requests of scripts."""

    def home(self, lang: str) -> str:
        """Return the folder of a language, relative to the root of the site."""
        return "" if lang == self.langs[0] else f"{lang}/"

    def page_file(self, path: str, lang: str) -> str:
        return f"{self.home(lang)}{path.strip('/')}/index.html".replace("//", "/").lstrip("/")

    def address(self, link: str, lang: str) -> str:
        """Return where a server's link leads, relative to the root of the site."""
        parts = urlsplit(link)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        tail = f"#{parts.fragment}" if parts.fragment else ""
        file = self._file(parts.path, query)
        if file:
            version = f"?{parts.query}" if parts.query and "/static/" in parts.path else ""
            return file + version + tail
        language = query.pop("lang", lang).split("-")[0]
        home = self.home(language if language in self.langs else lang)
        run = _RUN.fullmatch(parts.path)
        if run:
            values = {**({"run": run[2]} if run[2] else {}), **query}
            return f"{home}{run[1]}/{_query(values)}{tail}"
        path = self._named(parts.path.rstrip("/") or "/")
        if path in self.pages and (not query or self._takes_any(path)):
            return f"{home}{path.strip('/')}/".replace("//", "/").lstrip("/") + _query(query) + tail
        if needs_server(path):
            return f"{home}needs-server/"
        return f"{home}at/?p={quote(path)}{_query(query).replace('?', '&')}{tail}"

    def _named(self, path: str) -> str:
        """Return the path with the slug of a scenario in place of its code."""
        found = re.match(r"/s/([^/]+)", path)
        slug = found and self.codes.get(found[1].upper())
        return path.replace(found[1], slug, 1) if found and slug else path

    @staticmethod
    def _takes_any(path: str) -> bool:
        return any(path == one or (one.endswith("/") and path.startswith(one)) for one in ANY_QUERY)

    def _file(self, path: str, query: dict[str, str]) -> str:
        if path.startswith(("/static/", "/packs/", "/pictures/")):
            return path[1:]
        if path in self.texts:
            return f"{path[1:]}.txt"
        if path.startswith("/loop/"):
            return path[1:] if path[1:] in self.answers else ""
        words = _WORDS.fullmatch(path)
        page = f".{query['page']}" if "page" in query else ""
        return f"i18n/{words[1]}{page}.json" if words else ""

    def map(self, more: Mapping[str, object]) -> Mapping[str, object]:
        """Return what scripts know of the site."""
        return {
            "langs": list(self.langs),
            "pages": sorted(self.pages),
            "any": list(ANY_QUERY),
            "needs": served_addresses(),
            "codes": dict(sorted(self.codes.items())),
            "answers": sorted(self.answers),
            **more,
        }


@cache
def served_addresses() -> tuple[str, ...]:
    """Return the addresses that only a server has, each with all below it, the shortest ones.

    Links to them lead to one page that says so.
    """
    app = Flask(__name__, static_folder=None)
    for page in features.served():
        app.register_blueprint(page.blueprint)
    paths = {rule.rule.partition("/<")[0] for rule in app.url_map.iter_rules()}
    return tuple(sorted(path for path in paths if not _is_below(path, paths - {path})))


def needs_server(path: str) -> bool:
    return path in served_addresses() or _is_below(path, served_addresses())


def _is_below(path: str, addresses: Iterable[str]) -> bool:
    return any(path.startswith(f"{address}/") for address in addresses)


def _query(values: dict[str, str]) -> str:
    return f"?{urlencode(values)}" if values else ""
