"""Many runs of one scenario, a row each, equal on every machine.

A row is a pure function of (scenario, profile, cell, seed).
"""

from __future__ import annotations

from typing import Any, Final

from engine.advisor.cycle_rows import CYCLES, row_of_tree
from engine.advisor.weights import log_weight_nano
from engine.catalogue.promises import promised
from engine.checks.lags import Lags
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation
from engine.story.verdict import LOSS
from engine.study.budget import event_budget, expected_events
from engine.study.futures import Present
from engine.study.metrics import METRICS, PlayedRun

WHY_MOST: Final = 300

HOLDS: Final = "holds"
VIOLATES: Final = "violates"
ERROR: Final = "error"

PROMISED: Final = "promised"
"""Key of a chunk's scenario: only what the release promises of such a run counts as broken."""

LOST: Final = "I7"
"""Name in `broken` of a run that lost a record which Kafka had promised to keep."""
UNPROMISED: Final = "gone"
"""Name in `broken` of a run that lost acknowledged records, none of which was promised to last."""

Row = dict[str, Any]


def run_chunk(chunk: dict[str, Any]) -> list[Row]:
    """Play `count` seeds from `first_seed` on and return a row for each.

    chunk: {"scenario": Scenario.to_dict(), "profile", "cell", "first_seed", "count"}.  Instead of
           "scenario" it may have {"run": Run.text(), "present": Present.to_dict()}; a seed is then
           the number of a future of that present.  Or it has {"cycles": ...} of cycle_rows.subject;
           its rows are trees (row_of_tree).  With PROMISED in a scenario, `broken` has only what
           the release promises of such a run.  "probe" is a maximum number of events; rows then
           have "whole", the expected events of the whole run, and "most", its maximum
    row: {"cell", "profile", "seed", "verdict": "holds" | "violates" | "error",
          "invariant", "step", "why": of the first violation ("", -1, "" if none),
          "broken": [[invariant, step, why], ...] each invariant once, as `by_promise` names them
          (rows of futures name invariants only), "events",
          "log_weight": logarithm of the run's weight, in billionths (importance sampling); 0 for
          futures, which use the true rates and so have equal weights,
          <metric>: int | None}
    A run that fails gives a row with the verdict "error" and the reason in "why".
    """
    first, cell, probe = chunk["first_seed"], chunk["cell"], chunk.get("probe", 0)
    seeds = range(first, first + chunk["count"])
    if CYCLES in chunk["scenario"]:
        return [row_of_tree(chunk["scenario"], chunk["profile"], cell, seed) for seed in seeds]
    if "present" in chunk["scenario"]:
        run = Run.from_text(chunk["scenario"]["run"])
        present = Present.from_dict(chunk["scenario"]["present"])
        return [
            row_of(present.future(run, seed), cell, seed, probe) | {"log_weight": 0}
            for seed in seeds
        ]
    scenario_data = {key: value for key, value in chunk["scenario"].items() if key != PROMISED}
    scenario, profile = Scenario.from_dict(scenario_data), chunk["profile"]
    row = promised_row if PROMISED in chunk["scenario"] else row_of
    return [by_promise(row(Run(scenario, profile, seed), cell, seed, probe)) for seed in seeds]


def promised_row(run: Run, cell: int, seed: int, probe: int = 0) -> Row:
    """Return the row with those of its broken invariants that its release promises of such a run.

    A release with flipped flags is judged as the one that it was made of.
    """
    row, sim = row_and_end(run, cell, seed, probe)
    if sim is not None and row["broken"]:
        release = get_profile(get_profile(run.profile).base)
        promised_here = promised(run, sim, release)
        row["broken"] = [breach for breach in row["broken"] if breach[0] in promised_here]
        row["verdict"] = VIOLATES if row["broken"] else HOLDS
        row["invariant"], row["step"], row["why"] = (*row["broken"], ["", -1, ""])[0]
    return row


def by_promise(row: Row) -> Row:
    """Return the row with what is broken named as in the verdict of the run.

    Where records are gone that nothing promised to keep, and no other, I7 becomes UNPROMISED, and
    the invariants that say the same of those records are left out.
    """
    if row["promised_lost"] == 0 and any(name == LOST for name, *_ in row["broken"]):
        broken = [
            [UNPROMISED if name == LOST else name, step, why]
            for name, step, why in row["broken"]
            if name == LOST or name not in LOSS
        ]
        row["broken"] = broken
        row["invariant"], row["step"], row["why"] = broken[0]
    return row


def broken_in(name: str) -> str:
    """Return the invariant that a run breaks which has this name in `broken`."""
    return LOST if name == UNPROMISED else name


def row_of(run: Run, cell: int, seed: int, probe: int = 0) -> Row:
    """Return the row of a run; `seed` may be the number of a future, `probe` is as in run_chunk."""
    return row_and_end(run, cell, seed, probe)[0]


def row_and_end(run: Run, cell: int, seed: int, probe: int = 0) -> tuple[Row, Simulation | None]:
    """Return the row, and the simulation at the end of the run; None if it could not start."""
    row: Row = {
        "cell": cell,
        "profile": run.profile,
        "seed": seed,
        "verdict": ERROR,
        "invariant": "",
        "step": -1,
        "why": "",
        "broken": [],
        "events": 0,
        "log_weight": 0,
        **dict.fromkeys(METRICS),
    }
    sim: Simulation | None = None
    most = 0
    try:
        most = event_budget(run)
        sim = run.simulation()
        _play(sim, run, min(most, probe or most))
        played = PlayedRun(sim)
        row.update((name, metric.of(played)) for name, metric in METRICS.items())
        broken = _first_of_each(sim.broken)
        row["broken"] = broken
        row["log_weight"] = log_weight_nano(sim)
        row["verdict"] = VIOLATES if broken else HOLDS
        if broken:
            row["invariant"], row["step"], row["why"] = broken[0]
    except InputError as error:
        row["why"] = str(error)[:WHY_MOST]
    except Exception as error:
        row["why"] = f"{type(error).__name__}: {error}"[:WHY_MOST]
    if sim is not None:
        row["events"] = sim.events
        if probe:
            row["whole"], row["most"] = expected_events(sim, run), most
    return row, sim


def _play(sim: Simulation, run: Run, budget: int) -> None:
    sim.rush = True
    sim.budget = budget
    sim.checker.lags = Lags(sim.cluster, sim.out)
    run_to_end(sim, run.lines())
    sim.ledger.close(sim.now)


def _first_of_each(broken: list[tuple[str, int, str]]) -> list[list[Any]]:
    """Return the first violation of each invariant, in order of time."""
    seen: dict[str, list[Any]] = {}
    for invariant, step, why in broken:
        seen.setdefault(invariant, [invariant, step, why[:WHY_MOST]])
    return list(seen.values())
