"""The socket itself: how messages are written, how large they may be, how connections end."""

from __future__ import annotations

import logging
from typing import Any

import orjson
import simple_websocket
from engineio.async_drivers import threading as driver
from flask import Flask, request
from flask_socketio import SocketIO
from socketio.packet import Packet

MESSAGE_BYTES = 131_072
LOOK_EVERY_S = 2.0


log = logging.getLogger(__name__)


def to_json(data: Any) -> bytes:
    """JSON with numbers as keys allowed; what is not JSON at all is told as text and logged.

    An answer is written after its handler has returned: raising here would close the connection
    of a client who did nothing wrong.
    """
    return orjson.dumps(data, _as_text, orjson.OPT_NON_STR_KEYS)


def _as_text(value: Any) -> str:
    log.error("An answer held a %s, which is no JSON: %.200r", type(value).__name__, value)
    return str(value)


class _OrJson:
    """orjson in the shape python-socketio expects of a JSON module."""

    @staticmethod
    def dumps(data: Any, **_: Any) -> str:
        return to_json(data).decode()

    @staticmethod
    def loads(text: str, **_: Any) -> Any:
        return orjson.loads(text)


class JsonPacket(Packet):  # type: ignore[misc]
    """Packets without attachments: the default walks every answer looking for bytes."""

    uses_binary_events = False
    json = _OrJson


class BoundedWebSocket(driver.SimpleWebSocketWSGI):  # type: ignore[misc]
    """Refuses a large message while it arrives, where Engine.IO would first take all of it.

    Its thread does not keep a stopping server alive for as long as a page is open.
    """

    def __init__(self, handler: Any, server: Any) -> None:
        super().__init__(
            handler, server, max_message_size=MESSAGE_BYTES, thread_class=driver.DaemonThread
        )

    def wait(self) -> Any:
        """The next message, or None once the connection has ended."""
        # A connection that ends over a large message may forget to say so to who waits for it,
        # hence the look at it from time to time.
        while True:
            try:
                message = self.ws.receive(timeout=LOOK_EVERY_S)
            except simple_websocket.ConnectionClosed:
                return None
            if message is not None or not self.ws.connected:
                return message


def sid() -> str:
    """The connection whose question is being answered."""
    return str(request.sid)  # type: ignore[attr-defined]


def make_socketio() -> SocketIO:
    """The mode is always named: an installed package would change the default.

    Without async handlers, the moves of one client are played in the order they were sent.
    """
    return SocketIO(
        async_mode="threading",
        async_handlers=False,
        serializer=JsonPacket,
        max_http_buffer_size=MESSAGE_BYTES,
    )


def attach(socketio: SocketIO, app: Flask) -> None:
    socketio.init_app(app)
    engine = socketio.server.eio
    engine._async = {**engine._async, "websocket": BoundedWebSocket}
