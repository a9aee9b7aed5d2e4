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
@click.option("--profile", default="", help="Which Kafka is played [as the output suggests].")
@click.option("--out", type=click.Path(dir_okay=False), help="Where to write the run, as YAML.")
@AS_JSON
@plain
def cluster(file: BinaryIO, profile: str, out: str | None, as_json: bool) -> None:
    """Make a run of what Kafka's tools print of a cluster, in FILE or on standard input.

    kafka-topics.sh --describe, kcat -L, rpk, ZooKeeper, the JSON of user interfaces and more. What
    is assumed is listed, with the line that changes it.

    Exit code 0: every line was read; 1: some were not, and each is named.
    """
    from app.cluster.report import read_cluster

    text = file.read(MOST_READ).decode("utf-8-sig", "replace")
    sys.exit(read_cluster(text, profile, None if out is None else Path(out), as_json))
