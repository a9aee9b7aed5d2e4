"""The poster of a study: one sentence, a row for each release, and what repeats the study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypedDict

from app.batch import records, wire
from app.batch.bounds import RUNS_HERE
from app.batch.result import finding_of
from app.batch.statistics import shown_share
from app.storage.database import Database
from app.storage.models import BatchRow
from app.web.display_names import Words, kafka
from engine.scenarios.scenario import Scenario
from engine.scenarios.writing import yaml_of
from engine.study.batch import LOST, UNPROMISED

ROWS_MOST: Final = 16
"""Rows of a poster; the table of all counts has the others."""


class PosterRow(TypedDict):
    """A release in a cell; `kind` is the worst that became of its runs, `url` opens one of them.

    `others` are the names of other invariants that were broken.
    """

    profile: str
    label: str
    n: int
    lost: wire.Waited
    gone: wire.Waited
    others: list[str]
    kind: str
    url: str


class Poster(TypedDict):
    said: list[wire.StudyFinding]
    rows: list[PosterRow]
    left: int


def poster(database: Database, batch: BatchRow, cells: list[wire.CellJson]) -> Poster:
    """Return the poster; `left` counts the rows that it leaves out."""
    played = [cell for cell in cells if cell["n"]]
    rows = [_row(database, batch, cell) for cell in played[:ROWS_MOST]]
    return {"said": _said(played), "rows": rows, "left": max(0, len(played) - ROWS_MOST)}


def _said(cells: list[wire.CellJson]) -> list[wire.StudyFinding]:
    """Return the sentence on the release that lost most, and one on the others."""
    if not cells:
        return []
    worst = max(cells, key=lambda cell: _count(cell, LOST)["share"] or 0.0)
    said = [finding_of(worst, LOST)]
    others = [cell for cell in cells if cell is not worst]
    if others:
        losing = sum(bool(_count(cell, LOST)["hits"]) for cell in others)
        key = "some" if losing else "none" if len(others) > 1 else "one"
        args = {"n": len(others), "losing": losing}
        said.append({"key": f"poster.rest.{key}", "args": args, "bad": None, "first": False})
    return said


def _row(database: Database, batch: BatchRow, cell: wire.CellJson) -> PosterRow:
    names = [name for name, count in cell["broken"].items() if count["hits"]]
    others = [name for name in names if name not in (LOST, UNPROMISED)]
    kinds = (("lost", [LOST]), ("gone", [UNPROMISED]), ("broken", others))
    kind, broken = next(
        ((kind, members) for kind, members in kinds if {*members} & {*names}), ("held", [])
    )
    return {
        "profile": cell["profile"],
        "label": cell["label"],
        "n": cell["n"],
        "lost": _count(cell, LOST),
        "gone": _count(cell, UNPROMISED),
        "others": others,
        "kind": kind,
        "url": _shortest(database, batch, cell, broken),
    }


def _count(cell: wire.CellJson, name: str) -> wire.Waited:
    return cell["broken"].get(name) or cell["unseen"]


def _shortest(database: Database, batch: BatchRow, cell: wire.CellJson, broken: list[str]) -> str:
    """Return the address of the shortest run that broke one of these, or else of the first run."""
    place = batch.id, cell["profile"], cell["cell"]
    for name in broken:
        shortest_first = records.FailureFilter(cell["profile"], name, cell["cell"], "step")
        for failure in records.failures(database, batch, shortest_first, 0, 1)[1]:
            return records.row_path(*place, failure.seed, name)
    return records.row_path(*place, batch.first_seed)


def markdown_table(rows: list[PosterRow], words: Words, source: str) -> str:
    """Return the rows as a table of Markdown, with the source below it."""
    varied = any(row["label"] for row in rows)
    keys = ["batch.col.profile", *(["batch.col.cell"] if varied else []), "batch.col.n"]
    keys += ["poster.lost", "batch.col.interval", "poster.gone"]
    lines = [[words(key) for key in keys], ["---"] * len(keys)]
    for row in rows:
        ends = f"{shown_share(row['lost']['low'])} – {shown_share(row['lost']['high'])}"
        name = [kafka(row["profile"]), *([row["label"]] if varied else [])]
        lines.append(
            [*name, f"{row['n']}", f"{row['lost']['hits']}", ends, f"{row['gone']['hits']}"]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{source}"


def notebook_cell(batch: BatchRow, scenario: Scenario, is_named: bool) -> str:
    """Return the cell of a notebook that plays the same runs again.

    A scenario that is not of the library is written to a file first.
    """
    name = scenario.slug if is_named else "study.yaml"
    lines = [] if is_named else [f"open({name!r}, 'w').write({yaml_of(scenario)!r})"]
    axes = varied(batch)
    if axes or batch.runs > RUNS_HERE:
        more = "".join(f" --vary {key}={','.join(values)}" for key, values in axes.items())
        options = f"--runs {batch.runs} --seed {batch.first_seed}{more}"
        lines.append(f"!highwater batch {name} --kafka {','.join(batch.profiles)} {options}")
    else:
        seeds = f"runs={batch.runs}, seed={batch.first_seed}"
        lines += ["import highwater", f"highwater.study({name!r}, kafka={batch.profiles}, {seeds})"]
    return "\n".join(lines)


def varied(batch: BatchRow) -> Mapping[str, list[str]]:
    """Return the values of each setting that the study varies."""
    axes: dict[str, dict[str, None]] = {}
    for cell in batch.cells:
        for key, value in cell["values"].items():
            axes.setdefault(key, {})[value] = None
    return {key: list(values) for key, values in axes.items()}
