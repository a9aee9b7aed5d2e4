"""`highwater lab` and `highwater record`: runs on real brokers, their tables and recordings."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from app.command import recordings
from app.command.options import CANCELLED, comma_separated
from app.lab import laboratory, nightly, random_script, recording, table
from app.lab.laboratory import Wish
from app.lab.playing import NO_QUORUM
from app.lab.random_play import (
    DIFFERS,
    FAILED,
    QUORUM,
    RandomPlayer,
    RandomResults,
    RandomScripts,
    summary,
)
from app.lab.random_quorum import QuorumScripts
from app.lab.random_script import BROKERS
from app.lab.releases import release_of
from app.lab.script_cluster import ScriptCluster
from app.lab.trouble import LabError
from engine.sim.run import Run


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _end_by_signals() -> None:
    """End the brokers first when a signal ends this process."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def play_on_brokers(wish: Wish, run: Run, out: Path | None, every: bool = False) -> int:
    """Play, print the table (of `every` fact, or in short) and write the recording.

    The exit code: 0 where every fact and every expectation is as in the model, 1 where one is not,
    130 where it was cancelled.  Raises LabError.
    """
    _end_by_signals()
    try:
        made = laboratory.play(wish, run, _progress)
    except KeyboardInterrupt:
        files = f"their files are in {wish.keep}" if wish.keep else "their files removed"
        click.echo(f"Cancelled; the brokers are ended, {files}.", err=True)
        return CANCELLED
    rows = table.compared(made, run)
    click.echo("\n".join(table.lines(rows, wish.kafka, every)))
    unkept = [expectation for expectation in made["expectations"] if expectation["ok"] is False]
    for missed in unkept:
        click.echo(f"Not as expected: {missed['line']}; it is {missed['real']}.")
    made["differ"] = table.differing(rows)
    path = out or Path(f"{made['scenario']}-{wish.kafka}.json")
    path.write_text(recording.text_of(made), "utf-8")
    click.echo(f"The recording is in {path}.")
    return 1 if unkept or made["differ"] else 0


def record_all(scripts: str, releases: str, into: Path, wish: Wish) -> int:
    """Record scripts x releases and print what differs, what failed and the table.

    The exit code: 0 where nothing is different, 1 where something is or failed, 130 where it was
    cancelled; what was recorded by then is kept.  Raises InputError and LabError.
    """
    _end_by_signals()
    codes, versions = comma_separated(scripts.upper()), comma_separated(releases)
    outcomes: list[nightly.NightOutcome] = []
    began = time.monotonic()
    cancelled = False
    try:
        for outcome in nightly.record(
            codes or nightly.usual_scripts(),
            versions or nightly.usual_releases(),
            into,
            wish,
            _progress,
        ):
            outcomes.append(outcome)
            if outcome.why and outcome.playable:
                _progress(f"{outcome.scenario} on Kafka {outcome.kafka}: {outcome.why}")
    except KeyboardInterrupt:
        cancelled = True
        click.echo("Cancelled; the brokers are ended. The same command goes on.", err=True)
    click.echo("\n".join(_summary(outcomes)))
    click.echo(f"{time.monotonic() - began:.0f} s; the recordings are in {into}.")
    if cancelled:
        return CANCELLED
    return 0 if all(outcome.good for outcome in outcomes) else 1


def play_random(
    wish: Wish, count: int, seed: int, minutes: float, into: Path, voters: int = 0
) -> int:
    """Play random scripts, of brokers or of a quorum, keep what differs and print a table.

    The exit code: 0 where every script is as the model, 1 where one differs or failed, 130 where it
    was cancelled; what was played by then is kept.  Raises LabError.
    """
    _end_by_signals()
    release = release_of(wish.kafka)
    if voters and not release.kraft:
        raise LabError(NO_QUORUM)
    into = into / f"{QUORUM}{voters}" if voters else into
    cancelled = False
    deadline = time.monotonic() + minutes * 60 if minutes else float("inf")
    RandomResults.load(into, release.version, seed)  # a file that is no result is reported first
    try:
        scripts: RandomScripts = QuorumScripts(voters) if voters else random_script
        with ScriptCluster(wish, list(BROKERS), _progress, voters) as cluster:
            player = RandomPlayer(cluster, release, seed, into, _progress, scripts, deadline)
            for _ in player.play(count):
                pass
    except KeyboardInterrupt:
        cancelled = True
        click.echo("Cancelled; the brokers are ended. The same command goes on.", err=True)
    results = RandomResults.load(into, release.version, seed)
    click.echo("\n".join(summary(results)))
    click.echo(f"The results and what differs are in {into}.")
    if cancelled:
        return CANCELLED
    bad = any(row.outcome in (DIFFERS, FAILED) for row in results.scripts.values())
    return 1 if bad else 0


def _summary(outcomes: list[nightly.NightOutcome]) -> Iterator[str]:
    yield from recordings.lines([result.comparison for result in outcomes if result.comparison])
    for outcome in outcomes:
        if outcome.why:
            word = "failed" if outcome.playable else "not playable"
            yield f"{outcome.scenario} on Kafka {outcome.kafka} {word}: {outcome.why}"


def _progress(line: str) -> None:
    click.echo(line, err=True)
    sys.stderr.flush()
