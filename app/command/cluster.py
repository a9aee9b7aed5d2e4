"""`highwater cluster`: a run of what Kafka's tools print of a cluster."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO, Final

import click

from app.command.options import AS_JSON, plain

MOST_READ: Final = 1_000_000
"""Bytes of a paste: beyond 100,000 characters rows of healthy partitions are left out."""


@click.command()
@click.argument("file", type=click.File("rb"), default="-")
@click.option(
    "--kafka",
    "--profile",
    "profile",
    default="",
    help="Kafka release or profile to play [from the output].",
)
@click.option("--out", type=click.Path(dir_okay=False), help="File to write the run to, as YAML.")
@AS_JSON
@plain
def cluster(file: BinaryIO, profile: str, out: str | None, as_json: bool) -> None:
    """Make a run from the output of Kafka's tools, in FILE or on standard input.

    It reads kafka-topics.sh --describe, kcat -L, rpk, ZooKeeper, the JSON of user interfaces and
    more.  It lists its assumptions, each with the line that changes it.

    Exit code 0 if it could read every line, else 1; it prints the lines that it could not read.
    """
    from app.cluster.report import read_cluster

    text = file.read(MOST_READ).decode("utf-8-sig", "replace")
    sys.exit(read_cluster(text, profile, None if out is None else Path(out), as_json))
