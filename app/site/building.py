"""Building of a static site: pages, frozen runs, scripts, the engine, and what keeps it offline."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from flask import Flask
from werkzeug.test import Client

from app.core.config import ROOT
from app.core.json_response import to_json
from app.core.refusals import RequestError
from app.questions import registry
from app.server import bundler
from app.site import archives, frozen, tab
from app.site.archives import Package
from app.site.layout import SiteLayout, needs_server
from app.site.pages import STANDING, blueprint
from app.site.precompiling import precompiled
from app.site.pyodide import VERSION, Interpreter, interpreter
from app.site.rewriting import Page
from app.site.tab_session import TabSession
from engine.model.languages import LANGUAGES, language_of, short
from engine.model.profiles import ADDRESSES, PROFILES
from engine.scenarios import file
from engine.sim.run import Run

_DIGEST: Final = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")
STATIC: Final = (
    "css/*.css",
    "vendor/*.mjs",
    "vendor/*.woff2",
    "vendor/licences/*",
    "*.svg",
    "js/pages/theme.js",
    "js/learn/sheet.js",
)
WORKERS: Final = ("js/site/worker.js", "js/export/gif.worker.js", "js/export/colours.js")
"""Scripts of `static` that run in workers, and so are in no pack."""
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Report:
    """Figures of a site that has been built."""

    pages: int
    runs: int
    files: int
    bytes: int
    loaded_bytes: int
    """Bytes of the interpreter and the engine, as a browser loads them."""


class Builder:
    """One build: it collects the files of the site by name, and writes them in the end."""

    def __init__(self, langs: tuple[str, ...], base: str, jobs: int, tell: Tell) -> None:
        self._langs = langs
        self._base = base.rstrip("/")
        self._jobs = jobs
        self._tell = tell
        self._tab_session = TabSession()
        self._app: Flask = tab.build(self._tab_session, frozen=True)
        self._app.register_blueprint(blueprint)
        self._files: dict[str, bytes] = {}
        self._runs: dict[str, dict[str, str]] = {}
        """Slug -> profile -> digest."""
        self._frozen: set[str] = set()
        self._layout = SiteLayout(
            tuple(short(lang) for lang in langs),
            set(),
            {scenario.code: scenario.slug for scenario in file.library().values() if scenario.code},
        )

    def build(self, python: Interpreter, scenarios: Collection[str] | None) -> Report:
        self._tell("Rendering pages")
        sites = {lang: crawl_site(self._app, lang) for lang in self._langs}
        self._layout.pages = set(sites[self._langs[0]].pages)
        self._layout.texts = set(sites[self._langs[0]].texts)
        for path, data in sites[self._langs[0]].texts.items():
            self._add_answer(f"{path[1:]}.txt", data)
        self._add_scripts()
        for lang, site in sites.items():
            self._add_answers(lang, site)
        self._tell("Playing the library")
        self._add_library(scenarios)
        self._add_shown_runs(sites, scenarios)
        self._tell("Packing the engine")
        loaded = self._add_engine(python)
        self._add_pages(sites)
        self._files |= offline_files(self._files, self._layout, self._base)
        size = sum(map(len, self._files.values()))
        count = sum(len(site.pages) for site in sites.values())
        return Report(count, len(self._frozen), len(self._files), size, loaded)

    def write(self, out: Path) -> None:
        """Write the files.  Raises OSError."""
        for name, data in self._files.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    # -- parts ----------------------------------------------------------------------------------

    def _add_scripts(self) -> None:
        for pattern in (*STATIC, *WORKERS):
            for path in sorted((ROOT / "static").glob(pattern)):
                self._files[f"static/{path.relative_to(ROOT / 'static').as_posix()}"] = (
                    path.read_bytes()
                )
        element = ROOT / "static" / "js" / "site" / "element.js"
        self._files["highwater.js"] = element.read_bytes()
        for entry in sorted(bundler.entries()):
            # Relative to the pack, so that the folder may lie anywhere.
            text = bundler.pack(entry).text.replace('import("/packs/', 'import("../../')
            self._files[bundler.pack_at(entry)[1:]] = text.encode()
            for name in bundler.parts(entry):
                self._files[bundler.part_at(entry, name)[1:]] = bundler.part(
                    entry, name
                ).text.encode()

    def _add_answers(self, lang: str, site: Site) -> None:
        tag = lang
        links = site.links | {f"/i18n/{tag}.json?page=lens", f"/i18n/{tag}.json?page=animator"}
        links |= {f"/i18n/{tag}.json?page=embed", f"/i18n/{tag}.json?page=compare"}
        for link, data in fetch_files(self._app, links, lang).items():
            name = self._layout.address(link.partition("#")[0], short(lang))
            if link.startswith("/loop/"):
                name = link[1:]
            self._add_answer(name.partition("?")[0], data)
        self._add_answer("api/registry.json", to_json(registry.registry()))
        for profile in PROFILES:
            cards = to_json(registry.cards_under(profile))
            self._add_answer(f"api/cards/{profile}.json", cards)

    def _add_answer(self, name: str, data: bytes) -> None:
        self._files[name] = data
        self._layout.answers.add(name)

    def _add_library(self, scenarios: Collection[str] | None) -> None:
        for scenario in frozen.freeze_library(self._langs, self._jobs, scenarios):
            self._runs[scenario.slug] = {}
            for profile, run in scenario.runs.items():
                self._runs[scenario.slug][profile] = run.digest
                self._add_run(run)
            self._add_answer(f"s/{scenario.slug}/endings.json", scenario.endings)

    def _add_run(self, run: frozen.Frozen) -> None:
        self._frozen.add(run.digest)
        self._files |= {f"runs/{name}": data for name, data in run.files.items()}

    def _add_shown_runs(self, sites: dict[str, Site], scenarios: Collection[str] | None) -> None:
        """Freeze runs that pages link to or frame, as their server would still know them."""
        texts = [text for site in sites.values() for text in site.pages.values()]
        digests = dict.fromkeys(digest for text in texts for digest in _DIGEST.findall(text))
        runs = [self._known(digest) for digest in digests if digest not in self._frozen]
        shown_runs = [run for run in runs if run is not None]
        if scenarios is not None:
            shown_runs = [run for run in shown_runs if run.scenario.slug in scenarios]
        for shown in frozen.freeze_runs(shown_runs, self._langs):
            self._add_run(shown)
        self._files["runs/index.json"] = json.dumps(sorted(self._frozen)).encode()
        codes = self._layout.codes.items()
        by_code = {code: self._runs[slug] for code, slug in codes if slug in self._runs}
        library = {"kafkas": ADDRESSES, "runs": {**self._runs, **by_code}}
        self._files["runs/library.json"] = _json(library).encode()

    def _known(self, digest: str) -> Run | None:
        try:
            return self._tab_session.replays.run(digest)
        except RequestError:
            return None

    def _add_engine(self, python: Interpreter) -> int:
        """Add the interpreter and the archives; return the bytes that a run needs."""
        folder = f"pyodide/{python.version}/"
        engine, rest = archives.engine_archive(), archives.pages_archive()
        own = {"engine.zip": engine.data, "pages.zip": rest.data}
        files = precompiled({**python.files, **own})
        names = {}
        for name in ("engine", "pages"):
            data = files.pop(f"{name}.zip")
            names[name] = f"python/{name}-{hashlib.sha256(data).hexdigest()[:12]}.zip"
            self._files[names[name]] = data
        self._files |= {folder + name: data for name, data in files.items()}
        self._files["LICENCES.txt"] = licence_notices((*engine.packages, *rest.packages)).encode()
        loaded = sum(map(len, (*files.values(), self._files[names["engine"]])))
        places = self._layout.map(
            {
                "files": {
                    **names,
                    "package": __package__,
                    "pyodide": folder,
                    "wasm": f"{folder}pyodide.asm.wasm.bin",
                    "bytes": loaded - len(files["pyodide.mjs"]) - len(files["pyodide.asm.mjs"]),
                },
                "packs": {
                    entry: bundler.pack_at(entry)[1:]
                    for entry in sorted(bundler.entries())
                    if entry != bundler.SITE_ENTRY
                },
                "words": {short(lang): self._words(lang) for lang in self._langs},
            }
        )
        self._files["places.js"] = f"globalThis.highwaterMap = {_json(places)};\n".encode()
        return loaded

    def _words(self, lang: str) -> dict[str, str]:
        words = self._tab_session.words.words(lang)
        return {key: text for key, text in words.items() if key.startswith("folder.")}

    def _add_pages(self, sites: dict[str, Site]) -> None:
        script = bundler.pack_at(bundler.SITE_ENTRY)[1:]
        for lang, site in sites.items():
            for path, text in site.pages.items():
                page = Page(self._layout, path, short(lang))
                extra = ""
                if path.startswith("/s/"):
                    runs = _json(self._runs.get(path.removeprefix("/s/"), {}))
                    extra = f" data-runs='{runs}'"
                if path in ("/at", "/404"):
                    text = text.replace("<body ", '<body data-shell="1" ', 1)
                if path == "/404":
                    if lang == self._langs[0]:
                        page.file, page.root = "404.html", f"{self._base_path()}/"
                    else:
                        continue
                self._files[page.file] = page.rewritten(text, script, extra).encode()

    def _base_path(self) -> str:
        return re.sub(r"^https?://[^/]+", "", self._base)


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def languages(text: str) -> tuple[str, ...]:
    """Return the languages of a list like "en,zh".  Raises ValueError naming the unknown one."""
    langs = []
    for name in filter(None, (part.strip() for part in text.split(","))):
        lang = language_of(name)
        if lang is None:
            names = ", ".join(map(short, LANGUAGES))
            raise ValueError(f"{name} is no language of Highwater; there are: {names}.")
        if lang not in langs:
            langs.append(lang)
    if not langs:
        raise ValueError("Name at least one language, such as en.")
    return tuple(langs)


def build_site(
    out: Path,
    langs: tuple[str, ...],
    base: str = "",
    python: Path | None = None,
    jobs: int = 0,
    tell: Tell = lambda _text: None,
    scenarios: Collection[str] | None = None,
) -> Report:
    """Build a site into a directory.  Raises `app.site.pyodide.MissingFilesError` or OSError.

    `scenarios` are the slugs whose runs are frozen, all by default; the others play in the tab.
    """
    runtime = interpreter(python)
    builder = Builder(langs, base, jobs or os.cpu_count() or 1, tell)
    report = builder.build(runtime, scenarios)
    builder.write(out)
    return report


PYODIDE: Final = f"""Pyodide {VERSION} (pyodide/)

