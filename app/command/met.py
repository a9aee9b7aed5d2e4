"""``highwater explore SCENARIO --runs N``: the share of possible behaviour that runs meet."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from app.command.playing import command_of
from app.command.watching import BOUND_MET, watching
from app.core.gc_settings import no_collector
from engine.explore import met
from engine.explore.budgets import NAMES, Budgets
from engine.explore.card import given_of
from engine.explore.searching import Bounds
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

MOST_STATES: Final = 100_000
FOREIGN: Final = ("moves", "at", "never", "reach", "spark", "master")
"""Options of a search from a step, which has no say here: this one begins at the beginning."""


def explore_met(asked: Mapping[str, Any], as_json: bool) -> int:
    """Print the answer; return the exit code.  Raises InputError for what cannot be asked."""
    scenario, profile, budgets = _question(asked)
    states = asked["max_states"] or MOST_STATES
    with watching(asked["max_seconds"]) as watch, no_collector():
        if not as_json:
            print(_cost(budgets, states, asked), file=sys.stderr)
        reached = met.reach(scenario, profile, budgets, Bounds(states, watch))
        searched = round(watch.cpu_s, 1)
        watch.again()
        seeds = range(asked["seed"], asked["seed"] + asked["runs"])
        progress = reached.outcome.progress
        found = met.meet(reached, scenario, profile, seeds, lambda _: watch(progress))
        card = met.card(found, asked["runs"])
        cpu_s = {"search": searched, "runs": round(watch.cpu_s, 1)}
    beyond = met.not_searched(scenario)
    if as_json:
        told = {"scenario": scenario.code or scenario.title, "profile": profile, "cpu_s": cpu_s}
        print(json.dumps({**told, "not_searched": list(beyond), **card}, ensure_ascii=False))
    else:
        print("\n".join(lines(card, beyond)))
        print(f"{cpu_s['search']:,.1f} CPU-s of search, {cpu_s['runs']:,.1f} of runs")
    return 0 if card["complete"] and card["runs"] == asked["runs"] else BOUND_MET


def _question(asked: Mapping[str, Any]) -> tuple[Scenario, str, Budgets]:
    if asked["scenario"] is None:
        raise InputError("invalid", "--runs needs a SCENARIO.")
    for name in FOREIGN:
        if asked[name]:
            raise InputError("invalid", f"--{name} and --runs do not go together.")
    scenario = find(asked["scenario"])
    profile = get_profile(asked["profile"] or scenario.profiles[0]).name
    budgets = Budgets(**{name: asked[name] for name in NAMES})
    return scenario, profile, budgets if any(budgets) else met.usual(scenario)


def _cost(budgets: Budgets, states: int, asked: Mapping[str, Any]) -> str:
    seconds = asked["max_seconds"]
    each = f" and {seconds:,.0f} CPU-s each" if seconds is not None else ""
    return (
        f"At most {_spent(budgets._asdict())}: a search of at most {states:,} states, then "
        f"{asked['runs']:,} runs{each}; Ctrl+C ends it with what it has."
    )


def _spent(budgets: Mapping[str, int]) -> str:
    return given_of(budgets) or "no failure"


def lines(card: Mapping[str, Any], beyond: tuple[str, ...]) -> Iterator[str]:
    """Yield the card as text: a share only where everything was reached."""
    if card["complete"]:
        yield (
            f"{card['runs']:,} runs met {card['met']:,} of {card['situations']:,} situations that "
            f"can be reached within {_spent(card['budgets'])}: {card['share']:.1%}"
        )
    else:
        yield (
            f"Not exhausted: at least {card['situations']:,} situations can be reached within "
            f"{_spent(card['budgets'])}; {card['runs']:,} runs met {card['met']:,} of those."
        )
    yield f"{card['states']:,} states of the search; beside them runs met {card['beyond']:,} more."
    if card["runs"] < card["asked_runs"]:
        yield f"Only the first {card['runs']:,} of {card['asked_runs']:,} runs were played."
    if card["failed"]:
        yield f"{card['failed']:,} runs could not be played."
    yield "moves away, situations, met: " + "; ".join(
        f"{moves} {all:,} {found:,}" for moves, all, found in card["depths"]
    )
    yield "runs, met: " + "; ".join(f"{runs:,} {found:,}" for runs, found in card["curve"])
    for one in card["broken"]:
        yield (
            f"{one['invariant']} can break in {len(one['moves'])} moves, and {one['runs']:,} runs "
            f"broke it while they were watched: {command_of(Run.from_text(one['run']))}"
        )
    for one in card["unmet"]:
        yield f"met by none: {'; '.join(one['moves']) or 'the beginning'}"
    if beyond:
        yield f"No search plays what this plan does beside: {', '.join(beyond)}."
    yield (
        "A run is watched until more records were sent than the search writes, and where nothing "
        "is under way between brokers and controller."
    )
