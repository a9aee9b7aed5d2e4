"""Context of a question that the server answers: its runs, its processes, its saved scenarios."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from app.questions.context import Context
from app.server import visitor
from app.server.services import apart, services

T = TypeVar("T")


class ServerCompute:
    """Other processes where one is free, else a turn here."""

    def apart(self, work: Callable[..., T], *args: object) -> T:
        return apart(work, *args)

    def turn(self) -> AbstractContextManager[object]:
        """Wait for a turn to compute here."""
        return services().plays.turn()


def question_context(lang: str = "") -> Context:
    """Return the context of a question in a language, else in that of the visitor."""
    here = services()
    return Context(
        runs=here.replays,
        compute=ServerCompute(),
        words=here.words,
        lang=lang or visitor.lang(),
        saved_scenario=here.store.scenario,
    )
