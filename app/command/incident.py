"""`highwater incident`: what happened, from the files of a broken cluster."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from app.command.options import AS_JSON, plain


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--partition", default="", help="Partition, such as orders-0 [the only one that changed]."
)
@click.option(
    "--kafka",
    "--profile",
    "profile",
    default="",
    help="Kafka release or profile of the model [from the logs].",
)
@click.option("--out", type=click.Path(dir_okay=False), help="File to write the run to, as YAML.")
@AS_JSON
@plain
def incident(
    files: tuple[str, ...], partition: str, profile: str, out: str | None, as_json: bool
) -> None:
    """Report what happened to a partition, from the FILES of its brokers.

    FILES are files or directories: the metadata log, server.log, controller.log, state-change.log,
    checkpoints and segments, or the output of kafka-dump-log.  Write 2=server.log if a file is from
    broker 2.  The command changes, sends and stores nothing.

    Exit code 0 if the model reproduces every state, else 1; the finding names the first difference.
    """
    from app.incident.report import investigate

    where = None if out is None else Path(out)
    sys.exit(investigate(files, partition, profile, where, as_json))
