"""What an address may cost: every request is charged what it took of the processor."""

from __future__ import annotations

from typing import Final

from flask import Flask, g, request

from app.common import clock
from app.context import visitor
from app.context.services import services

FREE: Final = ("/static/", "/health", "/metrics")


def install(app: Flask) -> None:
    """Asks whoever has overdrawn to wait, and charges everybody else once it is done."""

    @app.before_request
    def admit() -> None:
        if request.path.startswith(FREE):
            return
        g.began = clock.processor()
        services().accounts.require_time(request.remote_addr or "", visitor.cookie())

    @app.teardown_request
    def charge(_error: BaseException | None) -> None:
        began = g.pop("began", None)
        if began is not None:
            spent_ms = (clock.processor() - began) * 1000
            services().accounts.charge(request.remote_addr or "", spent_ms, visitor.cookie())
