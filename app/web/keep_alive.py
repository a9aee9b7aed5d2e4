"""Connections that outlive one answer, for the many small files of a page.

Werkzeug closes after each answer, since it cannot tell where a body ends that nobody read.  A GET
of our own files has none, so there the same connection may ask again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from werkzeug.serving import WSGIRequestHandler

from app.web.compression import PATHS

IDLE_S: Final = 5.0
"""So long a connection, and the thread it holds, waits for another question."""


class Lasting(WSGIRequestHandler):
    """Answers GETs of static text on one connection, everything else as Werkzeug does."""

    disable_nagle_algorithm = True
    """Head and body are two writes: on a connection that stays, the second would wait for the
    visitor's word that the first has come."""

    def handle_one_request(self) -> None:
        self.connection.settimeout(IDLE_S)
        super().handle_one_request()

    def run_wsgi(self) -> None:
        self.connection.settimeout(None)
        if self._lasts():
            self._answer()
        else:
            super().run_wsgi()

    def _lasts(self) -> bool:
        bodied = {"content-length", "transfer-encoding", "upgrade", "expect"}
        return (
            self.command == "GET"
            and self.path.startswith(PATHS)
            and not self.close_connection
            and not bodied & {name.lower() for name in self.headers}
        )

    def _answer(self) -> None:
        environ = self.make_environ()
        told: list[Any] = []

        def start_response(status: str, headers: list[tuple[str, str]], _info: Any = None) -> Any:
            told[:] = status, headers

        found: Iterable[bytes] = self.server.app(environ, start_response)
        try:
            body = b"".join(found)
        finally:
            getattr(found, "close", lambda: None)()
        status, headers = told
        code, _, reason = status.partition(" ")
        self.send_response(int(code), reason)
        for name, value in headers:
            self.send_header(name, value)
        if int(code) != 304 and "content-length" not in {name.lower() for name, _ in headers}:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
