"""``highwater serve``: gunicorn for production, the development server for developers."""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import sys
import time
from types import FrameType
from typing import Any

from app.compiled import background
from app.core import installing
from app.core.config import SettingError, Settings
from app.core.gc_settings import no_collector

BACKLOG = 1_024
FREED_WITHIN_S = 4.0


def serve_here(settings: Settings, debug: bool = False) -> None:
    """Listen until interrupted.

    Raises `SettingError` for an address that cannot be used, or a database.
    """
    listener = _listen(settings.host, settings.port)
    ready = f"Highwater is at {_address(settings.host, listener)} (Ctrl+C stops it)"
    ready += f"\nWhat is saved lies in {settings.instance.resolve()}"
    if message := installing.begin():
        ready += f"\n{message}"
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if debug or os.name == "nt":  # where there is no gunicorn
        _develop(settings, listener, ready)
    else:
        if message := background.begin():
            ready += f"\n{message}"
        _serve(settings, listener, ready)


def _serve(settings: Settings, listener: socket.socket, ready: str) -> None:
    with no_collector():  # modules, templates and the library become no garbage
        from app.server.production import Production
        from app.server.warm import warm
        from app.storage.database import Database

        # Whatever is wrong is said here in one sentence, and what is made here the worker has.
        database = Database(settings.database_url)
        database.migrate()
        database.close()
        warm()
    Production(settings, listener, ready).run()


def _develop(settings: Settings, listener: socket.socket, ready: str) -> None:
    """Run Werkzeug's server, which names every request and has no limits."""
    from werkzeug.serving import make_server

    from app.server.factory import build
    from app.server.services import KEY, Services

    signal.signal(signal.SIGTERM, _stop)
    app = build(settings)
    services: Services = app.extensions[KEY]
    port = listener.getsockname()[1]
    server = make_server(settings.host, port, app, threaded=True, fd=listener.fileno())
    print(f"{ready}\n", end="", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        services.close()


def _address(host: str, listener: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    if host in ("127.0.0.1", "::1", "0.0.0.0", "::"):
        shown = "localhost"
    return f"http://{shown}:{listener.getsockname()[1]}/"


def _listen(host: str, port: int) -> socket.socket:
    """Listen before anything slow happens.

    A second server fails at once, and early clients wait in the backlog.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _bind(listener, address)
        listener.listen(BACKLOG)
        return listener
    except OSError as error:
        raise SettingError(
            f"Cannot listen on {host} port {port} ({error.strerror}): try another with --port."
        ) from None


def _bind(listener: socket.socket, address: Any) -> None:
    """Bind, retrying: a worker of a killed server holds the port until it notices."""
    until = time.monotonic() + FREED_WITHIN_S
    while True:
        try:
            return listener.bind(address)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > until:
                raise
            time.sleep(0.1)


def _stop(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)
