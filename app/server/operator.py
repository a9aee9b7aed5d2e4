"""Requests of the operator: a program or a browser on this machine, or one that has the token."""

from __future__ import annotations

import hmac

from flask import request

from app.server.services import services


def has_token() -> bool:
    """Check the bearer token of HIGHWATER_METRICS_TOKEN; False where none is set."""
    wanted = services().settings.metrics_token
    given = request.headers.get("Authorization", "")
    return bool(wanted) and hmac.compare_digest(given.encode(), f"Bearer {wanted}".encode())


def is_local() -> bool:
    """Check for a request from this machine, through no proxy."""
    forwarded = "X-Forwarded-For" in request.headers or "Forwarded" in request.headers
    here = request.remote_addr in ("127.0.0.1", "::1")
    return here and not forwarded and not services().settings.proxies


def is_operator() -> bool:
    return has_token() or is_local()
