"""Words in each language: the catalogue that pages and scripts share, and the server's refusals.

`static/i18n/<part>.<language>.json`, and without a part what every page needs; refusals lie in
`app/words`, the engine's own in `engine/words`.  All are flat, key -> text with {places}.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from app.core.config import ROOT
from engine.checks.catalogue import INVARIANTS
from engine.model.languages import LANGUAGES, USUAL, read_words
from engine.model.profiles import PROFILES
from engine.study.metrics import METRICS

OF_APP: Final = ROOT / "app" / "words"
OF_PAGES: Final = ROOT / "static" / "i18n"
EVERYWHERE: Final = (
    ROOT / "engine" / "words" / "tables",  # only translations: the engine's tables are English
    ROOT / "engine" / "words" / "story",
    OF_APP / "refusals",
)
"""Words that travel to every page, without the language in their names."""

_PLACE = re.compile(r"\{(\w+)\}")

PARTS: Final = {
    "animator": ("class", "sure", "help", "level", "metrics", "share", "badge", "beside"),
    "cluster": ("cluster", "incident", "share"),
    "editor": ("editor", "hand", "share"),
    "embed": ("hand",),
}
"""Page -> the parts of the catalogue its scripts use, beside what all use: share is share.en.json.
A page that is not here uses the part of its own name and share."""

ALONE = ("lens",)
"""Parts that a script fetches by themselves when they are first wanted: `?page=lens`."""

ERROR: Final = "error."
"""What the keys of refusals begin with."""


def fill(text: str, args: Mapping[str, Any]) -> str:
    """Put ``args`` into the places ``{name}``; a place without a value stays as it is."""
    return _PLACE.sub(lambda match: str(args.get(match[1], match[0])), text)


def choose(words: Mapping[str, str], key: str, args: Mapping[str, Any]) -> str:
    """Return the words of a key, or the key itself where there are none, so that a gap is seen."""
    return fill(words.get(key, key), args)


def sentence(key: str, lang: str = USUAL) -> str:
    """Return the sentence of a refusal: `app/words/refusals.en.json`, without `ERROR`."""
    own = _REFUSALS.get(lang, _REFUSALS[USUAL])
    return own.get(ERROR + key) or own[ERROR + "invalid"]


def _refusals(lang: str) -> dict[str, str]:
    usual, own = (OF_APP / f"refusals.{one}.json" for one in (USUAL, lang))
    return read_words(usual) | read_words(own)


_REFUSALS: Final = {lang: _refusals(lang) for lang in LANGUAGES}
"""Read before anything can be refused: that files run out may be what is refused."""


@dataclass
class _Read:
    """Files of a language as last read: all words, the same by part, and the packed bytes."""

    stamp: tuple[int, ...]
    words: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, str]] = field(default_factory=dict)
    packed: dict[str | None, tuple[bytes, str]] = field(default_factory=dict)

    def add(self, part: str, words: Mapping[str, str]) -> None:
        self.words.update(words)
        self.parts.setdefault(part, {}).update(words)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


class Catalogue:
    """Merged words per language; read again when a file changes, so editing needs no restart."""

    def __init__(self, pages: Path = OF_PAGES, everywhere: tuple[Path, ...] = EVERYWHERE) -> None:
        self._pages = pages
        self._everywhere = everywhere
        self._read: dict[str, _Read] = {}
        self._lock = threading.Lock()

    def words(self, lang: str) -> dict[str, str]:
        return self._load(lang).words

    def has(self, lang: str, page: str) -> bool:
        """Check whether there are words for a page of that name."""
        return page in PARTS or page in self._load(lang).parts

    def packed(self, lang: str, page: str | None = None) -> tuple[bytes, str]:
        """Return the catalogue, or that of one page or part, as JSON bytes, and their ETag."""
        read = self._load(lang)
        if page not in read.packed:
            parts = set(read.parts)
            if page is not None:
                parts = {page} if page in ALONE else {"", *PARTS.get(page, (page, "share"))}
            words: dict[str, str] = {}
            for part, some in read.parts.items():
                words |= some if part in parts else {}
            body = json.dumps(words, ensure_ascii=False, separators=(",", ":")).encode()
            read.packed[page] = body, hashlib.sha256(body).hexdigest()[:16]
        return read.packed[page]

    def text(self, lang: str, key: str, args: Mapping[str, Any]) -> str:
        """Return the words of a key in a language, as `choose` finds them."""
        return choose(self.words(lang), key, args)

    def _files(self, lang: str) -> dict[Path, str]:
        """Return each file and its part: en.json belongs to every page, batch.en.json to one."""
        files = {path.with_name(f"{path.name}.{lang}.json"): "" for path in self._everywhere}
        files[self._pages / f"{lang}.json"] = ""
        for path in sorted(self._pages.glob(f"*.{lang}.json")):
            files[path] = path.name.removesuffix(f".{lang}.json")
        return files

    def _load(self, lang: str) -> _Read:
        # Keys that the language lacks are in the usual language's files.
        paths = self._files(USUAL) | self._files(lang)
        stamp = tuple(map(_changed, paths))
        with self._lock:
            cached = self._read.get(lang)
            if cached is None or cached.stamp != stamp:
                cached = self._read[lang] = self._fresh(paths, stamp)
            return cached

    def _fresh(self, paths: Mapping[Path, str], stamp: tuple[int, ...]) -> _Read:
        read = _Read(stamp)
        read.add("", {f"kafka.{profile.name}": profile.stands_for for profile in PROFILES.values()})
        read.add(
            "", {f"broken.{invariant.name}": invariant.broken for invariant in INVARIANTS.values()}
        )
        read.add("", {f"metric.{metric.name}": metric.title for metric in METRICS.values()})
        for path, part in paths.items():
            read.add(part, read_words(path))
        return read
