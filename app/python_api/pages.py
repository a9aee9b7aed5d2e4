"""Runs for programs in any language, as `highwater.run` gives them to Python.

They store nothing and need no token: what a foreign page could have them do, it could do by itself.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypedDict

from flask import Blueprint, Response, request

from app.core.refusals import RequestError
from app.core.request_fields import SEED_MAX, RequestFields
from app.python_api import clusters, runs, searches
from app.python_api.steps import Broken, Step
from app.questions.names import SCENARIO_BYTES
from app.reading.facts import MOST_CHARS
from app.server import api_schema
from app.server.services import apart, services
from app.web import naming
from app.web.api import body, json_answer
from engine.explore.question import LAST
from engine.model.profiles import PROFILES
from engine.scenarios import file
from engine.scenarios.scenario import Scenario

blueprint = Blueprint("programs", __name__)

STATES_USUAL: Final = 1_000


class RunAsked(NamedTuple):
    """A scenario of the library or saved, or the text of one; release, seed and moves."""

    scenario: Scenario | None
    text: str
    release: str
    seed: int
    moves: list[str] | None

    def run(self) -> runs.Run:
        """Return the run, which is played on first use.  Raises InputError."""
        found = self.scenario or file.load_text(self.text)
        return runs.run_of(found, self.release, self.seed, self.moves)


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


LOSS: Final = {"scenario": "R20", "release": "0.10.2.2"}
"""The run of the examples."""


@blueprint.post("/api/play")
@api_schema.declare(
    api_schema.Played, takes=api_schema.PlaySent, example={**LOSS, "first": 137, "count": 1}
)
def play() -> Response:
    """Play {scenario or yaml, release, seed, moves}; return its end, and steps with sentences."""
    given = body()
    first = given.whole("first", 0, SEED_MAX, default=0)
    count = given.whole("count", 0, api_schema.STEPS_MOST, default=20)
    return json_answer({"ok": True, **apart(played, _run_asked(given), first, count)})


@blueprint.post("/api/why")
@api_schema.declare(
    api_schema.WhyTold,
    takes=api_schema.WhySent,
    example={**LOSS, "step": 137, "subject": "isr 2"},
)
def why() -> Response:
    """Explain why `subject` does not happen at a step of a run: its conditions, with moves."""
    given = body()
    step = given.whole("step", 0, SEED_MAX)
    subject = given.text("subject", most=200)
    return json_answer({"ok": True, **apart(explained, _run_asked(given), step, subject)})


@blueprint.post("/api/compare")
@api_schema.declare(
    api_schema.ComparedRuns, takes=api_schema.CompareSent, example={**LOSS, "other": "4.1"}
)
def compare() -> Response:
    """Play the script of a run under another release; return both ends, and where they part."""
    given = body()
    other = given.text("other", most=40)
    return json_answer({"ok": True, **apart(compared, _run_asked(given), other)})


@blueprint.post("/api/explore")
@api_schema.declare(
    api_schema.Explored,
    takes=api_schema.ExploreSent,
    example={
        "scenario": "S20",
        "release": "0.10.2.2",
        "step": 30,
        "budgets": {"crashes": 2},
        "never": "I7",
    },
)
def explore() -> Response:
    """Search every future of a step within budgets of faults; return shortest runs that break."""
    given = body()
    question = _run_asked(given)
    step = given.whole("step", 0, SEED_MAX, default=LAST)
    never, reach = (given.text(name, "", api_schema.MOVE_CHARS) for name in ("never", "reach"))
    states = given.whole("states", 1, api_schema.STATES_MOST, default=STATES_USUAL)
    budgets = given.fields("budgets")
    named = {name: budgets.whole(name, 0, api_schema.BUDGET_MOST) for name in budgets}
    return json_answer({"ok": True, **apart(explored, question, step, never, reach, states, named)})


@blueprint.post("/api/incident")
@api_schema.declare(
    api_schema.IncidentTold,
    takes=api_schema.IncidentSent,
    example={
        "text": "[2026-01-05 10:00:00,000] INFO [Partition orders-0 broker=1] Shrinking ISR "
        "from 1,2,3 to 1. Leader: (highWatermark: 5, endOffset: 9)."
    },
)
def incident() -> Response:
    """Tell what happened to a partition, from pasted lines of its brokers' logs or dumps."""
    given = body()
    services().accounts.take(request.remote_addr or "", "tries")
    text = given.text("text", most=2 * MOST_CHARS)
    partition = given.text("partition", "", api_schema.PARTITION_CHARS)
    return json_answer({"ok": True, **apart(told_incident, text, partition)})


