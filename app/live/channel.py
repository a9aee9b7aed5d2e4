"""Socket.IO as the pages speak it: encoding and decoding of packets, and bad ones."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final
from wsgiref.types import WSGIEnvironment

import orjson
from flask import Flask, request
from flask_socketio import SocketIO
from socketio import packet
from socketio.packet import Packet

from app.admission import connections
from app.admission.websocket_meter import MESSAGE_BYTES
from app.core.json_response import to_json

log = logging.getLogger(__name__)

MALFORMED: Final = "malformed"
RESERVED: Final = frozenset({"connect", "disconnect", "connect_error", "*", MALFORMED})
"""Names that mean something to the server itself: as a client's event they mean nothing."""
UNKNOWN: Final = "reserved "
"""Prefix of such a name, so that it is answered like any other unknown one."""


class _OrJson:
    """orjson in the shape python-socketio expects of a JSON module."""

    @staticmethod
    def dumps(data: Any, **_: Any) -> str:
        return to_json(data).decode()

    @staticmethod
    def loads(text: str, **_: Any) -> Any:
        return orjson.loads(text)


class JsonPacket(Packet):  # type: ignore[misc]
    """Packets without attachments: the default walks every answer looking for bytes.

    A question that is not JSON (NaN, half a character) is read as an unknown event, and so paid for
    and answered; whatever else is no packet raises ValueError, and its connection is cut.
    """

    uses_binary_events = False
    json = _OrJson

    def decode(self, encoded_packet: Any) -> int:
        if not isinstance(encoded_packet, str):
            raise ValueError("bytes")
        try:
            attachments = super().decode(encoded_packet)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            self.data = [MALFORMED]
            attachments = 0
        if attachments or self.packet_type not in _SPOKEN:
            raise ValueError("no packet of ours")
        if self.packet_type == packet.EVENT:
            if not (isinstance(self.data, list) and self.data and isinstance(self.data[0], str)):
                self.data = [MALFORMED]
            if self.data[0] == MALFORMED and self.id is None:
                raise ValueError("nobody waits for an answer")
            if self.data[0] in RESERVED:
                self.data = [UNKNOWN + self.data[0], *self.data[1:]]
        return 0


_SPOKEN: Final = (packet.CONNECT, packet.DISCONNECT, packet.EVENT, packet.ACK)


def sid() -> str:
    """Return the connection whose question is being answered."""
    return str(request.sid)  # type: ignore[attr-defined]


def make_socketio(transports: str) -> SocketIO:
    """Return the Socket.IO server, its mode named: an installed package would change the default.

    Without async handlers, the moves of one client are played in the order they were sent.
    """
    return SocketIO(
        async_mode="threading",
        async_handlers=False,
        serializer=JsonPacket,
        max_http_buffer_size=MESSAGE_BYTES,
        transports=transports.split(","),
    )


def attach(socketio: SocketIO, app: Flask) -> Callable[[str], None]:
    """Attach the sockets to the application; return a function that forgets a broken connection."""
    socketio.init_app(app)
    engine = socketio.server.eio
    connected, answer = engine.handlers["connect"], engine.handlers["message"]

    def connect(eio_sid: str, environ: WSGIEnvironment) -> Any:
        link = environ.setdefault(connections.KEY, connections.SocketLink(None))
        link.eio_sid = eio_sid
        return connected(eio_sid, environ)

    def message(eio_sid: str, data: Any) -> None:
        try:
            answer(eio_sid, data)
        except Exception as error:
            # Only clients that break the protocol get here: handlers catch their own errors.
            log.info("A live connection sent no packet: %s", type(error).__name__)
            forget(eio_sid)

    def forget(eio_sid: str) -> None:
        socket = engine.sockets.pop(eio_sid, None)
        if socket is not None:
            socket.close(wait=False, abort=True)

    engine.on("connect", connect)
    engine.on("message", message)
    return forget
