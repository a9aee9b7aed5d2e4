"""The answer of a search as data and as sentences: never "fine" without how far it looked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from engine.checks.catalogue import INVARIANTS, VIOLABLE
from engine.explore.broker_key import DIGEST_BYTES
from engine.explore.budgets import NAMES, Budgets, known
from engine.explore.searching import REACHED, SearchFinding, SearchOutcome

SCHEMA: Final = 1
VERBS: Final = {
    "crashes": ("kill", "bounce"),
    "power": ("power",),
    "controller": ("kill",),
    "losses": ("drop",),
    "cuts": ("cut",),
    "pauses": ("pause",),
    "timers": ("tick", "checkpoint", "flush", "timeout"),
    "members": ("die", "leave", "timeout"),
    "commits": ("commit",),
    "store": ("store",),
    "writes": ("produce",),
    "waits": ("advance",),
    "elections": ("elect",),
    "disks": ("wipe",),
}
"""Verbs that each budget pays for."""
WITH: Final = {
    "crashes": ("crash", "crashes"),
    "power": ("power failure", "power failures"),
    "controller": ("crash of the controller", "crashes of the controller"),
    "losses": ("lost message", "lost messages"),
    "cuts": ("cut of a link", "cuts of links"),
    "pauses": ("pause", "pauses"),
    "timers": ("timer", "timers"),
    "writes": ("write", "writes"),
    "waits": ("wait to register again", "waits to register again"),
    "elections": ("election by an operator", "elections by an operator"),
    "disks": ("replaced disk", "replaced disks"),
    "members": ("end of a member", "ends of members"),
    "commits": ("commit of a group", "commits of groups"),
    "store": ("failure of remote storage", "failures of remote storage"),
}
"""Words for a budget: singular and plural."""

WITHOUT: Final = {
    "crashes": "no broker crashes",
    "power": "no power failure",
    "controller": "the controller stays",
    "losses": "no message is lost",
    "cuts": "no link is cut",
    "pauses": "nobody pauses",
    "timers": "no timer fires by itself",
    "writes": "nobody writes",
    "waits": "nobody waits to register again",
    "elections": "no operator moves leadership",
    "disks": "no disk is replaced",
    "members": "no member crashes, leaves or falls silent",
    "commits": "no member commits",
    "store": "remote storage works",
}
"""Words for a budget of 0."""


def card(outcome: SearchOutcome) -> dict[str, Any]:
    """Return question, counts, verdicts and assumptions of a search.

    The same question gives the same bytes, unless time ended the search.
    """
    question, progress = outcome.question, outcome.progress
    run = question.run
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "question": {
            "scenario": run.scenario.code or run.scenario.slug or run.scenario.title,
            "profile": run.profile,
            "seed": run.seed,
            "moves": list(run.lines()),
            "run": run.digest,
            "budgets": question.budgets._asdict(),
            "never": list(question.never),
            "reach": question.reach,
        },
        "complete": outcome.complete,
        "ended": outcome.ended,
        "generated": progress.generated,
        "distinct": progress.distinct,
        "depth": progress.depth,
        "widths": outcome.widths,
        "invariants": {name: _verdict(outcome, name) for name in _watched(outcome)},
        "reached": _way(outcome.found.get(REACHED), question.budgets),
        "played": dict(sorted(outcome.played.items())),
        "never_possible": _never_possible(outcome),
        "states_with_acknowledged": outcome.with_acked,
        "assumptions": list(_assumptions(outcome)),
        "chance_of_a_missed_state": progress.distinct**2 / 2 ** (8 * DIGEST_BYTES + 1),
    }
    data["digest"] = sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
    return data


def _watched(outcome: SearchOutcome) -> tuple[str, ...]:
    """Return the invariants with a verdict: the named ones, else all or those that broke."""
    question = outcome.question
    watched = question.never or (() if question.reach else VIOLABLE)
    beside = [name for name in VIOLABLE if name in outcome.found and name not in watched]
    return (*watched, *beside)


def _verdict(outcome: SearchOutcome, name: str) -> dict[str, Any]:
    finding = outcome.found.get(name)
    if finding is None:
        return {"holds": True if outcome.complete else None}
    way = _way(finding, outcome.question.budgets)
    assert way is not None
    return {"holds": False, **way}


def _way(finding: SearchFinding | None, budgets: Budgets) -> dict[str, Any] | None:
    if finding is None:
        return None
    spent = {
        name: given - left
        for name, given, left in zip(NAMES, budgets, finding.left, strict=True)
        if given != left
    }
    return {
        "moves": list(finding.moves),
        "spent": spent,
        "why": finding.why,
        "run": finding.run.text(),
        "run_digest": finding.run.digest,
    }


def _never_possible(outcome: SearchOutcome) -> list[str]:
    """Return budgets that were given and never used: none of their moves was possible."""
    return [
        name
        for name, given in outcome.question.budgets._asdict().items()
        if given and not any(outcome.played[verb] for verb in VERBS[name])
    ]


def _assumptions(outcome: SearchOutcome) -> Iterator[str]:
    budgets = outcome.question.budgets._asdict()
    some = f"at most {given_of(budgets)}" if any(budgets.values()) else "none"
    scenario = outcome.question.run.scenario
    none = [WITHOUT[name] for name in known(scenario) if not budgets[name]]
    yield f"Budgets: {some}; {', '.join(none) or 'nothing is excluded'}."
    yield "Time passes only when a move says so (detect, advance)."
    if scenario.quorum:
        yield "Only voters act: brokers, clients and remote storage stay as they are."
    elif scenario.groups:
        yield "Members act by moves, also their heartbeats; no link of a client is cut."
    if "store" in known(scenario):
        yield "Remote storage answers at once; copying and retention run by moves, and with time."
    if outcome.question.run.scenario.network.control_delay_ms == (0, 0):
        yield "What the controller and the brokers tell each other arrives at once."
    if not outcome.with_acked:
        yield "No record was acknowledged in any state: I7 had nothing to compare."
    for name in _never_possible(outcome):
        yield f"The budget of {WITH[name][1]} was never used: none of its moves was possible."


def given_of(budgets: Mapping[str, int]) -> str:
    """Return the budgets that are not 0, in words: "1 crash, 2 writes"; "" if all of them are."""
    return ", ".join(f"{n} {WITH[name][n > 1]}" for name, n in budgets.items() if n)


# -- as sentences ---------------------------------------------------------------------------------


def lines(outcome: SearchOutcome) -> Iterator[str]:
    """Return the card as lines of text; the run of a violation is printed by the caller."""
    progress = outcome.progress
    yield (
        f"{_how_far(outcome)}: {progress.distinct:,} states, {progress.generated:,} generated, "
        f"depth {progress.depth}"
    )
    for name, finding in outcome.found.items():
        title = "Reached" if name == REACHED else f"{name} can break ({INVARIANTS[name].title})"
        moves = "; ".join(finding.moves) or "no move at all"
        count = len(finding.moves)
        yield f"{title}, {count} move{'' if count == 1 else 's'}: {moves}"
        if finding.why:
            yield f"    {finding.why}"
    if not outcome.found:
        what = "It is not reached" if outcome.question.reach else "Nothing breaks"
        far = "in any of these states" if outcome.complete else "so far; not everything was seen"
        yield f"{what} {far}."
    yield from _assumptions(outcome)


def _how_far(outcome: SearchOutcome) -> str:
    if outcome.complete:
        return "Everything within the budgets was seen"
    return "Looked no further" if outcome.ended else "A bound ended the search"
