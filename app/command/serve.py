"""Serving in this process: for one person's machine, and for the browser tests."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from types import FrameType

from app.common.config import BadSetting, Settings

BACKLOG = 128


def serve_here(settings: Settings) -> None:
    """Listens until interrupted.  Raises `BadSetting` for an address that cannot be used."""
    listener = _listen(settings.host, settings.port)

    from werkzeug.serving import make_server

    from app.context.services import KEY, Services
    from app.web.factory import build
    from app.web.keep_alive import Lasting

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # One line a request says nothing to whoever plays.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    signal.signal(signal.SIGTERM, _stop)
    app = build(settings)
    found: Services = app.extensions[KEY]
    port = listener.getsockname()[1]
    server = make_server(
        settings.host,
        port,
        app,
        threaded=True,
        fd=listener.fileno(),
        request_handler=Lasting,
    )
    print(f"Highwater is at {_address(settings.host, port)} (Ctrl+C stops it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        found.close()


def _address(host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    if host in ("127.0.0.1", "::1", "0.0.0.0", "::"):
        shown = "localhost"
    return f"http://{shown}:{port}/"


def _listen(host: str, port: int) -> socket.socket:
    """Listens before anything slow happens: who starts twice is told at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
        return listener
    except OSError as error:
        raise BadSetting(
            f"Cannot listen on {host} port {port} ({error.strerror}): try another with --port."
        ) from None


def _stop(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)
