"""`highwater coverage`: how often the intervals that pages print hold a known truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from app.batch import coverage


def run_coverage(
    repetitions: int, seed: int, out: Path | None, tell: Callable[[Any], None] | None
) -> bool:
    """Measure, print and store the table, the worst first; return whether all hold."""
    cases = sorted(coverage.measured(repetitions, seed), key=lambda one: one.coverage)
    found = {"repetitions": repetitions, "seed": seed, "cases": coverage.case_rows(cases)}
    if tell is not None:
        tell(found)
    else:
        for one in cases:
            click.echo(f"{one.coverage:7.4f}  {one.interval:10}  {one.truth:24} n = {one.n}")
        least = coverage.worst(cases)
        click.echo(
            f"At least {least.coverage:.4f} of {repetitions} studies, in {len(cases)} cases."
        )
    if out is not None:
        out.write_text(json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    return coverage.worst(cases).coverage >= coverage.BAR
