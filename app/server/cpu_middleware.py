"""CPU accounting of requests: each is charged to its address."""

from __future__ import annotations

from typing import Final

from flask import Flask, g, request

from app.admission.cpu_quota import Tab
from app.server import visitor
from app.server.services import services

FREE: Final = ("/static/", "/health", "/metrics")


def install(app: Flask) -> None:
    """Refuse requests of overdrawn addresses, and charge all others while their work runs."""

    @app.before_request
    def admit() -> None:
        if request.path.startswith(FREE):
            return
        g.tab = Tab(services().accounts, request.remote_addr or "", visitor.cookie())

    @app.teardown_request
    def charge(_error: BaseException | None) -> None:
        tab = g.pop("tab", None)
        if tab is not None:
            tab.close()
