"""Refusals of the server: a code, its values and one sentence."""

from __future__ import annotations

import shlex
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from app.core.words import ERROR, fill, sentence
from engine.model.json_types import Json
from engine.model.phrases import translate

if TYPE_CHECKING:
    from engine.model.errors import InputError
    from engine.sim.run import Run

STATUS = {
    "invalid": 400,
    "forbidden": 403,
    "gone": 404,
    "not_found": 404,
    "method": 405,
    "late": 408,
    "impossible": 409,
    "stale": 409,
    "too_large": 413,
    "slow_down": 429,
    "engine": 500,
    "unwanted": 499,
    "busy": 503,
    "full": 507,
}
"""The HTTP status of each code; a code the engine adds counts as bad input (400)."""


class KeyedSentence(TypedDict):
    """A key of the catalogue with its arguments."""

    key: str
    args: Json


class RefusedJson(TypedDict):
    """RequestError: a code, what it is about, and one sentence in the visitor's language."""

    ok: Literal[False]
    code: str
    args: Json
    sentence: str


class RequestError(Exception):
    """Error raised anywhere below a request or a socket event; answered as JSON or as a page.

    ``key`` names the sentence (``app.core.words``) where a code has several; ``text`` is a ready
    sentence, for those that the engine words itself.
    """

    def __init__(self, code: str, key: str = "", text: str = "", **args: Any) -> None:
        super().__init__(code)
        self.code = code
        self.key = key or code
        self.text = text
        self.args_ = args

    @property
    def status(self) -> int:
        return STATUS.get(self.code, 400)

    def sentence(self, lang: str = "en") -> str:
        if not self.text:
            return fill(sentence(self.key, lang), self.args_)
        where = self.args_.get("where", "")
        translated = translate(self.text, lang)
        # A place is named before the sentence, unless the sentence names it itself.
        return f"{where}: {translated}" if where and not self.text.startswith(where) else translated

    def said(self) -> KeyedSentence | None:
        """Return the sentence as a key of the catalogue with its arguments; None if ready-made."""
        return None if self.text else {"key": ERROR + self.key, "args": self.args_}

    def answer(self, lang: str = "en") -> RefusedJson:
        return {
            "ok": False,
            "code": self.code,
            "args": self.args_,
            "sentence": self.sentence(lang),
        }

    def headers(self) -> list[tuple[str, str]]:
        """Return headers for programs: the seconds after which to retry."""
        wait_ms = self.args_.get("ms")
        return [("Retry-After", str(max(1, -(-wait_ms // 1000))))] if wait_ms else []

    def status_line(self) -> str:
        """Return the status as WSGI wants it: "429 Too Many Requests"."""
        return f"{self.status} {_phrase(self.status)}"

    def __str__(self) -> str:
        return self.sentence()


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:  # 499, which no client is there to read
        return "Refused"


def from_bad_input(error: InputError) -> RequestError:
    """Return a refusal for the engine's own error, with its sentence and its place in a file."""
    return RequestError(error.code, text=error.sentence, where=error.where)


def located(error: InputError) -> str:
    """Return the sentence with its place before it, unless it names the place itself."""
    if not error.where or error.sentence.startswith(error.where):
        return error.sentence
    return f"{error.where}: {error.sentence}"


def from_engine_error(run: Run | None, error: Exception) -> RequestError:
    """Return a refusal for a defect of the engine, with a command to reproduce it."""
    if run is None:
        return RequestError("engine", key="engine.unknown", error=type(error).__name__)
    return RequestError("engine", error=type(error).__name__, command=reproduce(run))


def reproduce(run: Run) -> str:
    """Return the command line that plays exactly this run, wherever its scenario came from."""
    return f"highwater run {shlex.quote(run.text())}"
