"""Question of a batch in the tab: some seeds of a scenario, counted."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from app.core.request_fields import SEED_MAX, RequestFields
from app.questions import names
from app.questions.context import Answer, Context
from engine.study.batch import ERROR, VIOLATES, run_chunk

COUNT_MOST: Final = 100
"""Seeds of one question: a cancelled batch ends within this many runs."""


def seeds(context: Context, request: RequestFields) -> Answer:
    """Play ``count`` seeds of {scenario, profile} from ``first`` on; return what happened in them.

    {"runs", "violates", "errors", "broken": {invariant: runs}, "first": {invariant: [seed, step]}},
    where "first" is the first seed that broke the invariant, and the step at which it did.
    """
    run = names.default_run(
        context.scenario(request.text("scenario")), request.text("profile", default="")
    )
    first = request.whole("first", 0, SEED_MAX - COUNT_MOST)
    chunk = {
        "scenario": run.scenario.to_dict(),
        "profile": run.profile,
        "cell": 0,
        "first_seed": first,
        "count": request.count("count", COUNT_MOST, COUNT_MOST),
    }
    rows = run_chunk(chunk)
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
