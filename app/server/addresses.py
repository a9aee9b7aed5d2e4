"""Addresses of files that contain their digest, so that a browser caches them for ever."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from flask import Flask, Response, current_app, request, url_for

from app.core.config import ROOT
from app.server import bundler
from app.server.edition import FOR_EVER

STATIC = ROOT / "static"
FETCHED = (
    "icons.svg",
    "css/asked.css",
    "css/beside.css",
    "css/lens.css",
    "css/metrics.css",
    "css/share.css",
)
"""Files that scripts ask for themselves; the import map tells them the address."""


@lru_cache(maxsize=1_000)
def _digest(filename: str, _changed: int) -> str:
    return hashlib.sha256((STATIC / filename).read_bytes()).hexdigest()[:12]


def digest(filename: str) -> str:
    """Return the digest of a file below ``static`` as it is now, or "" if there is none."""
    try:
        return _digest(filename, (STATIC / filename).stat().st_mtime_ns)
    except (OSError, ValueError):
        return ""


def plain() -> bool:
    """Check whether modules are sent as they are written, for developers: ``serve --debug``."""
    return current_app.debug


def script(entry: str) -> str:
    """Return the address of a page's script: its pack, or itself."""
    return url_for("static", filename=f"js/{entry}") if plain() else bundler.pack_at(entry)


def fetched() -> dict[str, str]:
    """Return plain address -> the cacheable one, for ``import.meta.resolve``."""
    return {f"/static/{name}": url_for("static", filename=name) for name in FETCHED}


def install(app: Flask) -> None:
    """Let ``url_for`` name a file's bytes in its address, and let browsers keep such files."""

    @app.url_defaults
    def versioned(endpoint: str, values: dict[str, object]) -> None:
        name = str(values.get("filename", ""))
        # Libraries carry their version in their name.  A module that is sent as it is written is
        # imported by its plain name elsewhere, and a browser would run it twice.
        named = name.startswith("vendor/") or (name.startswith("js/") and plain())
        version = digest(name) if endpoint == "static" and not named else ""
        if version:
            values.setdefault("v", version)

    @app.after_request
    def kept(response: Response) -> Response:
        name = request.path.removeprefix("/static/")
        if name != request.path and response.status_code in (200, 304):
            version = request.args.get("v")
            if name.startswith("vendor/") or (version and version == digest(name)):
                response.headers["Cache-Control"] = FOR_EVER
        return response
