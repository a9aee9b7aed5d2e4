"""The process that answers one question, within limits of its own (`app.workers`).

It reads the question (`Ask.to_line`), and any further input cancels it.  It sends its progress
twice a second; its answer as soon as it has one; and at the end the whole answer, or why there is
none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypedDict, final

from app.core.gc_settings import no_collector
from app.explore.answering import ExploreAnswer, ExploreProgress, SearchTask
from app.explore.search_request import MEMORY, Ask, read
from app.workers.worker_process import Line
from engine.model.errors import InputError

EVERY_S: Final = 0.5


class SearchRefusal(TypedDict):
    code: str
    sentence: str
    where: str


@final
class FirstMessage(TypedDict):
    """Answer without distances, sent as soon as it is known."""

    first: ExploreAnswer


@final
class AnswerMessage(TypedDict):
    answer: ExploreAnswer


@final
class RefusedMessage(TypedDict):
    refused: SearchRefusal


WorkerMessage = ExploreProgress | FirstMessage | AnswerMessage | RefusedMessage
Tell = Callable[[ExploreProgress | FirstMessage], None]


def answer(ask: Ask, tell: Tell, hung_up: Callable[[], bool]) -> ExploreAnswer:
    """Return the whole answer.

    The card is sent as soon as it is known: whatever becomes of the distances, it stays.
    """
    task = SearchTask(ask)
    sent = False
    while True:
        task.advance(EVERY_S)
        if task.over and task.answer is not None:
            return task.answer
        tell(task.progress)
        if task.answer is not None and not sent:
            sent = True
            tell({"first": task.answer})
        if hung_up():
            task.cancel()


def work(line: Line) -> None:
    """Answer the one question that comes."""
    try:
        with no_collector():
            ask = read(line.recv())
            line.send(AnswerMessage(answer=answer(ask, line.send, line.poll)))
    except InputError as error:
        _refuse(line, {"code": error.code, "sentence": error.sentence, "where": error.where})
    except MemoryError:
        _refuse(line, {"code": "too_large", "sentence": "", "where": MEMORY})


def _refuse(line: Line, why: SearchRefusal) -> None:
    line.send(RefusedMessage(refused=why))
