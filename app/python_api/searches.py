"""Every future of a run within a budget of faults, from Python."""

from __future__ import annotations

from dataclasses import dataclass

from app.python_api.runs import Run
from engine.explore import card, goals
from engine.explore.budgets import NAMES, Budgets
from engine.explore.question import LAST, SearchQuestion, cut_at
from engine.explore.searching import Bounds, search
from engine.model.errors import InputError


@dataclass(frozen=True)
class SearchResult:
    """Everything that can follow a step: what can break, and how far was looked.

    `complete`: all states within the budgets were seen.  `found` maps an invariant, or "reached",
    to a shortest run that breaks or reaches it.

    >>> print(explore(run("S60"), crashes=1, writes=1, states=500))
    A bound ended the search: 501 states, ...
    """

    complete: bool
    states: int
    found: dict[str, Run]
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


def explore(
    run: Run,
    step: int = LAST,
    never: str = "",
    reach: str = "",
    states: int = 20_000,
    **budgets: int,
) -> SearchResult:
    """Search everything that can follow a step of a run; its last step where none is named.

    `budgets` say how often something may happen: crashes, power, controller, losses, cuts, pauses,
    timers, writes, waits, elections, disks, members, commits, store.  `never` names invariants such
    as "I7", which are then the only ones that end the search; `reach` is a property to reach.
    At most `states` states are visited.  Raises InputError.

    >>> found = explore(run("S20", kafka="0.10.2.2"), step=30, never="I7", crashes=2).found
    >>> found["I7"].lost
    ['...']
    """
    unknown = next((name for name in budgets if name not in NAMES), None)
    if unknown is not None:
        raise InputError("unknown", "There is no budget {0}; there are: {1}.", unknown[:40],
                         ", ".join(NAMES))  # fmt: skip
    begins = cut_at(run._run, step)
    outcome = search(
        SearchQuestion(begins, Budgets(**budgets), goals.invariants(never), reach), Bounds(states)
    )
    return SearchResult(
        outcome.complete,
        outcome.progress.distinct,
        {name: Run(finding.run) for name, finding in outcome.found.items()},
        tuple(card.lines(outcome)),
    )