def _run_asked(given: RequestFields) -> RunAsked:
    """Return the run that is asked for, and charge the address for playing it."""
    services().accounts.take(request.remote_addr or "", "tries")
    text = given.text("yaml", most=SCENARIO_BYTES) if given.has("yaml") else ""
    named = "" if text else given.text("scenario", most=200)
    scenario = naming.scenario_named(named) if named else None
    release = given.text("release", most=40) if given.has("release") else ""
    seed = given.whole("seed", 0, SEED_MAX, default=0)
    moves = _moves(given.raw("moves") if given.has("moves") else None)
    return RunAsked(scenario, text, release, seed, moves)


def _moves(given: object) -> list[str] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) > api_schema.MOVES_MOST:
        raise RequestError("invalid", what="moves")
    if not all(isinstance(move, str) and len(move) <= api_schema.MOVE_CHARS for move in given):
        raise RequestError("invalid", what="moves")
    return list(given)


def played(question: RunAsked, first: int, count: int) -> PlayedRun:
    """Return the run of a scenario, or of the text of one.  Raises InputError."""
    run = question.run()
    steps = run[first : first + count]
    return {
        "run": run.digest,
        "title": run.title,
        "release": PROFILES[run.kafka].stands_for if run.kafka in PROFILES else run.kafka,
        "verdict": run.verdict,
        "holds": run.holds,
        "lost": run.lost,
        "broken": [_broken(breach) for breach in run.broken],
        "last": len(run) - 1,
        "first": first,
        "steps": [_step(step) for step in steps],
        "url": run.link("", run.lost_at),
    }


def explained(asked: RunAsked, step: int, subject: str) -> dict[str, object]:
    """Return why something does not happen, as `api_schema.WhyTold`.  Raises InputError."""
    told = asked.run().why(step, subject)
    guards = [{"holds": holds, "said": said, "move": move} for holds, said, move in told.guards]
    return {"about": told.about, "happens": told.happens, "guards": guards}


def compared(question: RunAsked, other: str) -> dict[str, object]:
    """Return both ends and where they part, as `api_schema.ComparedRuns`.  Raises InputError."""
    comparison = question.run().compare(other)
    return {
        "said": str(comparison).splitlines(),
        "lost": comparison.one.lost,
        "other_lost": comparison.other.lost,
        "at": list(comparison.parts[0][:2]) if comparison.parts else [],
    }


def explored(
    question: RunAsked, step: int, never: str, reach: str, states: int, budgets: dict[str, int]
) -> dict[str, object]:
    """Return what can follow a step, as `api_schema.Explored`.  Raises InputError."""
    futures = searches.explore(question.run(), step, never, reach, states, **budgets)
    return {
        "complete": futures.complete,
        "states": futures.states,
        "said": list(futures.lines),
        "found": {
            name: {"moves": run.moves, "url": run.link("", run.lost_at)}
            for name, run in futures.found.items()
        },
    }


def told_incident(text: str, partition: str) -> dict[str, object]:
    """Return the events of a partition, as `api_schema.IncidentTold`.  Raises InputError."""
    outage = clusters.incident(text, partition)
    return {
        "partition": outage.partition,
        "kafka": outage.kafka,
        "verdict": list(outage.verdict),
        "events": [{"ms": ms, "node": node, "said": said} for ms, node, said in outage.events],
        "finding": outage.finding,
        "notes": list(outage.notes),
        "url": None if outage.run is None else outage.run.link(""),
    }


def _broken(one: Broken) -> dict[str, object]:
    return {"invariant": one.invariant, "step": one.step, "why": one.why}


def _step(step: Step) -> dict[str, object]:
    return {
        "number": step.number,
        "time_ms": step.time_ms,
        "move": step.move,
        "said": list(step.said),
        "why": list(step.why),
        "broken": list(step.broken),
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
