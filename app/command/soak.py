"""``highwater soak``: random runs on every core for a time, and their findings."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from typing import Any, TypedDict

from app.batch.processes import BatchWorkers
from app.command.playing import command_of
from engine.model.profiles import PROFILES, get_profile
from engine.scenarios.file import library
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.study.soak import CHECKS, examine, soak_chunk

CHUNK = 20
"""Runs of one chunk: some seconds of one process."""
EVERY_S = 10.0
"""Seconds between two reports of progress."""


class SoakFind(TypedDict):
    """A run of a soak in which a check failed; `moves` counts its moves before it was shortened."""

    number: int
    kind: str
    why: str
    run: str
    moves: int


class SoakCounts(TypedDict):
    runs: int
    pairs: int


class ReportedFind(TypedDict):
    """A find with the command that repeats it."""

    number: int
    kind: str
    why: str
    moves: int
    again: str


class SoakReport(TypedDict):
    """Counts of runs, steps and distinct pairs of rules, in all and by profile, and the finds."""

    runs: int
    steps: int
    pairs: int
    profiles: dict[str, SoakCounts]
    finds: list[ReportedFind]


class Soak:
    """Runs and finds of all chunks so far."""

    def __init__(self) -> None:
        self.runs: dict[str, int] = {}
        self.steps = 0
        self.pairs: dict[str, set[tuple[str, str]]] = {}
        self.finds: list[SoakFind] = []

    def add(self, result: dict[str, Any]) -> None:
        for profile, count in result["runs"].items():
            self.runs[profile] = self.runs.get(profile, 0) + count
        for profile, pairs in result["pairs"].items():
            self.pairs.setdefault(profile, set()).update(map(tuple, pairs))
        self.steps += result["steps"]
        self.finds += result["finds"]

    def report(self) -> SoakReport:
        """Return the whole, as one JSON object; each find with the line that repeats it."""
        everywhere = set().union(*self.pairs.values()) if self.pairs else set()
        return {
            "runs": sum(self.runs.values()),
            "steps": self.steps,
            "pairs": len(everywhere),
            "profiles": {
                name: {"runs": self.runs[name], "pairs": len(self.pairs.get(name, ()))}
                for name in PROFILES
                if name in self.runs
            },
            "finds": [
                {
                    "number": find["number"],
                    "kind": find["kind"],
                    "why": find["why"],
                    "moves": find["moves"],
                    "again": _again(find["kind"], Run.from_text(find["run"])),
                }
                for find in sorted(self.finds, key=lambda find: find["number"])
            ],
        }


def soak(
    minutes: float,
    profiles: Sequence[str],
    seed: int,
    jobs: int,
    tell: Callable[[str], None],
    chunk: int = CHUNK,
) -> SoakReport:
    """Play chunks of random runs in `jobs` processes until the minutes are over."""
    names = [get_profile(name).name for name in profiles] or list(PROFILES)
    for word in left_out(library().values(), names):
        tell(word)
    stored = [scenario.to_dict() for scenario in library().values()]
    soaking = Soak()
    began = reported = time.monotonic()
    ends = began + 60 * minutes
    chunks = _chunks(seed, names, stored, chunk)
    with BatchWorkers(jobs) as processes:
        waiting = {processes.submit(soak_chunk, next(chunks)) for _ in range(jobs)}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                result = future.result()
                soaking.add(result)
                for find in result["finds"]:  # at once: a soak may be ended early
                    tell(f"{find['why']}: {_again(find['kind'], Run.from_text(find['run']))}")
                if time.monotonic() < ends:
                    waiting.add(processes.submit(soak_chunk, next(chunks)))
            if time.monotonic() - reported >= EVERY_S:
                reported = time.monotonic()
                tell(_progress(soaking, reported - began))
    return soaking.report()


def left_out(scenarios: Iterable[Scenario], profiles: Sequence[str]) -> Iterator[str]:
    """Yield a line for each scenario that some of the profiles cannot begin, which draws omit."""
    for scenario in scenarios:
        why = {name: scenario.cannot_begin(name) for name in profiles}
        names = [name for name in profiles if why[name]]
        if names:
            title = scenario.code or scenario.title
            yield f"{title} is left out under {', '.join(names)}: {why[names[0]]}"


def look_at(text: str) -> SoakReport:
    """Check one run, given as its text, as every run of a soak is checked."""
    run = Run.from_text(text)
    soaking = Soak()
    soaking.runs[get_profile(run.profile).base] = 1
    problem = examine(run)
    if problem is not None:
        kind, why = problem
        moves = len(run.lines())
        soaking.finds.append(
            {"number": 0, "kind": kind, "why": why, "run": run.text(), "moves": moves}
        )
    return soaking.report()


def _again(kind: str, run: Run) -> str:
    """Return the command that shows a find again; what needs two plays needs `soak` itself."""
    if kind in CHECKS:
        return f"highwater soak --run {shlex.quote(run.text())}"
    return command_of(run)


def _chunks(
    seed: int, profiles: list[str], stored: Sequence[object], size: int
) -> Iterator[dict[str, object]]:
    first = 0
    while True:
        yield {
            "seed": seed,
            "first": first,
            "count": size,
            "profiles": profiles,
            "library": stored,
        }
        first += size


def _progress(soaking: Soak, seconds: float) -> str:
    pairs = len(set().union(*soaking.pairs.values()))
    return (
        f"{seconds:,.0f} s: {sum(soaking.runs.values()):,} runs, {soaking.steps:,} steps, "
        f"{pairs:,} pairs of rules, {len(soaking.finds)} found"
    )


def lines(report: SoakReport) -> Iterator[str]:
    yield "profile     runs  pairs of rules"
    for name, row in report["profiles"].items():
        yield f"{name:<9} {row['runs']:>6,} {row['pairs']:>9,}"
    for find in report["finds"]:
        yield f"\nfound in run {find['number']}: {find['kind']}: {find['why']}"
        yield f"  {find['again']}"
    yield (
        f"{report['runs']:,} runs, {report['steps']:,} steps, {report['pairs']:,} distinct pairs "
        f"of rules, {len(report['finds'])} found"
    )


def on_error_output(line: str) -> None:
    """Print progress to standard error, where it does not mix with the report."""
    print(line, file=sys.stderr, flush=True)
