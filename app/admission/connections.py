"""Connection limits: live connections are counted at the handshake, before they take a thread.

A WSGI layer around Socket.IO's.  A connection that was let in and does not say CONNECT within a few
seconds is cut.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final
from wsgiref.types import WSGIEnvironment

from app.admission.cpu_quota import payer
from app.admission.deadlines import Deadline, Deadlines
from app.admission.rates import Buckets, count_down
from app.admission.websocket_meter import Wire
from app.core.json_response import refused
from app.core.refusals import RequestError

log = logging.getLogger(__name__)

PATH: Final = "/socket.io/"
KEY: Final = "highwater.link"
"""Where the connection stands in the WSGI environment that Socket.IO keeps of it."""
CONNECT_S: Final = 5.0
SPARE: Final = 4
"""Connections of an address beyond its share: they are accepted, sent an error, and closed."""
AGAIN_MS: Final = 5_000

StartResponse = Callable[..., Any]
WsgiApp = Callable[[WSGIEnvironment, StartResponse], Iterable[bytes]]


class SocketLink:
    """One live connection, from its handshake to its end; `client` is its client."""

    def __init__(self, wire: Wire | None, deadline: Deadline | None = None) -> None:
        self.wire = wire
        self.client: Any = None
        self.eio_sid = ""
        self._deadline = deadline

    def connected(self) -> None:
        """Note that the client has sent CONNECT and was accepted."""
        if self._deadline is not None:
            self._deadline.off()

    def has_hung_up(self) -> bool:
        return self.wire is not None and self.wire.has_hung_up()

    def cut(self) -> None:
        if self.wire is not None:
            self.wire.hang_up()


class Gateway:
    """Limits on live connections per address, in all, and in how fast an address opens them."""

    def __init__(
        self,
        app: WsgiApp,
        deadlines: Deadlines,
        per_address: int,
        in_all: int,
        forget: Callable[[str], None],
    ) -> None:
        self._app = app
        self._deadlines = deadlines
        self._per_address = per_address
        self._in_all = in_all
        self._forget = forget
        # A page that lost its server asks again about once a second; a class does so together.
        self._pace = Buckets(max(2.0, per_address / 4), 4 * per_address)
        self._lock = threading.Lock()
        self._of: Counter[str] = Counter()
        self._open: set[SocketLink] = set()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not environ.get("PATH_INFO", "").startswith(PATH):
            return self._app(environ, start_response)
        address = payer(environ.get("REMOTE_ADDR", ""))
        handshake = "sid=" not in environ.get("QUERY_STRING", "")
        try:
            if handshake:
                wait_ms = self._pace.take(address)
                if wait_ms:
                    raise RequestError("slow_down", ms=wait_ms)
            if environ.get("HTTP_UPGRADE", "").lower() != "websocket":
                return self._app(environ, start_response)
            with self._place(address):
                return self._serve(environ, start_response)
        except RequestError as refusal:
            return refused(refusal, start_response)

    def count(self) -> int:
        """Return the number of open live connections."""
        return len(self._open)

    def close(self) -> None:
        """End every connection, so that the threads that serve them end."""
        with self._lock:
            links = list(self._open)
        for link in links:
            link.cut()

    @contextlib.contextmanager
    def _place(self, address: str) -> Iterator[None]:
        with self._lock:
            if self._of[address] >= self._per_address + SPARE:
                raise RequestError("slow_down", "slow_down.sockets", limit=self._per_address)
            if self._of.total() >= self._in_all:
                raise RequestError("busy", "busy.sockets", ms=AGAIN_MS)
            self._of[address] += 1
        try:
            yield
        finally:
            with self._lock:
                count_down(self._of, address)

    def _serve(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        key = next((name for name in SOCKETS if name in environ), None)
        if key is None:
            return self._app(environ, start_response)
        wire = environ[key] = Wire(environ[key])
        link = SocketLink(wire, self._deadlines.arm(CONNECT_S, wire.hang_up))
        environ[KEY] = link
        with self._lock:
            self._open.add(link)
        try:
            answer = self._app(environ, start_response)
            wire.give_back()
            return answer  # the handshake was refused: the connection speaks HTTP still
        except SOCKETS[key]:
            wire.hang_up()
            raise  # this signals to the server that the connection is no longer its own
        except Exception as error:
            log.info("A live connection broke the protocol: %s", type(error).__name__)
            wire.hang_up()
            raise SOCKETS[key] from None
        finally:
            link.connected()
            with self._lock:
                self._open.discard(link)
            self._forget(link.eio_sid)


SOCKETS: Final[dict[str, type[Exception]]] = {
    "gunicorn.socket": StopIteration,
    "werkzeug.socket": ConnectionError,
}
"""Where servers leave a connection's socket, and what tells each that it was taken over."""
