"""Gunicorn inside ``highwater serve``: one worker, since live runs are kept in its memory."""

from __future__ import annotations

import os
import socket
import threading
import time
from typing import Any, Final

from gunicorn.app.base import BaseApplication

from app.core import gc_settings
from app.core.config import Settings
from app.core.parent_death import ends_with_parent
from app.server.worker import Worker

BACKLOG: Final = 1_024
CONNECTIONS_MOST: Final = 4_096
"""Open at a time, asking or not; one that does not ask is closed after `KEEP_S`."""
REST_S: Final = 1
"""Seconds of a new worker that are left to the first page."""
KEEP_S: Final = 5
STOP_S: Final = 15
"""For batches to store how far they are, and for requests that are being answered."""
SILENT_S: Final = 120
"""A worker that does not come round in so long hangs, and is replaced."""


class Production(BaseApplication):  # type: ignore[misc]
    """The application as gunicorn runs it, on a socket that listens already."""

    def __init__(self, settings: Settings, listener: socket.socket, ready: str) -> None:
        self.settings = settings
        self._listener = listener
        self._ready = ready
        super().__init__()

    def load_config(self) -> None:
        settings: dict[str, object] = {
            "bind": f"fd://{self._listener.fileno()}",
            "backlog": BACKLOG,
            "workers": 1,
            "worker_class": Worker,
            "threads": self.settings.threads,
            "worker_connections": CONNECTIONS_MOST,
            "timeout": SILENT_S,
            "graceful_timeout": STOP_S,
            "keepalive": KEEP_S,
            "limit_request_fields": 60,
            "limit_request_line": 4_094,
            "limit_request_field_size": 8_190,
            # The application trusts a proxy's headers, and only where there is a proxy.
            "forwarded_allow_ips": "",
            "control_socket_disable": True,
            "loglevel": "warning",
            "proc_name": "highwater",
            "pre_request": lambda worker, request: worker.has_head(request),
            "post_fork": _ends_with_master,
            "post_worker_init": self._tell,
            "worker_exit": _close,
        }
        for name, value in settings.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        with gc_settings.no_collector():
            from app.server.factory import build

            app = build(self.settings)
        gc_settings.settle()
        return app

    def _tell(self, worker: Worker) -> None:
        if worker.age == 1:  # not of one that takes another's place
            # In one write: a client that reads its first line can lose the rest.
            print(f"{self._ready}\n", end="", flush=True)
        threading.Thread(target=_warm_rest, args=(worker,), name="warm", daemon=True).start()


def _warm_rest(worker: Worker) -> None:
    """Fill the caches that a first page can do without, after a moment for its answer."""
    time.sleep(REST_S)
    from app.server import warm

    services = worker.services()
    if services is not None:
        services.workers.warm()
        warm.warm_rest()
        gc_settings.settle()


def _ends_with_master(_server: object, _worker: Worker) -> None:
    """Let the worker end with a master that was killed.

    Otherwise no new server could start until the worker has noticed.  What was saved is on disk;
    chunks of batches are done or not.
    """
    ends_with_parent()


def _close(_server: object, worker: Worker) -> None:
    services = worker.services() if worker.pid == os.getpid() else None
    if services is not None:
        services.close()
