"""Question "What if a broker dies now?": a matrix at a step, with a run behind each cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict

from app.core.refusals import RequestError
from app.questions.context import Context
from engine.sim.run import Run
from engine.study.what_if import KINDS, MOST_COLUMNS, Column, WhatIfCell, harm_of, what_if


class MatrixColumn(TypedDict):
    """Head of a column: the brokers that die, their rack if they fill it, and the run.

    `totals`: (kind, partitions) of all that is not well; `stops`: a partition stops.
    """

    brokers: list[str]
    rack: str
    totals: list[tuple[str, int]]
    stops: bool
    run: str


class DeathCell(TypedDict):
    """Outcome for a partition: its kind, its leader, and brokers of which one has to restart."""

    kind: str
    leader: str
    waits: list[str]


class MatrixRow(TypedDict):
    """A partition, and a cell for each column."""

    tp: int
    name: str
    cells: list[DeathCell]


@dataclass(frozen=True)
class Matrix:
    """The state that is asked about, and what each death does to each partition."""

    run: Run
    step: int
    partitions: tuple[int, ...]
    columns: list[MatrixColumn]
    rows: list[MatrixRow]
    full: bool
    """More deaths could be played than there are columns for."""


def matrix(context: Context, digest: str, step: int | None) -> Matrix:
    """Return the table of a run at a step; without one, at its end.

    Raises `RequestError` "gone" or "stale".  Every column's run is registered under its `digest`.
    """
    run = context.run = context.runs.run(digest)
    with context.runs.using(digest) as replay:
        at = replay.total if step is None else step
        if at > replay.total:
            raise RequestError("stale", run=digest, total=replay.total, step=at)
        here = replace(run, moves=replay.cut(at))
    partitions, columns = context.compute.apart(what_if, here)
    # The worst first: deaths of one broker, then of several.
    columns = sorted(columns, key=lambda column: column.harm, reverse=True)
    columns = sorted(columns, key=lambda column: min(2, len(column.brokers)))
    names = {spec.id: spec.label for spec in run.scenario.brokers}
    return Matrix(
        here,
        at,
        partitions,
        [_head(context, column, names, here) for column in columns],
        _rows(here, partitions, columns, names),
        len(columns) >= MOST_COLUMNS,
    )


def _head(context: Context, column: Column, names: dict[int, str], here: Run) -> MatrixColumn:
    """Return the head of a column, with the digest of its run."""
    played = replace(here, moves=(*here.lines(), *column.moves))
    return {
        "brokers": [names[node] for node in column.brokers],
        "rack": column.rack,
        "totals": [(kind, column.totals[kind]) for kind in KINDS[1:] if column.totals[kind]],
        "stops": column.stopped > 0,
        "run": context.runs.register(played),
    }


def _rows(
    here: Run, partitions: tuple[int, ...], columns: list[Column], names: dict[int, str]
) -> list[MatrixRow]:
    """Return the partitions, those that are offline in most columns first."""
    labels = here.simulation().cluster.names
    rows: list[MatrixRow] = [
        {
            "tp": tp,
            "name": labels[tp] if tp < len(labels) else str(tp),
            "cells": [_cell(column.cells[i], names) for column in columns],
        }
        for i, tp in enumerate(partitions)
    ]
    return sorted(
        rows, key=lambda row: harm_of(cell["kind"] for cell in row["cells"]), reverse=True
    )


def _cell(cell: WhatIfCell, names: dict[int, str]) -> DeathCell:
    waits = [names[one] for one in cell.waits if one in names]
    return {"kind": cell.kind, "leader": names.get(cell.leader, ""), "waits": waits}
