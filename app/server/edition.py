"""Edition of the program, by which browsers cache what depends on nothing else."""

from __future__ import annotations

import hashlib
from typing import Final

from flask import Response, current_app, request

from app.core.config import ROOT
from app.core.memoize import once
from app.core.tree_digest import contents

FOR_EVER: Final = "public, max-age=31536000, immutable"
ENDINGS: Final = (".json", ".md", ".py", ".txt", ".yaml")


@once
def _digest() -> str:
    """Return the digest of everything that answers are made of: code, library, cards, words."""
    digest = hashlib.sha256()
    for folder in (ROOT / "engine", ROOT / "app", ROOT / "static" / "i18n"):
        for part in contents(folder, ENDINGS):
            digest.update(part)
    return digest.hexdigest()[:12]


def edition() -> str:
    """Return twelve digits, or none while the program is being edited (``serve --debug``)."""
    return "" if current_app.debug else _digest()


def lasting(response: Response) -> Response:
    """Let browsers cache an answer that depends on its address and the program alone.

    It is kept for ever where the address names this very edition (``?v=``), and revalidated
    everywhere else.
    """
    version = request.args.get("v")
    if version and version == edition():
        response.headers["Cache-Control"] = FOR_EVER
    else:
        response.cache_control.no_cache = True
    return response
