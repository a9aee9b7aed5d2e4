"""Requests and live connections without a network.

What a browser and an attacker send reaches the layers of the application as from a server.
"""

from __future__ import annotations

import io
import json
import re
import socket
import uuid
from collections.abc import Callable, Iterable
from typing import Any, Final

from werkzeug.test import Client, EnvironBuilder, run_wsgi_app

from app.admission.connections import PATH
from tests.storm.process import LINE, Process
from tests.storm.world import Killed, Signal, World

ANSWER_S: Final = 40.0
DOWN: Final = 0
"""In place of a status: no server listened, or the connection broke."""


class Slow(io.RawIOBase):
    """A body that comes in pieces, and of which perhaps a part never comes."""

    def __init__(self, world: World, body: bytes, piece: int, pause_s: float) -> None:
        super().__init__()
        self._world = world
        self._body = body
        self._piece = piece
        self._pause_s = pause_s
        self._over = False
        self._news = Signal(world)

    def cut(self) -> None:
        self._over = True
        self._news.set()

    def read(self, size: int = -1) -> bytes:
        self._news.wait(self._pause_s)
        if self._over:
            return b""
        most = self._piece if size < 0 else min(size, self._piece)
        found, self._body = self._body[:most], self._body[most:]
        while not found and not self._over:  # the rest never comes
            self._news.wait(ANSWER_S)
        return found


class Pipe:
    """Stand-in for the socket of a connection.

    It has a real one, so that a hang-up is noticed as usual, and the world hears of its end.
    """

    def __init__(self, cut: Callable[[], None]) -> None:
        self.here, self.there = socket.socketpair()
        self._cut = cut

    def fileno(self) -> int:
        return self.here.fileno()

    def settimeout(self, _seconds: float | None) -> None:
        """Do nothing, as time is virtual."""

    def shutdown(self, how: int) -> None:
        self.here.shutdown(how)
        self._cut()

    def close(self) -> None:
        self.here.close()
        self.there.close()


class Answer:
    """Response to a request; `status` is DOWN where there was none."""

    def __init__(self, status: int = DOWN, text: str = "", headers: Any = None) -> None:
        self.status = status
        self.text = text
        self.headers = headers or {}

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text)
        return found


class Browser:
    """One visitor: an address, and cookies that outlive the server."""

    def __init__(self, world: World, address: str) -> None:
        self.world = world
        self.address = address
        self.token = ""
        self._jar = Client(_nobody)

    def ask(
        self,
        process: Process | None,
        method: str,
        path: str,
        body: Any = None,
        slowly: tuple[int, float] | None = None,
        length: int = 0,
    ) -> Answer:
        """Send a request and return the response.

        `slowly` sends the body in pieces with a pause (bytes, seconds); `length` is the announced
        length of the body.
        """
        if process is None or process.dead:
            return Answer()
        data = b"" if body is None else json.dumps(body).encode()
        environ = self._environ(method, path, data)
        stream: Any = environ["wsgi.input"]
        if slowly is not None:
            environ["wsgi.input"] = stream = Slow(self.world, data, *slowly)
            environ["CONTENT_LENGTH"] = str(length or len(data))
        pipe = environ["gunicorn.socket"] = Pipe(stream.cut if slowly else lambda: None)
        try:
            return self._inside(process, environ)
        finally:
            pipe.close()

    def _inside(self, process: Process, environ: dict[str, Any]) -> Answer:
        task = self.world.task
        before, task.inside = task.inside, process
        try:
            shown, status, headers = run_wsgi_app(process.app.wsgi_app, environ, buffered=True)
            text = b"".join(shown).decode("utf-8", "replace")
        except Killed:
            if self.world.ended or before is not None:
                raise
            task.killed = False
            return Answer()
        finally:
            task.inside = before
        self._jar._update_cookies_from_response(
            "localhost", environ["PATH_INFO"], headers.getlist("Set-Cookie")
        )
        return Answer(int(status.split()[0]), text, headers)

    def _environ(self, method: str, path: str, data: bytes = b"") -> dict[str, Any]:
        headers = [("X-CSRF-Token", self.token)] if self.token else []
        builder = EnvironBuilder(path=path, method=method, headers=headers)
        if data:
            builder.content_type, builder.input_stream = "application/json", io.BytesIO(data)
            builder.content_length = len(data)
        environ: dict[str, Any] = builder.get_environ()
        environ["REMOTE_ADDR"] = self.address
        self._jar._add_cookies_to_wsgi(environ)
        return environ

    def know(self, process: Process | None) -> bool:
        """Return whether this browser has its session's token; request a page until it has."""
        if not self.token:
            page = self.ask(process, "GET", "/batch")
            found = re.search(r'name="csrf" value="([^"]+)"', page.text)
            self.token = found[1] if found else ""
        return bool(self.token)

    def connect(self, process: Process | None, greet: bool = True) -> Line | None:
        """Open a live connection; None where it was refused."""
        if process is None or process.dead:
            return None
        environ = self._environ("GET", f"{PATH}?EIO=4&transport=websocket")
        environ |= {"HTTP_UPGRADE": "websocket", "flask.app": process.app}
        line = Line(self.world, process)
        line.open(environ)
        if not greet:
            return line
        line.say("40" + json.dumps({"csrf": self.token}))
        if line.hear("40") is None:
            line.close()
            return None
        return line


