"""Bodies of requests, read within a size limit and a deadline before any work is done.

So nothing behind this layer waits for what a client may never send.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable, Collection, Iterable
from typing import IO, Any, Final
from wsgiref.types import WSGIEnvironment

from app.admission.client_disconnect import asking, has_hung_up
from app.admission.cpu_quota import Accounts, payer
from app.admission.deadlines import Deadlines, stop_reading
from app.admission.queue import Shares
from app.core.json_response import refused
from app.core.refusals import RequestError

FREE: Final = ("/static/", "/health")
"""A page asks for many of these at once, and none of them costs much."""
BODY_BYTES: Final = 256 * 1024
"""Of any request: a scenario may be 64 KiB, and JSON may write a character as six."""
BODY_S: Final = 10.0
FILES_BYTES: Final = 16 * 1024 * 1024
FILES_S: Final = 30.0
FILES_AT_ONCE: Final = 6
"""Requests with files that are read at once, shared by addresses; they are not kept in memory."""
REST_BYTES: Final = 16 * 1024 * 1024
REST_S: Final = 2.0
"""How much is read of a body that is refused, and for how long: a client that is cut off while it
sends never sees the sentence."""

WsgiApp = Callable[[WSGIEnvironment, Callable[..., Any]], Iterable[bytes]]


class Bodies:
    """WSGI layer that reads a whole body into memory for the layers behind it."""

    def __init__(
        self, app: WsgiApp, deadlines: Deadlines, accounts: Accounts, files_at: Collection[str]
    ) -> None:
        """Create the layer; `files_at` has the addresses that take files."""
        self._app = app
        self._files_at = files_at
        self._deadlines = deadlines
        self._accounts = accounts
        self._files = Shares(FILES_AT_ONCE)

    def __call__(
        self, environ: WSGIEnvironment, start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        if environ.get("PATH_INFO", "").startswith(FREE) or "HTTP_UPGRADE" in environ:
            return self._answer(environ, start_response)
        length, chunked = _announced(environ)
        size = BODY_BYTES if chunked else min(BODY_BYTES, int(length) if length.isdigit() else 0)
        sock = environ.get("gunicorn.socket")
        hung_up = (lambda: has_hung_up(sock)) if sock is not None else None
        try:
            with self._accounts.under_way(environ.get("REMOTE_ADDR", ""), size), asking(hung_up):
                return self._answer(environ, start_response)
        except RequestError as refusal:
            return refused(refusal, start_response)

    def _answer(
        self, environ: WSGIEnvironment, start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        length, chunked = _announced(environ)
        if not chunked and length == "0":
            return self._app(environ, start_response)
        try:
            if environ.get("PATH_INFO") in self._files_at:
                return self._with_files(environ, start_response, length)
            body = self._read(environ, int(length) if length.isdigit() else 0, chunked)
        except RequestError as refusal:
            return refused(refusal, start_response)
        return self._pass(environ, start_response, io.BytesIO(body), len(body))

    def _pass(
        self,
        environ: WSGIEnvironment,
        start_response: Callable[..., Any],
        body: IO[bytes],
        length: int,
    ) -> Iterable[bytes]:
        environ["wsgi.input"] = body
        environ["CONTENT_LENGTH"] = str(length)
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        return self._app(environ, start_response)

    def _with_files(
        self, environ: WSGIEnvironment, start_response: Callable[..., Any], declared: str
    ) -> Iterable[bytes]:
        """Pass on a body of files, whose length is known beforehand; few at once."""
        length = int(declared) if declared.isdigit() and len(declared) < 16 else 0
        if not 0 < length <= FILES_BYTES:
            self._let_come(environ, REST_BYTES)
            raise RequestError("too_large", "too_large.files", mib=FILES_BYTES >> 20)
        place = self._files.one(payer(environ.get("REMOTE_ADDR", "")), 0)
        with place, tempfile.SpooledTemporaryFile(max_size=BODY_BYTES) as body:
            came = self._within(environ, FILES_S, length, body.write)
            if came < length:
                raise RequestError("late", s=round(FILES_S))
            body.seek(0)
            # All of the answer is made while the files are there.
            return list(self._pass(environ, start_response, body, length))

    def _read(self, environ: WSGIEnvironment, length: int, chunked: bool) -> bytes:
        if length > BODY_BYTES:
            self._let_come(environ, length)
            raise RequestError("too_large", limit=BODY_BYTES)
        expected = BODY_BYTES + 1 if chunked else length
        body = bytearray()
        self._within(environ, BODY_S, expected, body.extend)
        if len(body) > BODY_BYTES:
            self._let_come(environ, REST_BYTES)
            raise RequestError("too_large", limit=BODY_BYTES)
        if len(body) < length:
            raise RequestError("late", s=round(BODY_S))
        return bytes(body)

    def _let_come(self, environ: WSGIEnvironment, length: int) -> None:
        self._within(environ, REST_S, min(length, REST_BYTES), len)

    def _within(
        self, environ: WSGIEnvironment, seconds: float, most: int, keep: Callable[[bytes], object]
    ) -> int:
        """Pass on at most `most` bytes before the deadline; return the number that came."""
        stream = environ["wsgi.input"]
        sock = environ.get("gunicorn.socket") or environ.get("werkzeug.socket")
        cut = stop_reading(sock) if sock is not None else _nothing
        left = most
        # A truncated body ends the stream in one server and raises in the next.
        with self._deadlines.within(seconds, cut), contextlib.suppress(Exception):
            while left and (piece := stream.read(min(left, 65_536))):
                left -= len(piece)
                keep(piece)
        return most - left


def _announced(environ: WSGIEnvironment) -> tuple[str, bool]:
    """Return (length as the client sent it, whether the body comes in chunks instead)."""
    chunked = "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()
    return environ.get("CONTENT_LENGTH") or "0", chunked


def _nothing() -> None:
    """Do nothing: there is no socket where a test calls the application itself."""
