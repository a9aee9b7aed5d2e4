"""``python3 -m tests.storm``: seed after seed, in a few processes, and the broken promises."""

from __future__ import annotations

import hashlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from app.batch.processes import BatchWorkers
from app.command.options import AS_JSON, plain, refuse, tell

if TYPE_CHECKING:  # a storm takes the whole server with it: no other command shall
    from tests.storm.storm import StormOutcome


def storms(
    seeds: int, first: int, jobs: int, kinds: Sequence[str], told: Callable[[str], None]
) -> dict[str, Any]:
    """Play these seeds and sum them up; report each as it ends."""
    from tests.storm.storm import play

    began = time.monotonic()
    found: list[StormOutcome] = []
    with BatchWorkers(jobs) as processes:
        waiting = [processes.submit(play, seed, kinds) for seed in range(first, first + seeds)]
        for one in as_completed(waiting):
            outcome = one.result()
            found.append(outcome)
            for promise, how in outcome.broken[:3]:
                told(f"seed {outcome.seed}: not kept: {promise}: {how}")
            if len(found) % 10 == 0:
                told(f"{time.monotonic() - began:,.0f} s: {len(found)} of {seeds} seeds")
    return summed(sorted(found, key=lambda one: one.seed), time.monotonic() - began)


def summed(found: Sequence[StormOutcome], seconds: float) -> dict[str, Any]:
    """Return the whole, as one JSON object."""
    from tests.storm.ledger import PROMISES

    faults: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    for one in found:
        faults.update(one.faults)
        counts.update(one.counts)
        broken.update({promise for promise, _ in one.broken})
    return {
        "seeds": len(found),
        "first": found[0].seed if found else 0,
        "seconds": round(seconds, 1),
        "virtual_s": round(sum(one.virtual_s for one in found)),
        "faults": dict(sorted(faults.items())),
        "counts": dict(sorted(counts.items())),
        "promises": {promise: broken[promise] for promise in PROMISES},
        "worst_p99_ms": round(max((one.p99_ms for one in found), default=0.0), 1),
        "most_live_mib": round(max((one.live_mib for one in found), default=0.0), 1),
        "broken": [
            {"seed": one.seed, "promise": promise, "how": how}
            for one in found
            for promise, how in one.broken
        ],
        "stories": digest(found),
    }


def digest(found: Iterable[StormOutcome]) -> str:
    """Return the digest of all stories: the same seeds give the same."""
    told = "\n".join(line for one in found for line in (str(one.seed), *one.story))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def lines(report: dict[str, Any]) -> Iterator[str]:
    """Yield the report as text."""
    total = sum(report["faults"].values())
    yield f"{total} faults in {report['seeds']} storms, {report['virtual_s']:,} s of virtual time:"
    for kind, count in report["faults"].items():
        yield f"  {kind:<20} {count:>6,}"
    counts = report["counts"]
    yield (
        f"meanwhile {counts.get('steps', 0):,} steps, {counts.get('saves', 0):,} saves that were "
        f"acknowledged, {counts.get('studies', 0):,} studies"
    )
    for promise, seeds in report["promises"].items():
        yield f"  {promise}: {'kept' if not seeds else f'NOT KEPT in {seeds} storms'}"
    yield (
        f"worst p99 of an honest step {report['worst_p99_ms']} ms (virtual), most live runs "
        f"{report['most_live_mib']} MiB, {report['seconds']} s, stories {report['stories']}"
    )


@click.command()
@click.option("--seeds", type=click.IntRange(1, 100_000), default=20, show_default=True)
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option("--faults", default="", help="Kinds, separated by commas [all of them].")
@click.option("--story", is_flag=True, help="Tells one seed line by line.")
@click.option("--out", type=click.Path(dir_okay=False), help="Write the report as JSON.")
@AS_JSON
@plain
def storm(
    seeds: int, seed: int, jobs: int, faults: str, story: bool, out: str | None, as_json: bool
) -> None:
    """Play the server itself under faults: kills, locks, full disks, attacks, clocks that jump.

    The application is the real one; time is virtual, and every fault is drawn from the seed.  After
    each fault the promises are checked: what was acknowledged stays, no visitor sees what belongs
    to another, honest steps stay quick, no address takes more than its share, and all mends by
    itself.

    Exit code 0 if every promise was kept, 1 otherwise.
    """
    from tests.storm.faults import FAULTS
    from tests.storm.storm import play

    kinds = [kind.strip() for kind in faults.split(",") if kind.strip()]
    unknown = [kind for kind in kinds if kind not in FAULTS]
    if unknown:
        refuse(f"There is no fault {unknown[0]!r}; known are: {', '.join(FAULTS)}.")
    if story:
        outcome = play(seed, kinds)
        click.echo("\n".join([*outcome.story, *(f"not kept: {one}" for one in outcome.broken)]))
        sys.exit(1 if outcome.broken else 0)
    report = storms(seeds, seed, jobs, kinds, lambda line: click.echo(line, err=True))
    if out:
        Path(out).write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2) + b"\n")
    if as_json:
        tell(report)
    else:
        click.echo("\n".join(lines(report)))
    sys.exit(1 if report["broken"] else 0)


if __name__ == "__main__":
    storm()
