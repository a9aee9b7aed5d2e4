"""``highwater advise``: the durability advisor's table, replicas × racks × failures."""

from __future__ import annotations

import sys

import click

from app.command.options import AS_JSON, CANCELLED, comma_separated, plain, refuse, tell


@click.command()
@click.option("--factors", default="1,2,3", show_default=True, help="Replication factors.")
@click.option("--racks", default="1,3", show_default=True)
@click.option("--presets", default="usual,fleet,volumes", show_default=True, help="Failure rates.")
@click.option(
    "--kafka",
    "--profile",
    "profile",
    default="K39",
    show_default=True,
    help="Kafka release or profile.",
)
@click.option(
    "--within",
    type=click.IntRange(5, 100),
    default=50,
    show_default=True,
    help="Estimate each cell until its losses are known to ± this many %.",
)
@click.option(
    "--budget",
    type=click.FloatRange(1, 86_400),
    default=600,
    show_default=True,
    help="Maximum seconds per cell.",
)
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option("--estimate", is_flag=True, help="Print the expected duration only.")
@AS_JSON
@plain
def advise(
    factors: str,
    racks: str,
    presets: str,
    profile: str,
    within: int,
    budget: float,
    jobs: int,
    estimate: bool,
    as_json: bool,
) -> None:
    """Print how often settings lose acknowledged records: replicas × racks × failures.

    Settings have acks=all, clean elections, and min.insync.replicas one below the replicas.  The
    expected duration is printed first, and the formula (MTTDL) beside each estimate.  Ctrl+C ends
    the command with the results so far.

    Exit code 0 if every cell has the precision of --within, 3 if one has not, 130 after Ctrl+C.
    """
    from app.advisor.table import AdviceTable, cells, lines
    from engine.advisor.advice import PRESETS
    from engine.model.profiles import get_profile

    names = _listed(presets)
    unknown = [name for name in names if name not in PRESETS]
    if unknown:
        refuse(f"There is no preset {unknown[0][:40]}; there are: {', '.join(PRESETS)}.")
    rows = cells(
        names, _numbers("racks", racks), _numbers("factors", factors), get_profile(profile).name
    )
    table = AdviceTable(rows, within / 100, budget, jobs, lambda line: click.echo(line, err=True))
    whole = table.play(only_estimate=estimate)
    report = table.report()
    if as_json:
        tell({"profile": rows[0].setting.profile, "within": within / 100, "budget_s": budget,
              "jobs": jobs, "cells": report})  # fmt: skip
    elif not estimate:
        click.echo("\n".join(lines(report, within / 100)))
    settled = all(row["ended"] == "known" for row in report)
    sys.exit(CANCELLED if not whole else 0 if estimate or settled else 3)


def _listed(text: str) -> list[str]:
    found = list(dict.fromkeys(comma_separated(text)))
    if not found:
        refuse("An empty list gives an empty table: name at least one of each.")
    return found


def _numbers(what: str, text: str) -> list[int]:
    words = _listed(text)
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) < 3):
            refuse(f"--{what} is a list of whole numbers such as 1,3, and has {word[:40]!r}.")
    return [int(number) for number in words]
