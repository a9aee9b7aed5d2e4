"""Request for a search, and the budgets it may have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from engine.checks.catalogue import VIOLABLE
from engine.explore.budgets import NAMES, Budgets, checked
from engine.explore.goals import goal
from engine.explore.question import SearchQuestion, cut_at
from engine.model.errors import InputError
from engine.sim.run import Run

LOSS: Final = "loss"
BROKEN: Final = "broken"
NOBODY: Final = "nobody"
TWO: Final = "two"
TWICE: Final = "twice"
SKIPPED: Final = "skipped"
OWN: Final = "own"
GOALS: Final = (LOSS, BROKEN, TWICE, SKIPPED, NOBODY, TWO, OWN)
"""Goals of a search: the loss of an acknowledged record, the breach of any promise, a record that
a group processes twice or skips, a partition without a leader, two leaders at once, or what the
visitor writes (`engine.explore.goals`)."""
OF_GROUPS: Final = (TWICE, SKIPPED)
SENTENCES: Final = {
    TWICE: "any record twice",
    SKIPPED: "any record skipped",
    NOBODY: "nobody leads",
    TWO: "two leaders",
}
LOSSES: Final = ("I7",)
MOST_OF_ONE: Final = 3
"""Of each budget: what a page searches has to end."""
MEMORY_BYTES: Final = 2 << 30
OWN_CHARACTERS: Final = 120
MEMORY: Final = "memory"
FELL: Final = "fell"
"""Why an answer is without the distances of the next moves: they took too much memory, or their
process ended before it had them."""


@dataclass(frozen=True)
class Ask:
    """A question from a step of a run, as a page puts it."""

    run: Run
    step: int
    budgets: Budgets
    goal: str = LOSS
    own: str = ""

    @property
    def number(self) -> str:
        """The digest of the question: 16 digits, the same everywhere."""
        told = [self.run.digest, self.step, *self.budgets, self.goal, self.own]
        return blake2b(json.dumps(told).encode(), digest_size=8).hexdigest()

    def check(self) -> None:
        """Raise InputError for what cannot be asked.

        Whether the run can be searched, the search itself finds out.
        """
        _affordable(self.budgets)
        if self.goal not in GOALS:
            raise InputError(
                "invalid", "What is looked for is one of {0}.", ", ".join(GOALS), where="goal"
            )
        if self.goal == OWN:
            goal(self.own, self.run.scenario.brokers)

    def question(self) -> SearchQuestion:
        """Return the question to the engine.

        Raises InputError for a run that it cannot be put to.
        """
        run = cut_at(self.run, self.step)
        if self.goal == LOSS:
            return SearchQuestion(run, self.budgets, LOSSES)
        if self.goal == BROKEN:
            broken = {name for name, _, _ in SearchQuestion(run, self.budgets).start().broken}
            return SearchQuestion(run, self.budgets, tuple(n for n in VIOLABLE if n not in broken))
        return SearchQuestion(run, self.budgets, reach=SENTENCES.get(self.goal, self.own))

    def to_line(self) -> str:
        """Return the question as one line, for the process that answers it."""
        data = {
            "run": self.run.text(),
            "step": self.step,
            "budgets": list(self.budgets),
            "goal": self.goal,
            "own": self.own,
        }
        return json.dumps(data)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Ask:
        budgets = Budgets(*data["budgets"])
        return cls(Run.from_text(data["run"]), data["step"], budgets, data["goal"], data["own"])


def read(line: str) -> Ask:
    """Parse the question of a line."""
    return Ask.of(json.loads(line))


def _affordable(budgets: Budgets) -> None:
    checked(budgets)
    if max(budgets) > MOST_OF_ONE:
        raise InputError("invalid", "A budget is at most {0} here.", MOST_OF_ONE, where="budget")


def budgets_of(given: Mapping[str, int]) -> Budgets:
    """Return budgets by name; those not named are 0."""
    return Budgets(**{name: given.get(name, 0) for name in NAMES})
