"""JSON responses, over HTTP and over the live channel alike."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import orjson

from app.core.refusals import RequestError

log = logging.getLogger(__name__)


def to_json(data: Any) -> bytes:
    """Serialize to JSON with numbers as keys allowed; log and describe what is not JSON.

    An answer is written after its handler has returned: raising here would close the connection of
    a client who did nothing wrong.
    """
    return orjson.dumps(data, _as_text, orjson.OPT_NON_STR_KEYS)


def _as_text(value: Any) -> str:
    log.error("An answer held a %s, which is no JSON: %.200r", type(value).__name__, value)
    return str(value)


def refused(refusal: RequestError, start_response: Callable[..., Any]) -> list[bytes]:
    """Return a refusal from below the application, which knows no language, as JSON."""
    body = to_json(refusal.answer())
    headers = [
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Content-Security-Policy", "default-src 'none'"),
        ("X-Content-Type-Options", "nosniff"),
        *refusal.headers(),
    ]
    start_response(refusal.status_line(), headers)
    return [body]
