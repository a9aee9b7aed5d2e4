"""Question for a shorter run that breaks the same invariant."""

from __future__ import annotations

from typing import TypedDict

from app.core.request_fields import RequestFields
from app.questions import names
from app.questions.context import Context
from engine.study.shrink import shorten


class ShorterRun(TypedDict):
    """A shorter run; `before` and `after` count its moves, `plays` the runs that were tried."""

    digest: str
    invariant: str
    before: int
    after: int
    plays: int


def shorter(context: Context, request: RequestFields) -> ShorterRun:
    """Return the shorter run of {run, invariant}, known under its digest; it plays some hundred."""
    run = context.run = context.runs.run(names.digest_asked(request))
    invariant = request.text("invariant", most=20)
    shortened = context.compute.apart(shorten, run, invariant)
    return {
        "digest": context.runs.register(shortened.run),
        "invariant": shortened.invariant,
        "before": shortened.before,
        "after": shortened.after,
        "plays": shortened.plays,
    }
