"""The socket itself: how messages are written, how large they may be, how connections end."""

from __future__ import annotations

from typing import Any

import orjson
from engineio.async_drivers import threading as driver
from flask import Flask
from flask_socketio import SocketIO
from socketio.packet import Packet

MESSAGE_BYTES = 131_072


class _OrJson:
    """orjson in the shape python-socketio expects of a JSON module."""

    @staticmethod
    def dumps(data: Any, **_: Any) -> str:
        return orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS).decode()

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