class Line:
    """A live connection, and the socket that Engine.IO believes to be at its other end."""

    closed = False

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process
        self._sent: list[str] = []
        self._came: list[str] = []
        self._held: list[str] | None = None
        """Answers that are ready once the processor has worked for them."""
        self._news = Signal(world)
        self._eio_sid = uuid.uuid4().hex
        self._number = 0
        self.refused = ""

    # -- the client's end ----------------------------------------------------------------------

    def open(self, environ: dict[str, Any]) -> None:
        environ[LINE] = self.serve

        def body() -> None:
            pipe = environ["werkzeug.socket"] = Pipe(self.close)
            try:
                run_wsgi_app(self._process.app.wsgi_app, environ, buffered=True)
            except ConnectionError:
                self.refused = "it was cut"
            finally:
                pipe.close()
                self.close()

        self._world.spawn("line", body, self._process)

    def say(self, text: str) -> None:
        self._sent.append(text)
        self._news.set()

    def hear(self, start: str, seconds: float = ANSWER_S) -> str | None:
        """Return the next message that begins so; None where the connection ends before."""
        until = self._world.now + seconds
        while True:
            found = next((one for one in self._came if one.startswith(start)), None)
            if found is not None:
                self._came.remove(found)
                return found
            if self.closed or self._world.now >= until:
                return None
            self._news.wait(until - self._world.now)

    def question(self, event: str, data: Any) -> dict[str, Any] | None:
        """Send a question and return the answer; None where the connection ended."""
        self._number += 1
        start = f"43{self._number}["
        self.say(f"42{self._number}" + json.dumps([event, data]))
        told = self.hear(start)
        found: list[dict[str, Any]] = json.loads(told[len(start) - 1 :]) if told else []
        return found[0] if found else None

    def close(self, wait: bool = True, abort: bool = False, reason: Any = None) -> None:
        """Close the connection; Engine.IO calls it as well."""
        self.closed = True
        self._news.set()

    # -- the server's end ----------------------------------------------------------------------

    def send(self, packet: Any) -> None:
        """Send a packet of Engine.IO."""
        (self._came if self._held is None else self._held).append(f"4{packet.data}")
        self._news.set()

    def serve(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Serve the connection behind the gateway, in place of Engine.IO's own reading."""
        engine = self._process.services.socketio.server.eio
        start_response("101 Switching Protocols", [])
        engine.sockets[self._eio_sid] = self
        engine.handlers["connect"](self._eio_sid, environ)
        try:
            while not self.closed and not self._process.dead:
                if not self._sent:
                    self._news.wait(ANSWER_S)
                    continue
                self._held = []
                engine.handlers["message"](self._eio_sid, self._sent.pop(0)[1:])
                self._world.work()
                came, self._held = self._held, None
                self._came += came
                self._news.set()
        finally:
            engine.sockets.pop(self._eio_sid, None)
            engine.handlers["disconnect"](self._eio_sid, "client disconnect")
        return []


def _nobody(_environ: dict[str, Any], _start: Any) -> Iterable[bytes]:
    raise AssertionError("only the cookies of this client are used")
