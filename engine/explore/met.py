"""Coverage of a small cluster's situations by the runs of a study.

A search looks at everything that can be reached within budgets in the study's cluster, and the
study's seeds are played again and looked at between events.  Both count situations
(`situations`), so what no run has met is known by name: the moves that lead there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from engine.advisor.saturation import CURVE
from engine.explore.budgets import Budgets
from engine.explore.question import SearchQuestion
from engine.explore.searching import Bounds, Searching, SearchOutcome
from engine.explore.situations import Situation, at_rest, situation
from engine.faults.plan_kinds import PLAN_KINDS
from engine.model.errors import InputError
from engine.scenarios.parts import NetworkSpec, Workload
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play
from engine.sim.simulation import Simulation
from engine.study.budget import event_budget

SCHEMA: Final = 1
UNMET_SHOWN: Final = 5


def usual(scenario: Scenario) -> Budgets:
    """Return one of each fault in the fault plan, and one write."""
    paid = {PLAN_KINDS[fault.kind].pays for fault in scenario.faults}
    return Budgets(**{"writes": 1, **dict.fromkeys(paid - {""}, 1)})


def not_searched(scenario: Scenario) -> tuple[str, ...]:
    """Return the plan's kinds of faults without a budget, whose results are not reached."""
    kinds = {fault.kind for fault in scenario.faults}
    return tuple(sorted(kind for kind in kinds if not PLAN_KINDS[kind].pays))


def by_hand(scenario: Scenario) -> Scenario:
    """Return the cluster of a study as a search plays it: chance and clock become moves."""
    return replace(
        scenario,
        slug="",
        code="",
        network=NetworkSpec(),
        fetching="manual",
        workload=Workload(),
        faults=(),
        script="",
        expect={},
    )


@dataclass
class Reached:
    """Situations that the search reached."""

    outcome: SearchOutcome
    first: dict[Situation, int]
    """Each situation -> the first state that shows it; in the order in which they were reached."""
    moves: dict[Situation, int]
    """Least number of moves to each situation."""
    searching: Searching

    def way(self, found: Situation) -> tuple[str, ...]:
        return self.searching.way(self.first[found])


def reach(scenario: Scenario, profile: str, budgets: Budgets, bounds: Bounds) -> Reached:
    """Return everything that can be reached from the beginning of the scenario's cluster.

    Raises InputError for a cluster that the search does not know.
    """
    first: dict[Situation, int] = {}
    moves: dict[Situation, int] = {}

    def note(sim: Simulation, number: int, depth: int) -> None:
        found = situation(sim)
        if found not in first:
            first[found], moves[found] = number, depth

    question = SearchQuestion(Run(by_hand(scenario), profile, 0, ()), budgets)
    searching = Searching(question, bounds, note=note)
    return Reached(searching.run(), first, moves, searching)


@dataclass
class Met:
    """Situations that runs met, in the order of their seeds."""

    reached: Reached
    runs: int = 0
    failed: int = 0
    """Runs that could not be played as far as they were to be watched."""
    met: set[Situation] = field(default_factory=set)
    beyond: set[Situation] = field(default_factory=set)
    """Situations that the search has not."""
    broke: dict[str, int] = field(default_factory=dict)
    """Invariant -> runs that broke it while they were watched."""
    curve: list[tuple[int, int]] = field(default_factory=list)
    """(runs, situations met by them), as the runs grow."""

    def play(self, scenario: Scenario, profile: str, seed: int) -> None:
        """Play a run until more records were sent than the search wrote.

        A log that has more of them is no situation of the search.
        """
        run = Run(scenario, profile, seed)
        known, writes = self.reached.first, self.reached.outcome.question.budgets.writes
        sim = run.simulation()
        sim.budget = event_budget(run)
        self.runs += 1
        try:
            self._note(sim, known)
            for _ in play(sim, run.lines()):
                if sim.ledger.sent > writes:
                    break
                self._note(sim, known)
        except InputError:
            self.failed += 1
        for name in {name for name, _, _ in sim.broken}:
            self.broke[name] = self.broke.get(name, 0) + 1
        if is_point(self.runs):
            self.curve.append((self.runs, len(self.met)))

    def _note(self, sim: Simulation, known: dict[Situation, int]) -> None:
        if at_rest(sim):
            found = situation(sim)
            (self.met if found in known else self.beyond).add(found)


def is_point(runs: int) -> bool:
    """Check for 1, 2, 5, 10, 20, 50 and so on."""
    return any(str(runs) == f"{digit}{'0' * (len(str(runs)) - 1)}" for digit in CURVE)


def meet(
    reached: Reached,
    scenario: Scenario,
    profile: str,
    seeds: Sequence[int],
    stop: Callable[[Met], bool],
) -> Met:
    """Play the seeds of a study, as many as there is time for; `stop` is asked after each."""
    found = Met(reached)
    for seed in seeds:
        found.play(scenario, profile, seed)
        if stop(found):
            break
    if found.runs and (not found.curve or found.curve[-1][0] != found.runs):
        found.curve.append((found.runs, len(found.met)))
    return found


def card(found: Met, asked_runs: int) -> dict[str, Any]:
    """Return the result as data; `share` is None where not everything was reached.

    {"budgets", "complete", "states", "situations", "met", "share", "beyond", "runs", "asked_runs",
     "failed", "depths": [[moves, situations, met], ...], "curve": [[runs, met], ...],
     "broken": [{"invariant", "moves": [...], "run", "runs": how many broke it}, ...],
     "unmet": [{"moves": [...], "run"}, ...]: the nearest ones}
    """
    reached = found.reached
    outcome = reached.outcome
    met, situations = len(found.met), len(reached.first)
    depths: dict[int, list[int]] = {}
    for one, moves in reached.moves.items():
        row = depths.setdefault(moves, [moves, 0, 0])
        row[1] += 1
        row[2] += one in found.met
    unmet = [one for one in reached.first if one not in found.met][:UNMET_SHOWN]
    return {
        "schema": SCHEMA,
        "budgets": outcome.question.budgets._asdict(),
        "complete": outcome.complete,
        "states": outcome.progress.distinct,
        "situations": situations,
        "met": met,
        "share": met / situations if outcome.complete else None,
        "beyond": len(found.beyond),
        "runs": found.runs,
        "asked_runs": asked_runs,
        "failed": found.failed,
        "depths": [depths[moves] for moves in sorted(depths)],
        "curve": [list(point) for point in found.curve],
        "broken": [
            {
                "invariant": name,
                "moves": list(way.moves),
                "run": way.run.text(),
                "runs": found.broke.get(name, 0),
            }
            for name, way in sorted(outcome.found.items(), key=lambda one: len(one[1].moves))
        ],
        "unmet": [_way(reached, one) for one in unmet],
    }


def _way(reached: Reached, one: Situation) -> dict[str, Any]:
    moves = reached.way(one)
    run = reached.outcome.question.followed_by(moves)
    return {"moves": list(moves), "run": run.text()}