Copyright the Pyodide contributors and Mozilla; Mozilla Public License 2.0,
https://www.mozilla.org/MPL/2.0/. Unchanged but for its list of packages, which is emptied; its
WebAssembly module is compressed, and the modules of Python that it starts with are compiled.
The source is at https://github.com/pyodide/pyodide.

It contains CPython, under the licence of the Python Software Foundation,
https://docs.python.org/3/license.html, and Emscripten's libraries, under the MIT licence.
"""
OWN_LICENCE: Final = """Highwater: Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0.
Libraries of the pages: static/vendor/licences/NOTICES.txt.
"""


def licence_notices(packages: Iterable[Package]) -> str:
    """Return the notices of all packages in the archives of a site."""
    parts = [OWN_LICENCE, PYODIDE]
    parts += [f"{one.name} {one.version} (python/)\n\n{one.licence}" for one in packages]
    return ("\n" + "-" * 80 + "\n\n").join(parts)


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


def offline_files(files: dict[str, bytes], layout: SiteLayout, base: str) -> dict[str, bytes]:
    """Return the files by name, for a site that consists of `files`."""
    made = {"site.webmanifest": _manifest(), "sw.js": _worker()}
    first = sorted(
        name for name in (*files, *made) if FIRST.fullmatch(name) or _PAGE.fullmatch(name)
    )
    names = [re.sub(r"index\.html$", "", name) or "./" for name in first]
    listing = {"edition": _edition({**files, **made}), "langs": layout.langs[1:], "first": names}
    made["files.js"] = f"self.highwaterFiles = {json.dumps(listing)};\n".encode()
    if base:
        made["sitemap.xml"] = _sitemap(layout, base)
    made[".nojekyll"] = b""
    return made


def _worker() -> bytes:
    return (ROOT / "static" / "js" / "site" / "sw.js").read_bytes()


def _edition(files: dict[str, bytes]) -> str:
    """Return the digest of all files: equal sites have equal editions."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(name.encode() + hashlib.sha256(files[name]).digest())
    return digest.hexdigest()[:12]


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


STARTS: Final = ("/", "/r", "/incident", *STANDING)
"""Pages to begin with; all others are linked from them.  To /incident only old links lead."""
_LINK: Final = re.compile(r'\s(?:href|src|action|data-live)="(/[^"/][^"]*|/)"')
_FILE: Final = re.compile(r"/(?:i18n|loop|pictures)/")
_NO_PAGE: Final = re.compile(r"/(?:static|packs|api|r/|e/|i18n|loop|pictures|favicon)|/s/[^/]+/")


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


def crawl_site(app: Flask, lang: str) -> Site:
    """Render every page in a language.  Raises RuntimeError for a page that fails."""
    client = Client(app)
    site = Site()
    waiting = list(STARTS)
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
            if not parts.query and not _NO_PAGE.match(parts.path) and not needs_server(parts.path):
                waiting.append(parts.path)
    return site


def fetch_files(app: Flask, links: set[str], lang: str) -> dict[str, bytes]:
    """Return answers that pages ask for by links that are no pages: words, pictures, a loop."""
    client = Client(app)
    files = {}
    for link in links:
        if _FILE.match(link):
            answer = client.get(link, headers={"Accept-Language": lang})
            if answer.status_code == 200:
                files[link] = answer.get_data()
    return files
