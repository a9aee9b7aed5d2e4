"""A shorter run that still breaks the same invariant (delta debugging).

What chance did to a failing run is written down as a schedule of faults.  Then whatever is not
needed goes: moves, faults, the time before and between them, load, loss and delays.  Candidates are
played, and only one that breaks the invariant in fewer events is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from engine.faults.fault_plan import FaultPlan
from engine.model.errors import InputError
from engine.model.json_types import Json
from engine.scenarios.fault_lines import FAULT_KINDS, MOST_FAULTS, own_fields
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play
from engine.sim.simulation import Simulation
from engine.study.ddmin import ddmin

PLAYS_MOST: Final = 400
EVENTS_MOST: Final = 400_000
"""Events of all candidates together: some seconds of one process."""
MAX_EVENTS_PLAYED: Final = 500_000  # of one run
SEEDS_TRIED: Final = 12
GAP_MS: Final = 5
"""Shorter waits are not worth a play."""

MARK: Final = " (shortened)"


@dataclass(frozen=True)
class Shortened:
    """`run` ends with the event that breaks `invariant`; lengths are in events up to it."""

    run: Run
    invariant: str
    before: int
    after: int
    plays: int


@dataclass(frozen=True)
class _Broken:
    """First violation of a run: event number, virtual time, why."""

    step: int
    at_ms: int
    why: str


class _Search:
    """The shortest failing run so far, and how much may still be played."""

    def __init__(self, invariant: str, run: Run, broken: _Broken) -> None:
        self.invariant = invariant
        self.run = run
        self.found = broken
        self.plays = 1
        self.events = broken.step

    def spent(self) -> bool:
        return self.plays >= PLAYS_MOST or self.events >= EVENTS_MOST

    def try_scenario(self, data: Json, seed: int, worth: int = 0) -> bool:
        """Play a changed scenario, with the moves as they are."""
        try:
            scenario = Scenario.from_dict(data)
        except InputError:
            return False
        return self.try_run(Run(scenario, self.run.profile, seed, self.run.moves), worth)

    def try_run(self, run: Run, worth: int = 0) -> bool:
        """Play a candidate.  Kept if it fails in fewer events, or in at most `worth` more."""
        if self.spent():
            return False
        most = self.found.step - 1 + worth
        try:
            broken = first_break(run, self.invariant, most)
        except InputError:
            return False
        self.plays += 1
        self.events += most if broken is None else broken.step
        if broken is None:
            return False
        self.run, self.found = run, broken
        return True


def shorten(run: Run, invariant: str) -> Shortened:
    """Return the shortest failing run that the budget finds, under the same profile.

    Raises InputError when the run does not break the invariant.
    """
    broken, sim = _played(run, invariant)
    if broken is None:
        raise InputError("impossible", "This run does not break {0}.", invariant)
    search = _Search(invariant, run, broken)
    search.try_scenario(_as_scheduled(run, sim, broken), run.seed, worth=broken.step)
    if not any(fault.mtbf_ms for fault in search.run.scenario.faults):
        for reduce in _REDUCTIONS:
            reduce(search)
    if search.found.step >= broken.step:
        search.run, search.found = run, broken
    shorter = _cut_short(search.run, search.found, invariant)
    return Shortened(shorter, invariant, broken.step, search.found.step, search.plays)


def first_break(run: Run, invariant: str, most: int) -> _Broken | None:
    """Return where the run first breaks it within `most` events, or None."""
    found, _ = _played(run, invariant, most)
    return found


def _played(
    run: Run, invariant: str, most: int = MAX_EVENTS_PLAYED
) -> tuple[_Broken | None, Simulation]:
    sim = run.simulation()
    seen = 0
    for _ in play(sim, run.lines()):
        if len(sim.broken) > seen:
            for name, step, why in sim.broken[seen:]:
                if name == invariant:
                    return _Broken(step, sim.now, why), sim
            seen = len(sim.broken)
        if sim.events >= most:
            break
    return None, sim


def _as_scheduled(run: Run, sim: Simulation, broken: _Broken) -> Json:
    """Return the scenario with random faults written out: the last before the violation."""
    data = run.scenario.to_dict()
    began = min((plan.began for plan in sim.plans), default=0)
    struck = []
    for plan in sim.plans:
        for number, (at, brokers, until) in enumerate(plan.strikes):
            line = line_of(plan)
            if plan.fault.moves:
                if not plan.played[number]:
                    continue
                line["moves"] = [plan.played[number]]
            line["at_ms"] = at - began
            if not FAULT_KINDS[plan.fault.kind].whole:
                line |= {"brokers": list(brokers), "together": True}
            if plan.fault.kind != "rolling_restart":  # there it is no repair, but a patience
                line["mttr_ms"] = max(1, until - at) if until >= 0 else 0
            struck.append(line)
    struck.sort(key=lambda line: (line["at_ms"], line.get("brokers", []), line["kind"]))
    data["faults"] = struck[-MOST_FAULTS:]
    return _ended(data, run.profile, broken)


def line_of(plan: FaultPlan) -> Json:
    """Return a plan's line of the fault plan, without targets and times."""
    fault = plan.fault
    line: Json = {"kind": fault.kind, "mttr_ms": fault.mttr_ms, **own_fields(fault)}
    if plan.directory:
        line["dir"] = plan.directory
    return line


