"""Questions about many seeds of a scenario: their rows, and what broke in them."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from app.core.request_fields import SEED_MAX, RequestFields
from app.questions import names
from app.questions.context import Answer, Context
from engine.scenarios.scenario import Scenario
from engine.study.batch import ERROR, VIOLATES, Row, run_chunk

COUNT_MOST: Final = 100
"""Seeds of one question: a cancelled batch ends within this many runs."""


def seeds(context: Context, request: RequestFields) -> Answer:
    """Play ``count`` seeds of {scenario, profile} from ``first`` on; return what happened in them.

    See `counted`.
    """
    run = names.default_run(
        context.scenario(request.text("scenario")), request.text("profile", default="")
    )
    first = request.whole("first", 0, SEED_MAX - COUNT_MOST)
    count = request.count("count", COUNT_MOST, COUNT_MOST)
    return counted(run_chunk(chunk(run.scenario, run.profile, first, count)))


def chunk(scenario: Scenario, profile: str, first: int, count: int) -> dict[str, Any]:
    """Return the argument of `run_chunk`: `count` seeds from `first` on, without variations."""
    return {
        "scenario": scenario.to_dict(),
        "profile": profile,
        "cell": 0,
        "first_seed": first,
        "count": count,
    }


def counted(rows: list[Row]) -> Answer:
    """Return {"runs", "violates", "errors", "broken": {invariant: runs}, "first": ...} of rows.

    "first" is {invariant: [seed, step]}: the first seed that broke it, and the step at which it
    did.
    """
    verdicts = Counter(row["verdict"] for row in rows)
    broken: Counter[str] = Counter()
    earliest: dict[str, Any] = {}
    for row in rows:
        for invariant, step, _why in row["broken"]:
            broken[invariant] += 1
            earliest.setdefault(invariant, [row["seed"], step])
    return {
        "runs": len(rows),
        "violates": verdicts[VIOLATES],
        "errors": verdicts[ERROR],
        "broken": dict(broken),
        "first": earliest,
    }
