"""The library as a table of verdicts in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from engine.scenarios.scenario import Scenario
from engine.study.matrix import MatrixCell, matrix


def tell_matrix(scenarios: Iterable[Scenario], as_json: Callable[[Any], None] | None) -> bool:
    """Play everything and print the table, or pass it to `as_json`; return whether all holds."""
    chosen = list(scenarios)
    played = matrix(chosen)
    clean = not any(cell.complaints for row in played.values() for cell in row.values())
    if as_json is not None:
        as_json(
            {
                slug: {name: _plain(cell) for name, cell in row.items()}
                for slug, row in played.items()
            }
        )
        return clean
    codes = {scenario.slug: scenario.code for scenario in chosen}
    for slug, row in played.items():
        cells = "  ".join(f"{name} {result.text()}" for name, result in row.items())
        click.echo(f"{codes[slug] or '-':<5} {slug:<38} {cells}")
    for slug, row in played.items():
        for name, cell in row.items():
            for complaint in cell.complaints:
                click.echo(f"! {slug} under {name}: {complaint}")
    pairs = sum(len(row) for row in played.values())
    click.echo(
        f"{len(played)} scenarios, {pairs} pairs of scenario and profile, "
        + ("every promise kept." if clean else "some promises broken.")
    )
    return clean


def _plain(cell: MatrixCell) -> Mapping[str, object]:
    return {
        "broken": list(cell.broken),
        "statistical": cell.statistical,
        "complaints": list(cell.complaints),
    }
