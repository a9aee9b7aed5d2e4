"""Highwater's server: pages, sockets, storage and the command line around the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core import compiled_engine

if TYPE_CHECKING:
    from flask import Flask

    from app.core.config import Settings

__all__ = ["create_app"]

compiled_engine.use()


def create_app(settings: Settings | None = None) -> Flask:
    """Return the WSGI application; without settings they are read from ``HIGHWATER_*``.

    Everything is imported here and not above: ``app.bootstrap`` has to be importable on a
    machine that has nothing but Python.
    """
    from app.server.factory import build

    return build(settings)
