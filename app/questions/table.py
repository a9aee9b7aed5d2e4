"""Table of the questions that both the socket and a page without a server answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

from app.core.refusals import RequestError, from_bad_input, from_engine_error
from app.core.request_fields import RequestFields
from app.questions import levels, runs
from app.questions.context import Answer, Context
from engine.model.errors import InputError

log = logging.getLogger(__name__)

Question = Callable[[Context, RequestFields], Answer]

OPENS: Final[Mapping[str, Question]] = {"open": runs.open_run}
"""Name -> question that plays a run from its start."""

STEPS: Final[Mapping[str, Question]] = {
    "move": runs.move,
    "play": runs.play,
    "seek": runs.seek,
    "possible": runs.possible,
    "metrics": runs.metrics,
    "why": runs.why,
    "level": levels.attempt,
}
"""Name -> question about a step of a run that is known."""


def answered(context: Context, work: Callable[[RequestFields], Answer], data: object) -> Answer:
    """Return {"ok": True, ...}, or the error with its sentence; never raise."""
    try:
        return {"ok": True, **work(RequestFields(data))}
    except RequestError as refusal:
        return refusal.answer(context.lang)
    except InputError as error:
        return from_bad_input(error).answer(context.lang)
    except Exception as error:
        log.exception("A question failed")
        return from_engine_error(context.run, error).answer(context.lang)
