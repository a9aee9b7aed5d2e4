"""JSON responses, over HTTP and over the live channel alike."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from app.core.refusals import RequestError

try:
    import orjson
except ModuleNotFoundError:  # in a browser
    orjson = None  # type: ignore[assignment]

log = logging.getLogger(__name__)


def to_json(data: Any) -> bytes:
    """Serialize to JSON with numbers as keys allowed; log and describe what is not JSON.

    An answer is written after its handler has returned: raising here would close the connection of
    a client that did nothing wrong.
    """
    if orjson is None:
        return plain_json(data)
    return orjson.dumps(data, _as_text, orjson.OPT_NON_STR_KEYS)


def plain_json(data: Any) -> bytes:
    """Return the same bytes by the standard library, for Python without native modules."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=_as_text)
    return text.encode()


def from_json(data: bytes | str) -> Any:
    """Parse JSON.  Raises ValueError for anything else, NaN included."""
    return orjson.loads(data) if orjson is not None else json.loads(data, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


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
