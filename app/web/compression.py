"""Text that is the same for everybody travels compressed: modules, styles, words, the registry.

Pages are not: they carry a token, and what is secret is not compressed beside what is asked for.
"""

from __future__ import annotations

import gzip

from flask import Flask, Response, request

from app.common.once import Kept

PATHS = ("/static/", "/i18n/", "/api/registry", "/api/cards/", "/loop/")
TYPES = ("text/", "application/json", "application/javascript", "image/svg+xml")
LEAST_BYTES = 1_000
KEPT = 400


class Compressor:
    """Compresses each version of a file once; the ETag names the version."""

    def __init__(self) -> None:
        self._kept = Kept(KEPT)

    def __call__(self, response: Response) -> Response:
        if not request.path.startswith(PATHS) or not (response.mimetype or "").startswith(TYPES):
            return response
        response.vary.add("Accept-Encoding")
        etag, weak = response.get_etag()
        if etag is None or not request.accept_encodings.quality("gzip") or request.method != "GET":
            return response
        # A weak tag: the bytes on the wire differ, what they say does not.
        if not weak:
            response.set_etag(etag, weak=True)
        if response.status_code != 200 or "Content-Encoding" in response.headers:
            return response
        packed = self._packed((request.path, etag), response)
        if packed is not None:
            response.set_data(packed)
            response.headers["Content-Encoding"] = "gzip"
        return response

    def _packed(self, key: tuple[str, str], response: Response) -> bytes | None:
        def pack() -> bytes | None:
            response.direct_passthrough = False
            data = response.get_data()
            return gzip.compress(data, 6, mtime=0) if len(data) >= LEAST_BYTES else None

        packed = self._kept.get(key, pack)
        if packed is not None and response.direct_passthrough:
            response.response = _closed(response)
        return packed


def _closed(response: Response) -> list[bytes]:
    """Lets go of the file that stood ready to be sent."""
    close = getattr(response.response, "close", None)
    if close is not None:
        close()
    response.direct_passthrough = False
    return []


def install(app: Flask) -> None:
    app.after_request(Compressor())
