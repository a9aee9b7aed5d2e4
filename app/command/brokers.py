"""The subcommands of `highwater` about real brokers: their recordings, and playing on them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from app.command.options import AS_JSON, plain, refuse, tell


@click.command()
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--table", is_flag=True, help="Print a table of scenarios and releases, as Markdown.")
@AS_JSON
@plain
def recordings(paths: tuple[str, ...], table: bool, as_json: bool) -> None:
    """Replay recordings of real brokers and compare every fact: files, or directories of them.

    Without PATHS it replays the recordings that come with the engine.  Exit code 0 only if every
    fact is equal, or the recording has the reason why it is not.
    """
    from app.command.recordings import lines, report
    from engine.recordings import reading
    from engine.recordings.comparing import compare

    if table:
        from app.lab.coverage import markdown

        click.echo("\n".join(markdown()))
        return
    loaded = reading.load(paths) if paths else reading.own()
    comparisons = [compare(recording) for recording in loaded]
    if as_json:
        tell(report(comparisons))
    else:
        click.echo("\n".join(lines(comparisons)))
    sys.exit(1 if any(comparison.different for comparison in comparisons) else 0)


@click.command()
@click.argument("scenario", required=False)
@click.option("--kafka", required=True, help="The release to start, such as 4.1.1 or 0.10.2.2.")
@click.option(
    "--random", "count", type=click.IntRange(1, 100_000), help="Number of random scripts to play."
)
@click.option(
    "--seed", type=click.IntRange(0, 2**31), default=1, help="Seed of the random scripts."
)
@click.option(
    "--minutes",
    type=click.FloatRange(0, 10_000),
    default=0,
    help="Start no script after this many minutes.",
)
@click.option(
    "--into",
    type=click.Path(file_okay=False),
    default="chance",
    show_default=True,
    help="Directory for results of random scripts; finished scripts are not played again.",
)
@click.option(
    "--quorum",
    type=click.IntRange(3, 5),
    help="Number of controllers for random scripts that cut off, kill and freeze them.",
)
@click.option("--moves", help="Moves to play instead of the script, separated by ; or new lines.")
@click.option("--out", type=click.Path(dir_okay=False), help="File to write the recording to.")
@click.option("--jars", type=click.Path(), help="Directory with the jars of that release.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False),
    help="Directory in which to keep the cluster's files.",
)
@click.option(
    "--port", type=click.IntRange(0, 65_000), default=0, help="First port of the cluster."
)
@click.option("--facts", is_flag=True, help="Print every fact, not only those that differ.")
@plain
def lab(
    scenario: str | None,
    kafka: str,
    count: int | None,
    seed: int,
    minutes: float,
    into: str,
    quorum: int | None,
    moves: str | None,
    out: str | None,
    jars: str | None,
    keep: str | None,
    port: int,
    facts: bool,
) -> None:
    """Play SCENARIO, or random scripts, on real brokers and compare them with the model.

    SCENARIO is as for `highwater run`.  The brokers listen on 127.0.0.1 only.  Their jars are in
    KAFKA_HOME or in --jars, or Maven downloads them once.  Ctrl+C stops the brokers and the
    command.

    Exit code 0 if after every move every fact is as in the model, else 1.
    """
    from app.command.lab import play_on_brokers, play_random
    from app.lab.laboratory import Wish
    from app.lab.trouble import LabError

    given = [None if name is None else Path(name) for name in (jars, keep, out)]
    from app.command.playing import run_of

    if (scenario is None) == (count is None):
        refuse("Name either a scenario or --random with a number of scripts.")
    if scenario is not None and quorum is not None:
        refuse("--quorum goes with --random.")
    if scenario is None or count is not None:
        unused = [name for name, value in (("--moves", moves), ("--out", out)) if value]
        if unused or facts or keep:
            refuse("--moves, --out, --keep and --facts go with a scenario, not with --random.")
        try:
            wish = Wish(kafka, given[0], None, port)
            sys.exit(play_random(wish, count or 0, seed, minutes, Path(into), quorum or 0))
        except LabError as trouble:
            refuse(str(trouble))
    run = run_of(scenario, None, 0, moves)
    try:
        sys.exit(play_on_brokers(Wish(kafka, given[0], given[1], port), run, given[2], facts))
    except LabError as trouble:
        refuse(str(trouble))


@click.command()
@click.option(
    "--scripts", default="", help="Codes of scenarios, separated by commas [those played before]."
)
@click.option(
    "--kafka", "releases", default="", help="Releases, separated by commas [those tried]."
)
@click.option(
    "--into",
    type=click.Path(file_okay=False),
    default="recordings",
    show_default=True,
    help="Directory for the recordings; those in it are compared, not played again.",
)
@click.option(
    "--port", type=click.IntRange(0, 65_000), default=0, help="First port of the cluster."
)
@plain
def record(scripts: str, releases: str, into: str, port: int) -> None:
    """Record scripts of the library on releases of Kafka, one pair after the other.

    It continues where it was stopped, and prints differences from the model, failures and a table.
    A pair takes one to two minutes.  Ctrl+C stops the brokers and keeps the finished recordings.

    Exit code 0 if no fact differs; 1 if one differs or a pair failed.
    """
    from app.command.lab import record_all
    from app.lab.laboratory import Wish
    from app.lab.trouble import LabError

    try:
        sys.exit(record_all(scripts, releases, Path(into), Wish("", port=port)))
    except LabError as trouble:
        refuse(str(trouble))
