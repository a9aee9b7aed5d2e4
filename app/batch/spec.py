"""Specification of a batch, validated before anything is stored or started."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.batch import statistics
from app.batch.bounds import (
    CELLS_MOST,
    FUTURES_EACH,
    FUTURES_MOST,
    PROFILES_MOST,
    RUNS_MOST,
)
from app.batch.runners.plan import CHUNKS_MOST, BatchPlan
from app.core.refusals import RequestError
from app.core.request_fields import SEED_MAX, RequestFields
from app.storage.batch_fields import BatchAbout
from engine.model.profiles import get_profile
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.study.futures import Present, presents

VARIED_MOST: Final = 4
WITHIN: Final = (5, 50)
"""Percent of a share, to either side: how well it may be asked to be known."""
TOTAL_MOST: Final = 20_000_000
"""Runs of a whole batch: a day on two cores."""


def label_of(values: Mapping[str, str]) -> str:
    """Return varied values as text for people."""
    return ", ".join(f"{key}={value}" for key, value in values.items())


@dataclass(frozen=True)
class Cell:
    """One combination of varied values: a scenario of its own."""

    values: dict[str, str]
    scenario: Scenario

    @property
    def label(self) -> str:
        return label_of(self.values)


@dataclass(frozen=True)
class Spec:
    """Validated specification of a batch."""

    scenario: Scenario
    profiles: tuple[str, ...]
    runs: int
    first_seed: int
    cells: tuple[Cell, ...]
    kind: str = "seeds"
    about: BatchAbout = field(default_factory=BatchAbout)

    @property
    def total(self) -> int:
        return self.runs * len(self.profiles) * len(self.cells)


@dataclass(frozen=True)
class Futures:
    """Futures of a failing run: a number of futures from each present, under the run's profile."""

    run: Run
    invariant: str
    presents: tuple[Present, ...]
    runs: int


def make_spec(
    scenario: Scenario,
    runs: int,
    profiles: Sequence[str] | None = None,
    first_seed: int = 0,
    vary: Iterable[tuple[str, Sequence[str]]] = (),
    within: int = 0,
) -> Spec:
    """Return a validated batch; without profiles, with those of the scenario.

    It stops early once each share of failing runs is known to ± `within` percent; 0 disables this.

    Raises RequestError, or InputError for a profile or a varied key that the engine does not know.
    """
    if not 1 <= runs <= RUNS_MOST:
        raise RequestError(
            "invalid", "batch.runs", most=statistics.whole(RUNS_MOST), asked=statistics.whole(runs)
        )
    if not 0 <= first_seed <= SEED_MAX - RUNS_MOST:
        raise RequestError("invalid", "batch.seed", most=statistics.whole(SEED_MAX - RUNS_MOST))
    chosen = tuple(profiles) if profiles else scenario.profiles[:PROFILES_MOST]
    if len(chosen) > PROFILES_MOST:
        raise RequestError("invalid", "batch.profiles", most=PROFILES_MOST, asked=len(chosen))
    names = [get_profile(name).name for name in chosen]
    for name in names:
        if names.count(name) > 1:
            raise RequestError("invalid", "batch.twice", profile=name)
    if within and not WITHIN[0] <= within <= WITHIN[1]:
        raise RequestError("invalid", "batch.within", low=WITHIN[0], high=WITHIN[1], asked=within)
    cells = make_cells(scenario, list(vary))
    about: BatchAbout = {"within": within} if within else {}
    spec = Spec(scenario, tuple(names), runs, first_seed, cells, about=about)
    check_total(spec.total)
    return spec


def check_total(total: int) -> None:
    """Raise RequestError for more runs than a batch may have in all."""
    if total > TOTAL_MOST:
        raise RequestError(
            "invalid",
            "batch.total",
            most=statistics.whole(TOTAL_MOST),
            asked=statistics.whole(total),
        )


def check_chunks(plan: BatchPlan) -> None:
    """Raise RequestError for more chunks than Spark, the file system and the driver can handle."""
    if plan.total_chunks > CHUNKS_MOST:
        slices = CHUNKS_MOST // plan.groups
        raise RequestError(
            "invalid",
            "batch.chunks",
            size=statistics.whole(plan.chunk_runs),
            asked=statistics.whole(plan.total_runs),
            chunks=statistics.whole(plan.total_chunks),
            most=statistics.whole(CHUNKS_MOST),
            fit=statistics.whole(slices * plan.groups * plan.chunk_runs),
        )


def make_futures(run: Run, invariant: str, runs: int = FUTURES_EACH) -> Futures:
    """Return a validated study of the point of no return of a failing run.

    Raises RequestError, or InputError when the run does not break the invariant.
    """
    if not 1 <= runs <= FUTURES_MOST:
        raise RequestError("invalid", "batch.futures", most=statistics.whole(FUTURES_MOST))
    return Futures(run, invariant, tuple(presents(run, invariant)), runs)


def make_cells(scenario: Scenario, vary: Sequence[tuple[str, Sequence[str]]]) -> tuple[Cell, ...]:
    """Return every combination of the varied values, in the order given; one cell if none vary."""
    keys = [key for key, _ in vary]
    for key in keys:
        if keys.count(key) > 1:
            raise RequestError("invalid", "batch.vary.twice", name=key[:80])
    count = 1
    for _, values in vary:
        count *= len(values)
    if count > CELLS_MOST or len(keys) > VARIED_MOST:
        raise RequestError("invalid", "batch.cells", most=CELLS_MOST, asked=count)
    cells = []
    for combination in itertools.product(*(values for _, values in vary)):
        cells.append(cell_of(scenario, dict(zip(keys, combination, strict=True))))
    return tuple(cells)


def cell_of(scenario: Scenario, values: Mapping[str, str]) -> Cell:
    """Return the scenario with these values set.  Raises InputError."""
    varied = scenario
    for key, value in values.items():
        varied = varied.vary(key, value)
    return Cell(dict(values), varied)


def parse_vary(given: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Parse ["min.insync.replicas=1,2"] of a form or the command line.  Raises RequestError."""
    axes = []
    for line in given:
        if not line.strip():
            continue
        key, _, listed = line.partition("=")
        values = tuple(value.strip() for value in listed.split(",") if value.strip())
        if not key.strip() or not values or len(line) > 1000:
            raise RequestError("invalid", "batch.vary", given=line[:80])
        axes.append((key.strip(), tuple(dict.fromkeys(values))))
    return axes


def asked_spec(fields: RequestFields, scenario: Scenario) -> Spec:
    """Parse a request: {runs, profiles: [..], first_seed, vary: [..], within}."""
    profiles = _texts(fields, "profiles", 40)
    vary = parse_vary(_texts(fields, "vary", 20) or ())
    # Any whole number is read, so that the sentence can name the one that is too large.
    runs = fields.raw("runs")
    if isinstance(runs, bool) or not isinstance(runs, int):
        raise RequestError("invalid", what="runs")
    seed = fields.whole("first_seed", 0, SEED_MAX, default=0)
    within = fields.whole("within", 0, 100, default=0)
    return make_spec(scenario, runs, profiles, seed, vary, within)


def _texts(fields: RequestFields, name: str, most: int) -> list[str] | None:
    value: Any = fields.raw(name)
    if value is None:
        return None
    if not isinstance(value, list) or len(value) > most:
        raise RequestError("invalid", what=name)
    for item in value:
        if not isinstance(item, str) or len(item) > 1000:
            raise RequestError("invalid", what=name)
    return value
