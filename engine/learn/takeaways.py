"""Takeaways of a library run: words for an interview, and the next run to play."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from engine.learn.interview import Item, questions
from engine.scenarios.file import library
from engine.scenarios.scenario import TAGS, Scenario

SAYS = 3
"""Sentences that are worth saying in an interview."""


@dataclass(frozen=True, slots=True)
class Takeaways:
    """Content of the card at the end of a run."""

    item: Item
    """The interview question that this run answers, or the one that is nearest to it."""
    proves: bool
    """Is this the very run that the question names as its proof?"""
    topic: str
    """One of TAGS: what an operator takes from it is told by topic."""
    next: Scenario


@cache
def takeaways(code: str) -> Takeaways:
    """Return the content of the card at the end of a run of this scenario.

    Raises KeyError for a code that the library does not have.
    """
    scenarios = {entry.code: entry for entry in library().values()}
    scenario = scenarios[code]
    order = sorted(
        scenarios.values(), key=lambda entry: (_topic(entry), entry.difficulty, entry.code)
    )
    item = max(questions().values(), key=lambda entry: _nearness(entry, scenario, scenarios))
    return Takeaways(
        item,
        item.scenario == code,
        TAGS[_topic(scenario)],
        order[(order.index(scenario) + 1) % len(order)],
    )


def _topic(scenario: Scenario) -> int:
    return TAGS.index(scenario.tags[0]) if scenario.tags else 0


def _nearness(
    item: Item, scenario: Scenario, scenarios: dict[str, Scenario]
) -> tuple[int, int, int]:
    """Return the sort key of a question by its nearness to a scenario.

    A question that the run of the scenario proves comes first, then one that shares words and tags
    with it; among equals, the easier question.
    """
    other = scenarios[item.scenario]
    own = _words(f"{scenario.title} {scenario.teaches} {scenario.origin}")
    theirs = _words(" ".join([item.ask["en"], *(fact["en"] for fact in item.facts)]))
    shared = len(own & theirs) + 2 * len(set(scenario.tags) & set(other.tags))
    return int(item.scenario == scenario.code), shared, -item.level


def _words(text: str) -> frozenset[str]:
    """Return the longer words of a text, and settings by their names."""
    return frozenset(word for word in re.findall(r"[a-z][a-z.-]{4,}", text.lower()))
