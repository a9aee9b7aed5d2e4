"""The socket below a live connection, with limits on bytes, rate and idle time.

Engine.IO is handed this in place of the server's own socket.  Browsers compress what they send, so
a message is bounded both as it comes in and, by the socket library, as it is unpacked.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import Final

from app.admission.client_disconnect import has_hung_up
from app.admission.rates import Bucket

MESSAGE_BYTES: Final = 131_072
PACKED_BYTES: Final = MESSAGE_BYTES // 4
"""Of a compressed message: deflate makes at most a thousand of one byte."""
FRAMES_PER_S: Final = 60.0
FRAMES_BURST: Final = 600
IDLE_S: Final = 60.0
"""A live page answers a ping every 25 seconds."""
UNREAD_S: Final = 5.0
"""Seconds an answer may lie unread; then a client that goes on asking is cut off."""

_CONTINUED: Final = 0
_CONTROL: Final = 8


class WireError(OSError):
    """Input beyond a limit; the connection ends."""


class Meter:
    """Parser of WebSocket frame heads (RFC 6455, 5.2) that limits them as they come in."""

    __slots__ = ("_frames", "_head", "_left", "_message", "_most")

    def __init__(self, frames: Bucket) -> None:
        self._frames = frames
        self._head = bytearray()
        self._left = 0
        self._message = 0
        self._most = MESSAGE_BYTES

    def take(self, data: bytes) -> None:
        """Count received bytes.  Raises WireError for too large a message, or too many frames."""
        at = 0
        while at < len(data):
            if self._left:
                skipped = min(self._left, len(data) - at)
                self._left -= skipped
                at += skipped
                continue
            self._head.append(data[at])
            at += 1
            if len(self._head) >= 2 and len(self._head) == self._head_bytes():
                self._frame()

    def _head_bytes(self) -> int:
        mask = 4 if self._head[1] & 0x80 else 0
        return 2 + {126: 2, 127: 8}.get(self._head[1] & 0x7F, 0) + mask

    def _frame(self) -> None:
        head, self._head = self._head, bytearray()
        if self._frames.take():
            raise WireError("too many frames")
        length = head[1] & 0x7F
        if length >= 126:
            length = int.from_bytes(head[2 : 4 if length == 126 else 10])
        opcode = head[0] & 0x0F
        if opcode < _CONTROL:
            if opcode != _CONTINUED:
                self._message = 0
                self._most = PACKED_BYTES if head[0] & 0x40 else MESSAGE_BYTES
            self._message += length
            if self._message > self._most:
                raise WireError("too large a message")
        self._left = length


class Wire:
    """Wrapper of a socket with the methods that the WebSocket library uses."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._meter = Meter(Bucket(FRAMES_PER_S, FRAMES_BURST))
        self._sending = threading.Lock()
        self._sending_since = 0.0
        sock.settimeout(IDLE_S)

    def recv(self, most: int) -> bytes:
        """Return the received bytes; OSError for too many, or for none in time."""
        data = self._sock.recv(most)
        self._meter.take(data)
        since = self._sending_since
        if since and time.monotonic() - since > UNREAD_S:
            raise WireError("answers are not read")
        return data

    def send(self, data: bytes) -> int:
        """Send all of it, where a plain socket with a timeout might send a part."""
        with self._sending:
            self._sending_since = time.monotonic()
            try:
                self._sock.sendall(data)
            finally:
                self._sending_since = 0.0
        return len(data)

    def fileno(self) -> int:
        return self._sock.fileno()

    def hang_up(self) -> None:
        """End the connection for readers and writers."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def has_hung_up(self) -> bool:
        """Check whether the other side has closed the connection."""
        return has_hung_up(self._sock)

    def give_back(self) -> None:
        """Restore the connection, which was not taken over, to the server's state."""
        self._sock.settimeout(None)

    def close(self) -> None:
        self._sock.close()
