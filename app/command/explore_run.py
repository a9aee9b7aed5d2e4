"""``highwater explore SCENARIO``: the search from a step of a run, in a terminal."""

from __future__ import annotations

import json
from typing import Final

from app.command.playing import command_of, run_of
from app.command.search_options import SearchOptions
from app.command.watching import BOUND_MET, watching
from app.core import config
from app.core.gc_settings import no_collector
from engine.explore import card, goals
from engine.explore.question import LAST, SearchQuestion, cut_at
from engine.explore.searching import Bounds, SearchOutcome, search
from engine.model.errors import InputError

MOST_STATES: Final = 100_000
"""States of a search without a limit of its own: a few minutes, some GB.  On Spark as well: with
more machines, set a higher limit."""


def explore_run(scenario: str, options: SearchOptions, as_json: bool) -> int:
    """Print the answer; return the exit code.  Raises InputError for what cannot be asked."""
    with watching(options.max_seconds) as watch, no_collector():
        run = run_of(scenario, options.profile, options.seed, options.moves)
        question = SearchQuestion(
            cut_at(run, _step(options.at)),
            options.budgets,
            goals.invariants(options.never or ""),
            options.reach or "",
        )
        bounds = Bounds(options.max_states or MOST_STATES, watch)
        outcome = (
            _on_spark(question, bounds, options.master)
            if options.spark
            else search(question, bounds)
        )
        cpu_s = round(watch.cpu_s, 3)
    if as_json:
        print(json.dumps({**card.card(outcome), "cpu_s": cpu_s}, ensure_ascii=False))
    else:
        print("\n".join(card.lines(outcome)))
        for name, finding in outcome.found.items():
            print(f"{name}: {command_of(finding.run)}")
        print(f"digest {card.card(outcome)['digest']}, {cpu_s:,.1f} CPU-s")
    return 0 if outcome.complete or outcome.ended else BOUND_MET


def _on_spark(question: SearchQuestion, bounds: Bounds, master: str | None) -> SearchOutcome:
    """Run the same search on Spark.  Raises InputError where Spark cannot."""
    from app.batch.runners.spark import SparkRunner
    from app.batch.runners.tables import SparkError

    runner = SparkRunner(master or config.read().spark_master)
    try:
        return runner.search(question, bounds)
    except SparkError as trouble:
        raise InputError("impossible", str(trouble)) from trouble
    finally:
        runner.close()


def _step(at: str | None) -> int:
    if at is None or at == "last":
        return LAST
    if not at.isdecimal() or len(at) > 9:
        raise InputError("invalid", f"--at is the number of a step, or last, not {at[:40]!r}.")
    return int(at)
