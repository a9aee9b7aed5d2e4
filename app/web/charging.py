"""What an address may cost: every request is charged what it took of the processor."""

from __future__ import annotations

import time
from typing import Final

from flask import Flask, g, request

from app.common.refusals import Refusal
from app.context.services import services

FREE: Final = ("/static/", "/health")


def install(app: Flask) -> None:
    """Asks whoever has overdrawn to wait, and charges everybody else once it is done."""

    @app.before_request
    def admit() -> None:
        if request.path.startswith(FREE):
            return
        g.began = time.thread_time()
        wait_ms = services().cpu.wait_ms(request.remote_addr or "")
        if wait_ms:
            raise Refusal("slow_down", "slow_down.cpu", ms=wait_ms)

    @app.teardown_request
    def charge(_error: BaseException | None) -> None:
        began = g.pop("began", None)
        if began is not None:
            spent_ms = (time.thread_time() - began) * 1000
            services().cpu.charge(request.remote_addr or "", spent_ms)
