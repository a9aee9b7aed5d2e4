"""Compression of text: Brotli where a browser takes it, gzip elsewhere.

What is the same for all browsers, modules, styles, words, is compressed once for each version of
it.  A page is compressed each time, and may be: its token is written differently in every answer
(`app.server.visitor.csrf_token`), so its length leaks nothing.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Final

import brotli
from flask import Flask, Response, request

from app.core.memoize import ComputedValues

PATHS = ("/static/", "/packs/", "/pictures/", "/i18n/", "/api/registry", "/api/cards/", "/loop/")
TYPES = ("text/", "application/json", "application/javascript", "image/svg+xml")
LEAST_BYTES = 1_000
KEPT = 400


def _brotli(data: bytes, often: bool) -> bytes:
    return bytes(brotli.compress(data, quality=4 if often else 10))


def _gzip(data: bytes, often: bool) -> bytes:
    return gzip.compress(data, 5 if often else 9, mtime=0)


WAYS: Final[dict[str, Callable[[bytes, bool], bytes]]] = {"br": _brotli, "gzip": _gzip}
"""How browsers call it -> what compresses: quickly what is sent once, well what is kept."""


class Compressor:
    """Compressor of each version of a file, once; the ETag names the version."""

    def __init__(self) -> None:
        self._kept = ComputedValues(KEPT)

    def __call__(self, response: Response) -> Response:
        page = response.mimetype == "text/html"
        if not page and not request.path.startswith(PATHS):
            return response
        if not (response.mimetype or "").startswith(TYPES):
            return response
        response.vary.add("Accept-Encoding")
        way = request.accept_encodings.best_match(list(WAYS))
        if way is None or request.method != "GET":
            return response
        if page:
            return self._once(response, way)
        etag, weak = response.get_etag()
        if etag is None:
            return response
        # A weak tag: the bytes on the wire differ, what they say does not.
        if not weak:
            response.set_etag(etag, weak=True)
        if response.status_code != 200 or "Content-Encoding" in response.headers:
            return response
        packed = self._packed((request.path, etag, way), response, way)
        if packed is not None:
            response.set_data(packed)
            response.headers["Content-Encoding"] = way
        return response

    def _once(self, response: Response, way: str) -> Response:
        if response.is_streamed or "Content-Encoding" in response.headers:
            return response
        data = response.get_data()
        if len(data) >= LEAST_BYTES:
            response.set_data(WAYS[way](data, True))
            response.headers["Content-Encoding"] = way
        return response

    def _packed(self, key: tuple[str, str, str], response: Response, way: str) -> bytes | None:
        def pack() -> bytes | None:
            response.direct_passthrough = False
            data = response.get_data()
            return WAYS[way](data, False) if len(data) >= LEAST_BYTES else None

        packed = self._kept.get(key, pack)
        if packed is not None and response.direct_passthrough:
            response.response = _closed(response)
        return packed


def _closed(response: Response) -> list[bytes]:
    """Close the file that stood ready to be sent."""
    close = getattr(response.response, "close", None)
    if close is not None:
        close()
    response.direct_passthrough = False
    return []


def install(app: Flask) -> None:
    app.after_request(Compressor())
