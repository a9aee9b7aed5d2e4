"""CPU accounting of requests: each is charged to its address."""

from __future__ import annotations

from typing import Final

from flask import Flask, g, request

from app.admission.cpu_quota import Charge
from app.server import visitor
from app.server.services import services

FREE: Final = ("/static/", "/health", "/metrics")


def install(app: Flask) -> None:
    """Refuse requests of overdrawn addresses, and charge all others while their work runs."""

    @app.before_request
    def admit() -> None:
        if request.path.startswith(FREE):
            return
        g.charge = Charge(services().accounts, request.remote_addr or "", visitor.cookie())

    @app.teardown_request
    def close(_error: BaseException | None) -> None:
        charge = g.pop("charge", None)
        if charge is not None:
            charge.close()
