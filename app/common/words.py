"""Words in two languages: the catalogue pages and scripts share, and the server's sentences."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.common.config import ASSETS, ROOT
from engine.model.languages import LANGUAGES
from engine.model.profiles import PROFILES

DEFAULT = LANGUAGES[0]
_SOURCES = (
    ROOT / "engine" / "study" / "words",  # only translations: the engine's tables are English
    ROOT / "engine" / "show" / "words",
    ASSETS / "static" / "i18n",
)
_PLACE = re.compile(r"\{(\w+)\}")

PAGES = {
    "animator": ("class", "help", "metrics", "share", "badge", "beside"),
    "batch": ("batch",),
    "cluster": ("cluster", "share"),
    "compare": ("compare",),
    "editor": ("editor", "hand"),
    "embed": ("hand",),
    "incident": ("incident", "share"),
}
"""Page -> the parts of the catalogue its scripts use, beside what all use: share is share.en.json.
The other parts are for templates alone, or for other pages, and need not travel."""

ALONE = ("lens",)
"""Parts that a script fetches by themselves when they are first wanted: `?page=lens`."""

SENTENCES: dict[str, tuple[str, str]] = {
    "invalid": ("{what} is missing or is not what it should be.", "{what} 缺失或不正确。"),
    "method": ("This address does not answer to {method}.", "此地址不支持 {method}。"),
    "invalid.event": ("There is no question named {event}.", "没有名为 {event} 的请求。"),
    "invalid.packet": (
        "A question is an event's name and one JSON object.",
        "请求由事件名称和一个 JSON 对象组成。",
    ),
    "invalid.json": ("The body must be one JSON object.", "请求正文必须是一个 JSON 对象。"),
    "forbidden": (
        "This page's token is no longer valid: reload the page.",
        "此页面的令牌已失效：请重新加载页面。",
    ),
    "gone": (
        "The server does not know the run {run}: it was never saved here.",
        "服务器不认识运行 {run}：它从未在此保存。",
    ),
    "gone.batch": ("There is no batch {batch}.", "没有批量任务 {batch}。"),
    "not_found": ("There is nothing at this address.", "此地址没有内容。"),
    "not_found.scenario": ("There is no scenario {scenario}.", "没有场景 {scenario}。"),
    "not_found.language": ("There is no language {lang}.", "没有语言 {lang}。"),
    "stale": (
        "Run {run} has {total} steps; there is no step {step}.",
        "运行 {run} 只有 {total} 步，没有第 {step} 步。",
    ),
    "too_large": (
        "That is too large: at most {limit} bytes are accepted.",
        "内容过大：最多接受 {limit} 字节。",
    ),
    "slow_down": (
        "Too many requests at once; wait {ms} ms.",
        "请求过于频繁；请等待 {ms} 毫秒。",
    ),
    "slow_down.cpu": (
        "This address has used its share of the server's time; try again in {ms} ms.",
        "此地址已用完其服务器时间份额；请在 {ms} ms 后再试。",
    ),
    "slow_down.sockets": (
        "This address already has {limit} live connections: close another page first.",
        "此地址已有 {limit} 个连接：请先关闭其他页面。",
    ),
    "engine": (
        "The engine failed ({error}); this reproduces it: {command}",
        "引擎出错（{error}）；可用此命令重现：{command}",
    ),
    "engine.unknown": (
        "The server failed ({error}); nothing that was saved is lost.",
        "服务器出错（{error}）；已保存的内容没有丢失。",
    ),
    "database": (
        "The server's database does not answer now: try again in a moment.",
        "服务器的数据库暂时没有响应：请稍后再试。",
    ),
    "database.full": (
        "The server's database takes nothing more: whoever runs it has to make room.",
        "服务器的数据库无法再写入：请服务器的管理者清理空间。",
    ),
    "busy": ("Batches are not available on this server.", "此服务器不提供批量运行。"),
}
"""code or key -> (English, 简体中文); pages find them in the catalogue as ``error.<key>``."""


def sentence(key: str, lang: str = DEFAULT) -> str:
    pair = SENTENCES.get(key) or SENTENCES["invalid"]
    return pair[1] if lang == "zh-Hans" else pair[0]


def fill(text: str, args: Mapping[str, Any]) -> str:
    """Puts ``args`` into the places ``{name}``; a place without a value stays as it is."""
    return _PLACE.sub(lambda match: str(args.get(match[1], match[0])), text)


def retold(text: str, lang: str) -> str:
    """A sentence of the server that was stored in English; whatever else it is stays so."""
    if lang == DEFAULT:
        return text
    for pair in SENTENCES.values():
        pieces = _PLACE.split(pair[0])
        spread = "(.+?)".join(map(re.escape, pieces[::2]))
        match = re.fullmatch(spread, text)
        if match is not None:
            return fill(pair[1], dict(zip(pieces[1::2], match.groups(), strict=True)))
    return text


def choose(
    words: Mapping[str, str], usual: Mapping[str, str], key: str, args: Mapping[str, Any]
) -> str:
    """The words of a key; the usual ones where a translation lacks, the key itself as the last."""
    return fill(words[key] if key in words else usual.get(key, key), args)


def language(name: str) -> str | None:
    """The catalogue a language tag asks for: zh, zh-CN and zh-Hans are one; None if none is."""
    asked = name.strip().lower().split("-")[0]
    return next((one for one in LANGUAGES if one.lower().split("-")[0] == asked), None)


@dataclass
class _Read:
    """A language's files as they were: all words, the same by part, and what was sent of them."""

    stamp: tuple[int, ...]
    words: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, str]] = field(default_factory=dict)
    packed: dict[str | None, tuple[bytes, str]] = field(default_factory=dict)

    def add(self, part: str, words: Mapping[str, str]) -> None:
        self.words.update(words)
        self.parts.setdefault(part, {}).update(words)