def _ended(data: Json, profile: str, broken: _Broken) -> Json:
    """Return a run no longer than needed, and promised for this profile alone."""
    data["duration_ms"] = max(1, min(data["duration_ms"], broken.at_ms + 1))
    data["expect"] = {}
    data["profiles"] = [profile]
    return data


def _cut_short(run: Run, broken: _Broken, invariant: str) -> Run:
    data = _ended(run.scenario.to_dict(), run.profile, broken)
    data["slug"] = data["code"] = ""
    data["title"] = f"{data['title'].removesuffix(MARK)[:180]}{MARK}"
    shorter = Run(Scenario.from_dict(data), run.profile, run.seed, run.moves)
    return shorter if first_break(shorter, invariant, broken.step) else run


# -- what is tried --------------------------------------------------------------------------------


def _fewer_moves(search: _Search) -> None:
    """Remove the moves that do not matter from the script and the moves by hand."""

    def without(lines: list[Any]) -> bool:
        run = search.run
        return search.try_run(Run(run.scenario, run.profile, run.seed, tuple(lines)))

    ddmin(lambda: list(search.run.lines()), without, search.spent)


def _fewer_faults(search: _Search) -> None:
    """Remove the faults that do not matter from the schedule."""

    def without(faults: list[Any]) -> bool:
        data = {**search.run.scenario.to_dict(), "faults": faults}
        # A fault less is worth some events more: the next reductions make them up.
        return search.try_scenario(data, search.run.seed, worth=search.found.step // 4)

    ddmin(lambda: search.run.scenario.to_dict()["faults"], without, search.spent)


def _sooner(search: _Search) -> None:
    """Take time out: before the first fault, between two, before a repair."""
    place = 0
    while place < 2 * len(search.run.scenario.faults) and not search.spent():
        while _halved(search, place):
            pass
        place += 1


def _halved(search: _Search, place: int) -> bool:
    """Try to take all, or half, of the wait before one strike, or of one repair."""
    data = search.run.scenario.to_dict()
    faults = data["faults"]
    if place >= 2 * len(faults):
        return False
    index, repair = divmod(place, 2)
    if repair:
        gap = faults[index]["mttr_ms"]
    else:
        gap = faults[index]["at_ms"] - (faults[index - 1]["at_ms"] if index else 0)
    for less in (gap - 1, gap * 3 // 4, gap // 2, gap // 4):
        if less < GAP_MS:
            continue
        changed = [dict(line) for line in faults]
        if repair:
            changed[index]["mttr_ms"] = gap - less
        else:
            for line in changed[index:]:
                line["at_ms"] -= less
        if search.try_scenario({**data, "faults": changed}, search.run.seed):
            return True
    return False


def _simpler(search: _Search) -> None:
    """Try less load, no consumers, no loss, one delay."""
    for change in _SIMPLER:
        for data in change(search.run.scenario.to_dict()):
            search.try_scenario(data, search.run.seed)


def _other_seeds(search: _Search) -> None:
    """Try the same schedule under other delays, which may lead to the violation sooner."""
    for seed in range(SEEDS_TRIED):
        search.try_scenario(search.run.scenario.to_dict(), seed)


def _without_consumers(data: Json) -> Iterator[Json]:
    if data["workload"]["consumers"]:
        yield {**data, "workload": {**data["workload"], "consumers": 0}}


def _one_producer(data: Json) -> Iterator[Json]:
    producers = data["workload"]["producers"]
    if len(producers) > 1:
        for one in producers:
            yield {**data, "workload": {**data["workload"], "producers": [one]}}


def _less_load(data: Json) -> Iterator[Json]:
    for factor in (8, 4, 2):
        slower = [
            {**producer, "rate_per_s": max(0.001, producer["rate_per_s"] / factor)}
            for producer in data["workload"]["producers"]
        ]
        yield {**data, "workload": {**data["workload"], "producers": slower}}


def _calm_network(data: Json) -> Iterator[Json]:
    network = data["network"]
    if network["loss"]:
        yield {**data, "network": {**network, "loss": 0.0}}
    for name in ("delay_ms", "control_delay_ms"):
        delay = network[name]
        low = delay["median"] if isinstance(delay, dict) else delay[0]
        if delay != [low, low]:
            yield {**data, "network": {**network, name: [low, low]}}


_SIMPLER: Final[tuple[Callable[[Json], Iterator[Json]], ...]] = (
    _without_consumers,
    _one_producer,
    _less_load,
    _calm_network,
)

_REDUCTIONS: Final = (
    _fewer_moves,
    _fewer_faults,
    _sooner,
    _simpler,
    _other_seeds,
    _fewer_faults,
    _sooner,
)
