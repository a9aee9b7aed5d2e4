"""Storms as studies, and a verdict for each promise that one of them broke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypedDict

from app.batch import records
from app.batch.jobs import Jobs
from app.batch.result import result
from app.batch.spec import Spec, make_spec
from app.batch.wire import Waited
from app.storage.batch_fields import BatchState
from engine import ENGINE_VERSION
from engine.checks.catalogue import INVARIANTS
from engine.hunt.breaks import Break, break_of
from engine.hunt.storms import NAMES, RELEASES, storm
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.sim.run import Run

EXAMINED = 5
"""Shortest failing runs of a release and invariant that are made short and explained."""


class FoundKind(TypedDict):
    """A kind of broken promise; `kind` is "" where no known mechanism explains it.

    `examined` runs told this story; `first_seed` is the smallest seed of them, `run` the shortest,
    of `events` events.
    """

    kind: str
    title: str
    verdict: str
    invariants: list[str]
    examined: int
    first_seed: int
    events: int
    why: str
    run: str


class HuntRow(TypedDict):
    """Result of a storm under a release: its runs, the share that broke a promise, the kinds."""

    storm: str
    profile: str
    study: str
    runs: int
    broken: Waited
    errors: int
    kinds: list[FoundKind]


def specs_of(
    names: Sequence[str], runs: int, profiles: Sequence[str], seed: int
) -> dict[str, Spec]:
    """Return the studies of these storms, or of all, under those of the releases that they have.

    Raises InputError where none of them has one of these releases, or RequestError.
    """
    specs = {}
    for name in names or NAMES:
        scenario = storm(name)
        played = {get_profile(profile).name for profile in scenario.profiles}
        chosen = [
            profile for profile in profiles or RELEASES if get_profile(profile).base in played
        ]
        if chosen:
            spec = make_spec(scenario, runs, chosen, seed)
            specs[name] = replace(spec, about={"promised": True})
    if not specs:
        releases = ", ".join(get_profile(release).stands_for for release in RELEASES)
        raise InputError("impossible", "Storms are played under {0} only.", releases)
    return specs


def started(jobs: Jobs, spec: Spec) -> str:
    """Start the study, or go on with the one that is stored; return its number."""
    for batch in records.newest(jobs.database, limit=None):
        if (
            batch.about.get("promised")
            and batch.scenario_text == spec.scenario.canonical()
            and tuple(batch.profiles) == spec.profiles
            and (batch.runs, batch.first_seed) == (spec.runs, spec.first_seed)
            and batch.engine_version == ENGINE_VERSION
        ):
            if batch.state != BatchState.DONE:
                jobs.resume(batch.id)
            return batch.id
    return jobs.submit(spec)


def rows_of(jobs: Jobs, name: str, number: str) -> Iterator[HuntRow]:
    """Yield a row for each release of a study that has ended; breaks are made short here."""
    batch, counted = jobs.batch(number), result(jobs, number)
    scenario = records.scenario_of(batch)
    for cell in counted["cells"]:
        runs: dict[int, str] = {}
        for invariant in cell["broken"]:
            fewest = records.FailureFilter(cell["profile"], invariant, order="step")
            for failure in records.failures(jobs.database, batch, fewest, limit=EXAMINED)[1]:
                runs.setdefault(failure.seed, invariant)
        breaks = {
            seed: break_of(Run(scenario, cell["profile"], seed), invariant)
            for seed, invariant in sorted(runs.items())
        }
        yield {
            "storm": name,
            "profile": cell["profile"],
            "study": batch.id,
            "runs": cell["n"],
            "broken": cell["violating"],
            "errors": cell["errors"],
            "kinds": list(kinds_of(breaks)),
        }


def kinds_of(breaks: dict[int, Break]) -> Iterator[FoundKind]:
    """Join breaks that tell one story; what nothing explains is joined by its invariant."""
    joined: dict[str, dict[int, Break]] = {}
    for seed, broken in breaks.items():
        joined.setdefault(broken.kind.name if broken.kind else broken.invariant, {})[seed] = broken
    for of_kind in joined.values():
        short = min(of_kind.values(), key=lambda each: each.after)
        kind = short.kind
        yield {
            "kind": kind.name if kind else "",
            "title": kind.title if kind else INVARIANTS[short.invariant].title,
            "verdict": kind.verdict if kind else "unexplained",
            "invariants": sorted({each.invariant for each in of_kind.values()}),
            "examined": len(of_kind),
            "first_seed": min(of_kind),
            "events": short.after,
            "why": short.why,
            "run": short.run.text(),
        }
