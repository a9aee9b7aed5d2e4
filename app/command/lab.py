"""`highwater lab`: a run on real brokers, its table and its recording."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from app.lab import laboratory, recording, table
from app.lab.laboratory import Wish
from engine.sim.run import Run

CANCELLED = 130


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def play_on_brokers(wish: Wish, run: Run, out: Path | None, every: bool = False) -> int:
    """Plays, prints the table (of `every` fact, or in short) and writes the recording.

    The exit code: 0 where every fact and every expectation is as in the model, 1 where one is not,
    130 where it was cancelled.  Raises Trouble.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    try:
        made = laboratory.play(wish, run, _progress)
    except KeyboardInterrupt:
        files = f"their files are in {wish.keep}" if wish.keep else "their files removed"
        click.echo(f"Cancelled; the brokers are ended, {files}.", err=True)
        return CANCELLED
    rows = table.rows(made["steps"], laboratory.played_on(wish, run))
    click.echo("\n".join(table.lines(rows, wish.kafka, every)))
    unkept = [one for one in made["expectations"] if one["ok"] is False]
    for one in unkept:
        click.echo(f"Not as expected: {one['line']}; it is {one['real']}.")
    made["agree"] = sum(row.same for row in rows)
    made["differ"] = [
        [row.step, row.move, row.fact, row.real, row.model] for row in rows if not row.same
    ]
    path = out or Path(f"{made['scenario']}-{wish.kafka}.json")
    path.write_text(recording.text_of(made), "utf-8")
    click.echo(f"The recording is in {path}.")
    return 1 if unkept or made["differ"] else 0


def _progress(line: str) -> None:
    click.echo(line, err=True)
    sys.stderr.flush()
