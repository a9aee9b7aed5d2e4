"""``python3 -m tests.saturation``: whether more seeds bring anything new."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

import click

from app.command.options import AS_JSON, plain, tell
from engine.model.profiles import get_profile
from engine.scenarios.file import find
from tests.saturation.study import study

NAMES: Final = {"fixed": "all faults", "swarm": "swarm"}
SEEDS_MOST: Final = 10_000_000


def lines(report: dict[str, Any]) -> Iterator[str]:
    """Yield the report as text: the curve of both plans, and a paragraph of each."""
    plans = report["plans"]
    yield f"{'seeds':>10}" + "".join(f"  {NAMES[name]:>10}" for name in plans)
    for rows in zip(*(one["curve"] for one in plans.values()), strict=True):
        yield f"{rows[0][0]:>10,}" + "".join(f"  {pairs:>10,}" for _, pairs in rows)
    for name, one in plans.items():
        yield ""
        yield from _of_plan(NAMES[name], one)
    yield ""
    for kind, found in report["faults"].items():
        (many, broke), (others, rest) = found["with"], found["without"]
        yield (
            f"swarm with {kind}: {broke:,} of {many:,} runs broke something; "
            f"without: {rest:,} of {others:,}"
        )
    if not report["whole"]:
        yield f"\nEnded early, after {report['seeds']:,} seeds."


def _of_plan(name: str, one: dict[str, Any]) -> Iterator[str]:
    unseen, equal = one["unseen"], one["at_equal_cost"]
    yield (
        f"{name}: {one['runs']:,} seeds met {one['pairs']:,} pairs of rules in "
        f"{one['cpu_s']:,.1f} CPU-s; {one['only_here']:,} of them only here."
    )
    yield (
        f"  {one['once']:,} pairs were met by one seed, {one['twice']:,} by two: the next seed "
        f"brings {one['next']:.2g} new pairs on average, as many seeds again about "
        f"{one['as_many_more']:.0f}."
    )
    yield (
        f"  Of what such seeds can meet at least about {unseen['least']:.0f} pairs are still "
        f"unseen ({unseen['low']:.0f} – {unseen['high']:.0f}). That is a bound from below: what is "
        "far rarer, or needs another setting, is not in it."
    )
    if one["half"]:
        half = one["half"]
        yield (
            f"  Tried on itself: the first {half['seeds']:,} seeds let expect "
            f"{half['expected']:.0f} new pairs of the rest, which brought {half['brought']:,}."
        )
    yield (
        f"  In {equal['cpu_s']:,.1f} CPU-s, which the cheaper plan took: {equal['runs']:,} seeds, "
        f"{equal['pairs']:,} pairs, {equal['broken']:,} runs that broke something."
    )
    yield (
        f"  {one['broken']:,} runs broke something, {one['broken_per_cpu_s']:.2g} a CPU-s"
        + "".join(
            f"; {invariant} first in {found['runs']:,}, such as seed {found['seeds'][0]}"
            for invariant, found in one["invariants"].items()
        )
        + "."
    )
    if one["failed"]:
        first = one["errors"][0]
        yield f"  {one['failed']:,} could not be played: seed {first['seed']}: {first['why']}"


@click.command()
@click.argument("scenario")
@click.option("--seeds", type=click.IntRange(1, SEEDS_MOST), default=1_000, show_default=True)
@click.option("--profile", help="Which Kafka [the scenario's first].")
@click.option("--seed", type=click.IntRange(0, 2**52), default=0, show_default=True, help="First.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True)
@AS_JSON
@plain
def saturation(
    scenario: str, seeds: int, profile: str | None, seed: int, jobs: int, as_json: bool
) -> None:
    """Play SCENARIO over many seeds and count new pairs of successive rules.

    Each seed is played twice: with all faults of the plan, and as a swarm, with a part of their
    kinds that the seed draws.  What it costs is said before; Ctrl+C ends it with what it has.

    Exit code 0; 1 if a run could not be played.
    """
    found = find(scenario)
    name = get_profile(profile or found.profiles[0]).name
    report = study(found, name, seed, seeds, jobs, lambda line: click.echo(line, err=True))
    report = {"scenario": found.code or found.title, "profile": name, **report}
    if as_json:
        tell(report)
    else:
        click.echo("\n".join(lines(report)))
    sys.exit(1 if any(one["failed"] for one in report["plans"].values()) else 0)


if __name__ == "__main__":
    saturation()
