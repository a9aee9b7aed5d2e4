"""Question of a level: the verdict on its moves, or on the claim that it cannot be solved."""

from __future__ import annotations

from typing import Final, TypedDict

from app.core.refusals import RequestError
from app.core.request_fields import RequestFields
from app.questions import names
from app.questions.context import Context
from engine.learn.levels import Attempt, Level, levels

NAME_CHARS: Final = 40


class OfferedMove(TypedDict):
    """A move that can be made now: its text, what it acts on, and what a button says."""

    text: str
    about: list[str]
    say: str


class LevelVerdict(TypedDict):
    """Verdict on an attempt, and the moves that are left; `wait` is the text that passes time."""

    run: str
    done: bool
    used: int
    say: str
    moves: list[OfferedMove]
    wait: str


def level_named(slug: str) -> Level:
    """Return a level.  Raises `RequestError` "not_found"."""
    level = levels().get(slug)
    if level is None:
        raise RequestError("not_found")
    return level


def attempt(context: Context, request: RequestFields) -> LevelVerdict:
    """Judge the moves of {run} in ``level``; with ``claim`` the claim that it cannot be solved."""
    level = level_named(request.text("level", most=NAME_CHARS))
    digest = names.digest_asked(request)
    context.run = context.runs.run(digest)
    with context.compute.turn():
        outcome = level.attempt(context.run)
    claimed = request.has("claim") and not outcome.lost
    return {
        "run": digest,
        "done": outcome.lost or (claimed and not level.solution),
        "used": outcome.used,
        "say": _claim_text(context, level) if claimed else _text(context, level, outcome),
        "moves": [
            {
                "text": move.text,
                "about": [*move.about],
                "say": context.text(f"level.move.{move.kind}", {"b": move.broker}),
            }
            for move in outcome.moves
        ],
        "wait": outcome.wait,
    }


def _text(context: Context, level: Level, outcome: Attempt) -> str:
    args = {"b": outcome.leader, "m": ", ".join(outcome.records)}
    if not outcome.used:
        return context.text("level.begin")
    said = context.text(f"level.{outcome.verdict}", args)
    if outcome.lost:
        par = "par" if outcome.used <= level.par else "over"
        return said + context.text(f"level.{par}", {"n": outcome.used, "par": level.par})
    return said if outcome.moves else said + context.text("level.spent")


def _claim_text(context: Context, level: Level) -> str:
    key = "level.possible" if level.solution else "level.proved"
    return context.text(key, {"n": level.par, "states": f"{level.states:,}"})
