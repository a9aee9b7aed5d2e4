"""Alias of decoded JSON objects."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
"""A JSON object whose shape is not declared; `engine.view.wire` declares those of the browser."""