class Catalogue:
    """Merged words per language; read again when a file changes, so editing needs no restart."""

    def __init__(self, sources: tuple[Path, ...] = _SOURCES) -> None:
        self._sources = sources
        self._read: dict[str, _Read] = {}
        self._lock = threading.Lock()

    def words(self, lang: str) -> dict[str, str]:
        return self._load(lang).words

    def packed(self, lang: str, page: str | None = None) -> tuple[bytes, str]:
        """The catalogue, or the share of one page or part, as JSON bytes, and the ETag of these."""
        read = self._load(lang)
        if page not in read.packed:
            parts = set(read.parts)
            if page is not None:
                parts = {page} if page in ALONE else {"", *PAGES[page]}
            words: dict[str, str] = {}
            for part, some in read.parts.items():
                words |= some if part in parts else {}
            body = json.dumps(words, ensure_ascii=False, separators=(",", ":")).encode()
            read.packed[page] = body, hashlib.sha256(body).hexdigest()[:16]
        return read.packed[page]

    def text(self, lang: str, key: str, args: Mapping[str, Any]) -> str:
        """The words of a key in a language, as `choose` finds them."""
        return choose(self.words(lang), self.words(DEFAULT), key, args)

    def _load(self, lang: str) -> _Read:
        # en.json, and what a part of the pages brings itself: batch.en.json.
        paths = [
            path
            for folder in self._sources
            for path in (folder / f"{lang}.json", *sorted(folder.glob(f"*.{lang}.json")))
        ]
        stamp = tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in paths)
        with self._lock:
            cached = self._read.get(lang)
            if cached is None or cached.stamp != stamp:
                cached = self._read[lang] = self._fresh(lang, paths, stamp)
            return cached

    def _fresh(self, lang: str, paths: list[Path], stamp: tuple[int, ...]) -> _Read:
        read = _Read(stamp)
        read.add("", {f"error.{key}": sentence(key, lang) for key in SENTENCES})
        read.add("", {f"kafka.{one.name}": one.stands_for for one in PROFILES.values()})
        for path in paths:
            if path.exists():
                part = path.name.removesuffix(f"{lang}.json").rstrip(".")
                read.add(part, json.loads(path.read_text(encoding="utf-8")))
        return read
