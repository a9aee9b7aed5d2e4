"""`highwater incident`: what happened, from the files of a broken cluster."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from app.command.options import AS_JSON, plain


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--partition", default="", help="Such as orders-0 [the only one that changed].")
@click.option("--profile", default="", help="Which Kafka the model plays [as the logs say].")
@click.option("--out", type=click.Path(dir_okay=False), help="Where to write the run, as YAML.")
@AS_JSON
@plain
def incident(
    files: tuple[str, ...], partition: str, profile: str, out: str | None, as_json: bool
) -> None:
    """Report what happened to a partition, from the FILES that brokers leave behind.

    FILES, or directories of them: the metadata log or its dump, server.log, controller.log,
    state-change.log, checkpoints and segments, or what kafka-dump-log prints of them. 2=server.log
    says that a file is broker 2's. Nothing is changed, sent or stored.

    Exit code 0: the model follows to the end; 1: it does not, and the finding says where.
    """
    from app.incident.report import investigate

    where = None if out is None else Path(out)
    sys.exit(investigate(files, partition, profile, where, as_json))
