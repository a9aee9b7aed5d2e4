"""Page of "What if a broker dies now?": a matrix at a step, with a run behind each cell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import Blueprint, render_template, request, url_for

from app.context import naming, visitor
from app.context.services import apart, services
from app.core.refusals import RequestError
from app.core.request_fields import typed
from engine.scenarios.translated import in_language
from engine.sim.run import Run
from engine.study.what_if import KINDS, STOPPED, Column, what_if

blueprint = Blueprint("what_if", __name__)

SIGNS = {"writes": "✔", "moves": "✔", "refused": "▲", "offline": "✖", "elr": "◆", "risk": "!"}


@blueprint.get("/r/<digest>/whatif")
def page(digest: str) -> str:
    """Render the table; ``?step=`` is where the brokers die, else the end.

    ``?part=1`` gives the table alone.
    """
    if not naming.DIGEST.match(digest):
        raise RequestError("not_found")
    run = services().replays.run(digest)
    with services().replays.using(digest) as replay:
        step = typed(request.args, "step", default=replay.total)
        if step > replay.total:
            raise RequestError("stale", run=digest, total=replay.total, step=step)
        here = replace(run, moves=replay.cut(step))
    tps, columns = apart(what_if, here)
    scenario = run.scenario
    names = {spec.id: spec.label for spec in scenario.brokers}
    template = "what_if_table.html" if "part" in request.args else "what_if.html"
    return render_template(
        template,
        title=in_language(scenario, visitor.lang()).title,
        back=url_for("pages.run", digest=digest, step=step),
        step=step,
        columns=[_column_json(column, names, here, step, tps) for column in columns],
        rows=_rows(here, tps, columns, names),
        kinds=KINDS,
        signs=SIGNS,
    )


def _column_json(
    column: Column, names: dict[int, str], here: Run, step: int, tps: tuple[int, ...]
) -> dict[str, Any]:
    """Return the head of a column, and the address of its run for each partition."""
    played = replace(here, moves=(*here.lines(), *column.moves))
    digest = services().replays.register(played)
    return {
        "brokers": [names[node] for node in column.brokers],
        "rack": column.rack,
        "totals": [(kind, column.totals[kind]) for kind in KINDS[1:] if column.totals[kind]],
        "stops": column.stopped > 0,
        "href": {
            tp: url_for("pages.run", digest=digest, step=step, p=tp or None, size="story", play=1)
            for tp in tps
        },
    }


def _rows(
    here: Run, tps: tuple[int, ...], columns: list[Column], names: dict[int, str]
) -> list[dict[str, Any]]:
    """Return the partitions, those that stop in most columns first."""
    labels = here.simulation().cluster.names
    rows = [
        {
            "tp": tp,
            "name": labels[tp] if tp < len(labels) else str(tp),
            "stops": sum(column.cells[i].kind in STOPPED for column in columns),
            "cells": [
                (column.cells[i].kind, names.get(column.cells[i].leader, "")) for column in columns
            ],
        }
        for i, tp in enumerate(tps)
    ]
    return sorted(rows, key=lambda row: (-row["stops"], row["tp"]))
