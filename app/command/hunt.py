"""``highwater hunt``: storms under the newest releases."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from app.command.options import AS_JSON, MASTER, RELEASES, comma_separated, plain, seed_option, tell

if TYPE_CHECKING:
    from app.hunt.hunting import HuntRow


@click.command()
@click.argument("storms", nargs=-1, metavar="[STORM]...")
@click.option(
    "--runs", type=click.IntRange(1), default=1000, show_default=True, help="Runs per release."
)
@RELEASES
@seed_option("First seed.")
@MASTER
@click.option(
    "--hidden", is_flag=True, help="Put bugs of the past back; say in which run each is found."
)
@AS_JSON
@plain
def hunt(
    storms: tuple[str, ...],
    runs: int,
    profiles: str | None,
    seed: int,
    master: str | None,
    hidden: bool,
    as_json: bool,
) -> None:
    """Play storms under the newest releases, and explain each promise that a run broke.

    A storm is a small cluster to which everything happens at once: restarts, voters, disks, tier,
    groups, links, elections, mixed; all of them if none is named.  Each break is made short and
    matched with what is known.  The same command goes on where it was stopped.  A release with
    flipped flags (4.4.0-strict_min_isr) is judged by the promises of the release.

    Exit code 0 if everything found is explained, else 1.
    """
    if hidden:
        return tell_hidden(storms, runs, as_json)
    names = comma_separated(profiles)
    rows = play({"spark_master": master} if master else {}, storms, runs, names, seed)
    if as_json:
        tell(rows)
    else:
        click.echo("\n".join(lines(rows)))
    sys.exit(1 if any(not kind["kind"] for row in rows for kind in row["kinds"]) else 0)


def tell_hidden(storms: Sequence[str], runs: int, as_json: bool) -> None:
    """Print for each hidden bug the runs until a storm found it.  Raises InputError."""
    from concurrent.futures import ProcessPoolExecutor

    from engine.hunt.hidden import HIDDEN, found_in
    from engine.hunt.storms import NAMES, storm

    names = storms or NAMES
    for name in names:
        storm(name)
    with ProcessPoolExecutor() as workers:
        pending = {
            hidden: {name: workers.submit(found_in, name, hidden, runs) for name in names}
            for hidden in HIDDEN
        }
        results = [
            (hidden, {name: at.result() for name, at in futures.items()})
            for hidden, futures in pending.items()
        ]
    if as_json:
        rows = [
            {"bug": hidden.bug, "sick": hidden.sick, "found": by_world}
            for hidden, by_world in results
        ]
        tell({"most": runs, "hidden": rows})
        return
    for bug, counts in results:
        click.echo(f"{bug.bug} ({bug.sick})")
        for name, at in counts.items():
            in_words = "not played" if at is None else f"found in run {at:,}" if at else "not found"
            click.echo(f"  {name}: {in_words}")


def play(
    overrides: dict[str, str], storms: Sequence[str], runs: int, profiles: Sequence[str], seed: int
) -> list[HuntRow]:
    """Play the storms; return a row for each with each release.

    A study of the same storm, releases, seeds and engine that is there already is not played again,
    and one that was ended early goes on.  Raises InputError or RequestError for bad input.
    """
    from app.command.batch import studies
    from app.hunt.hunting import rows_of, specs_of, started

    specs = specs_of(storms, runs, profiles, seed)
    rows: list[HuntRow] = []
    with studies(overrides) as (jobs, progress):
        for name, spec in specs.items():
            print(f"Storm {name}: {spec.scenario.title}", file=sys.stderr)
            number = started(jobs, spec)
            jobs.wait(number, progress)
            progress.end()
            rows += rows_of(jobs, name, number)
    return rows


def lines(rows: Sequence[HuntRow]) -> Iterator[str]:
    """Yield a line for each storm and release, and below it the kinds with what repeats them."""
    from app.command.playing import command_of
    from app.web import display_names
    from engine.sim.run import Run

    for row in rows:
        broken, kafka = row["broken"], display_names.kafka(row["profile"])
        yield (
            f"{row['storm']}, {kafka}: {broken['hits']:,} of {row['runs']:,} runs broke a promise "
            f"({100 * broken['low']:.3g} to {100 * broken['high']:.3g} %)"
        )
        if row["errors"]:
            yield f"  {row['errors']:,} runs failed and count nowhere."
        for kind in row["kinds"]:
            broke = ", ".join(kind["invariants"])
            yield f"  {kind['verdict']}: {kind['title']} ({broke}; {kind['examined']} examined)"
            yield f"    {kind['why']}"
            yield f"    {kind['events']} events: {command_of(Run.from_text(kind['run']))}"
