"""Questions about many seeds of a scenario: their rows, and what broke in them."""

from __future__ import annotations

from collections import Counter
from typing import Final, TypedDict

from app.core.request_fields import SEED_MAX, RequestFields
from app.questions import names
from app.questions.context import Context
from engine.scenarios.scenario import Scenario
from engine.study.batch import ERROR, VIOLATES, Row, run_chunk

COUNT_MOST: Final = 100
"""Seeds of one question: a cancelled batch ends within this many runs."""


class SeedCounts(TypedDict):
    """Counts of runs, and of those that broke each invariant.

    `first` maps an invariant to [seed, step]: the first seed that broke it, and the step at which
    it did.
    """

    runs: int
    violates: int
    errors: int
    broken: dict[str, int]
    first: dict[str, list[int]]


def seeds(context: Context, request: RequestFields) -> SeedCounts:
    """Play ``count`` seeds of {scenario, profile} from ``first`` on; count what broke."""
    run = names.default_run(
        context.scenario(request.text("scenario")), request.text("profile", default="")
    )
    first = request.whole("first", 0, SEED_MAX - COUNT_MOST)
    count = request.count("count", COUNT_MOST, COUNT_MOST)
    return counted(run_chunk(chunk(run.scenario, run.profile, first, count)))


def chunk(scenario: Scenario, profile: str, first: int, count: int) -> dict[str, object]:
    """Return the argument of `run_chunk`: `count` seeds from `first` on, without variations."""
    return {
        "scenario": scenario.to_dict(),
        "profile": profile,
        "cell": 0,
        "first_seed": first,
        "count": count,
    }


def counted(rows: list[Row]) -> SeedCounts:
    verdicts = Counter(row["verdict"] for row in rows)
    broken: Counter[str] = Counter()
    earliest: dict[str, list[int]] = {}
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
