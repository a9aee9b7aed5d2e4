"""What an address may cost: every request is charged what it took of the processor."""

from __future__ import annotations

import time
from typing import Final

from flask import Flask, g, request

from app.context.services import services

FREE: Final = ("/static/", "/health", "/metrics")


def install(app: Flask) -> None:
    """Asks whoever has overdrawn to wait, and charges everybody else once it is done."""

    @app.before_request
    def admit() -> None:
        if request.path.startswith(FREE):
            return
        g.began = time.thread_time()
        services().accounts.require_time(request.remote_addr or "")

    @app.teardown_request
    def charge(_error: BaseException | None) -> None:
        began = g.pop("began", None)
        if began is not None:
            spent_ms = (time.thread_time() - began) * 1000
            services().accounts.charge(request.remote_addr or "", spent_ms)
