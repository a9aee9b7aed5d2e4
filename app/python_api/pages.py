"""`/api/play`: a run for programs in any language, as `highwater.run` gives it to Python.

It stores nothing and needs no token: what a foreign page could have it do, it could do by itself.
"""

from __future__ import annotations

from typing import Final, TypedDict

from flask import Blueprint, Response, request

from app.core.refusals import RequestError
from app.core.request_fields import SEED_MAX
from app.python_api import runs
from app.python_api.steps import Broken, Step
from app.questions.names import SCENARIO_BYTES
from app.server import api_schema
from app.server.services import apart, services
from app.web import naming
from app.web.api import body, json_answer
from engine.model.profiles import PROFILES
from engine.scenarios import file
from engine.scenarios.scenario import Scenario

blueprint = Blueprint("programs", __name__)

STEPS_MOST: Final = 200
"""Steps of one answer."""
MOVES_MOST: Final = 200
MOVE_CHARS: Final = 2_000


class PlayedRun(TypedDict):
    """A run to its end, and its steps from `first` on, as `api_schema.Played` describes it."""

    run: str
    title: str
    release: str
    verdict: str
    holds: bool
    lost: list[str]
    broken: list[dict[str, object]]
    last: int
    first: int
    steps: list[dict[str, object]]
    url: str


@blueprint.post("/api/play")
@api_schema.declare(api_schema.Played, takes=api_schema.PlaySent)
def play() -> Response:
    """Play {scenario or yaml, release, seed, moves}; return its end, and steps with sentences."""
    services().accounts.take(request.remote_addr or "", "tries")
    given = body()
    text = given.text("yaml", most=SCENARIO_BYTES) if given.has("yaml") else ""
    named = "" if text else given.text("scenario", most=200)
    scenario = naming.scenario_named(named) if named else None
    release = given.text("release", most=40) if given.has("release") else ""
    seed = given.whole("seed", 0, SEED_MAX, default=0)
    first = given.whole("first", 0, SEED_MAX, default=0)
    count = given.whole("count", 0, STEPS_MOST, default=20)
    moves = _moves(given.raw("moves") if given.has("moves") else None)
    found = apart(played, scenario, text, release, seed, moves, first, count)
    return json_answer({"ok": True, **found})


def _moves(given: object) -> list[str] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) > MOVES_MOST:
        raise RequestError("invalid", what="moves")
    if not all(isinstance(move, str) and len(move) <= MOVE_CHARS for move in given):
        raise RequestError("invalid", what="moves")
    return list(given)


def played(
    scenario: Scenario | None,
    text: str,
    release: str,
    seed: int,
    moves: list[str] | None,
    first: int,
    count: int,
) -> PlayedRun:
    """Return the run of a scenario, or of the text of one.  Raises InputError."""
    found = runs.run_of(scenario or file.load_text(text), release, seed, moves)
    steps = found[first : first + count]
    return {
        "run": found.digest,
        "title": found.title,
        "release": PROFILES[found.kafka].stands_for if found.kafka in PROFILES else found.kafka,
        "verdict": found.verdict,
        "holds": found.holds,
        "lost": found.lost,
        "broken": [_broken(one) for one in found.broken],
        "last": len(found) - 1,
        "first": first,
        "steps": [_step(one) for one in steps],
        "url": found.link("", found.lost_at),
    }


def _broken(one: Broken) -> dict[str, object]:
    return {"invariant": one.invariant, "step": one.step, "why": one.why}


def _step(one: Step) -> dict[str, object]:
    return {
        "number": one.number,
        "time_ms": one.time_ms,
        "move": one.move,
        "said": list(one.said),
        "why": list(one.why),
        "broken": list(one.broken),
    }


@blueprint.get("/api/play")
@api_schema.declare(api_schema.Playable)
def playable() -> Response:
    """Return what can be played: scenarios, releases, and the grammar of moves."""
    return json_answer(
        {
            "ok": True,
            "scenarios": runs.scenarios(),
            "releases": runs.versions(),
            "moves": runs.moves(),
        }
    )
