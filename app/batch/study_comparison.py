"""Comparison of two studies: common cells, differences, and the findings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from app.batch import records, statistics, wire
from app.batch.jobs import Jobs
from app.batch.result import metrics_of, place
from app.batch.runners.plan import BatchPlan
from app.batch.runners.rows import ANY, chunks_on_disk, read_chunks
from app.core.memoize import last
from app.storage.models import BatchRow
from engine.model.json_types import Json
from engine.study.batch import LOST

ROWS_MOST: Final = 200_000
"""Runs of both studies together: reading them takes about a second."""
KEPT: Final = 16
PAIRED_KEPT: Final = 1_024

Pairs = dict[str, statistics.Paired]
"""By invariant; one that neither broke is not in it."""
Broken = dict[int, frozenset[str]]


@dataclass(frozen=True)
class Rows:
    """Location of the rows of one profile and cell of a study."""

    directory: str
    cells: int
    profiles: tuple[str, ...]
    runs: int
    first_seed: int
    chunk_runs: int
    parts: tuple[int, ...]
    done_chunks: int
    profile: str
    cell: int

    @staticmethod
    def of(directory: str, batch: BatchRow, profile: str, cell: int) -> Rows:
        return Rows(
            directory,
            len(batch.cells),
            tuple(batch.profiles),
            batch.runs,
            batch.first_seed,
            batch.cells[0].get("chunk_runs", 0),
            tuple(batch.parts),
            batch.done_chunks,
            profile,
            cell,
        )

    def broken(self, first: int, last: int) -> Broken:
        """Return what each played seed broke; runs that failed themselves are left out."""
        if not self.chunk_runs:
            return {}
        nothing: tuple[dict[str, Any], ...] = ({},) * self.cells
        plan = BatchPlan(
            nothing, self.profiles, self.runs, self.first_seed, self.chunk_runs, (), self.parts
        )
        chunks = {
            chunk.number
            for chunk in plan.chunks()
            if (chunk.profile, chunk.cell) == (self.profile, self.cell)
            and chunk.first_seed <= last
            and chunk.first_seed + chunk.runs > first
        }
        by_seed: Broken = {}
        there = chunks & chunks_on_disk(self.directory)
        columns = ["seed", "verdict", "broken"]
        for row in read_chunks(self.directory, there, columns, (first, last)):
            if row["verdict"] != "error":
                names = {breach["invariant"] for breach in row["broken"]}
                by_seed[row["seed"]] = frozenset(
                    names | {ANY} if row["verdict"] == "violates" else names
                )
        return by_seed


def common_seeds(a: BatchRow, b: BatchRow) -> tuple[int, int] | None:
    """Return (first, last) of the seeds that both were asked to play."""
    first = max(a.first_seed, b.first_seed)
    last = min(a.first_seed + a.runs, b.first_seed + b.runs) - 1
    return (first, last) if first <= last else None


@last(PAIRED_KEPT)
def paired(a: Rows, b: Rows, first: int, last: int) -> Pairs:
    """Return the table of the seeds both played, for every invariant that either broke, and any."""
    mine, theirs = a.broken(first, last), b.broken(first, last)
    common = mine.keys() & theirs.keys()
    masks: dict[str, Counter[int]] = {}
    for seed in common:
        for name in mine[seed] | theirs[seed]:
            mask = (name in mine[seed]) + 2 * (name in theirs[seed])
            masks.setdefault(name, Counter())[mask] += 1
    if common:
        masks.setdefault(ANY, Counter())
    for counts in masks.values():
        counts[0] = len(common) - counts.total()
    return {name: statistics.paired(counts, 0, 1) for name, counts in masks.items()}


TOLD_BESIDE: Final = frozenset(
    ("slug", "code", "title", "origin", "difficulty", "teaches", "tags", "profiles", "expect")
)
"""What of a scenario no run depends on."""
DIFFERENCES_MOST: Final = 40
VALUE_CHARS: Final = 160
SENTENCES_MOST: Final = 8


def compared(jobs: Jobs, a: BatchRow, b: BatchRow) -> Json:
    """Return the comparison of two studies.

    It has {lines: differences of the scenarios, remarks, cells: the common ones, metrics,
    sentences}.  `difference` is the share of the second study minus that of the first.
    """
    matched = common_cells(a, b)
    seen = [
        {(cell["profile"], cell["cell"]): cell for cell in jobs.snapshot(batch.id)["cells"]}
        for batch in (a, b)
    ]
    profiles = [name for name in a.profiles if name in b.profiles]
    cells = []
    for i, j, equal in matched if a.kind == b.kind else ():
        for profile in profiles:
            first, two = seen[0].get((profile, i)), seen[1].get((profile, j))
            if first and two and first["n"] and two["n"]:
                cells.append(_cell(jobs, a, b, first, two, equal))
    return {
        "lines": scenario_lines(a, b),
        "remarks": remarks(a, b, profiles, matched, cells),
        "cells": cells,
        "sentences": _sentences(cells),
        "metrics": _metrics(jobs, a, b, cells),
    }


# -- what they have in common --------------------------------------------------------------------


def conditions(scenario: Mapping[str, Any]) -> str:
    """Return the parts of a scenario on which a run depends."""
    kept = {name: value for name, value in scenario.items() if name not in TOLD_BESIDE}
    return json.dumps(kept, sort_keys=True)


def common_cells(a: BatchRow, b: BatchRow) -> list[tuple[int, int, bool]]:
    """Return (cell of a, cell of b, same), matched by equal conditions, then by equal names.

    Cells without varied values have equal names, so studies of two scenarios are matched by them.
    """
    of_b = [conditions(records.subject(b, cell)) for cell in range(len(b.cells))]
    labels = [cell["label"] for cell in b.cells]
    pairs = []
    for i, cell in enumerate(a.cells):
        mine = conditions(records.subject(a, i))
        if mine in of_b:
            pairs.append((i, of_b.index(mine), True))
        elif cell["label"] in labels:
            pairs.append((i, labels.index(cell["label"]), False))
    return pairs


def scenario_lines(a: BatchRow, b: BatchRow) -> list[Json]:
    """Return {where, a, b} for each difference of the scenarios, about forty at most."""
    mine, theirs = (dict(_flat(json.loads(batch.scenario_text))) for batch in (a, b))
    every = dict.fromkeys([*mine, *theirs])
    places = [name for name in every if mine.get(name) != theirs.get(name)]
    return [
        {"where": name, "a": mine.get(name, ""), "b": theirs.get(name, "")}
        for name in places[:DIFFERENCES_MOST]
    ]


def _flat(scenario: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the leaves of an object by path: configs.acks, faults 1.mtbf_ms, script 3."""
    for name, value in scenario.items():
        if name == "script":
            for number, line in enumerate(value.splitlines(), 1):
                yield f"script {number}", line[:VALUE_CHARS]
        elif name not in TOLD_BESIDE:
            yield from _leaves(name, value)


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(f"{path}.{name}", inner)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, inner in enumerate(value, 1):
            yield from _leaves(f"{path} {number}", inner)
    else:
        text = value if isinstance(value, str) else json.dumps(value)
        yield path, text[:VALUE_CHARS]


def remarks(
    a: BatchRow,
    b: BatchRow,
    profiles: list[str],
    matched: list[tuple[int, int, bool]],
    cells: list[Json],
) -> list[Json]:
    """Return what can and cannot be compared, as keys of the catalogue with their values."""
    if a.kind != b.kind:
        return [_sentence("kinds")]
    if not profiles:
        return [_sentence("profiles")]
    if not matched:
        return [_sentence("cells")]
    sentences = []
    if not cells:
        sentences.append(_sentence("nothing"))
    if any(not equal for _, _, equal in matched):
        sentences.append(_sentence("scenarios"))
    if a.engine_version != b.engine_version:
        sentences.append(_sentence("engines", a=a.engine_version, b=b.engine_version))
    seeds = common_seeds(a, b)
    if seeds and any(cell["same"] for cell in cells):
        sentences.append(_sentence("same", first=seeds[0], last=seeds[1]))
    elif seeds and any(row["paired"] for cell in cells for row in cell["rows"]):
        sentences.append(_sentence("paired", first=seeds[0], last=seeds[1]))
    elif seeds and any("effective" in cell["rows"][0][side] for cell in cells for side in "ab"):
        sentences.append(_sentence("weighted"))
    elif seeds is None:
        sentences.append(_sentence("apart"))
    left = len(a.cells) + len(b.cells) - 2 * len(matched)
    if left:
        sentences.append(_sentence("left", n=left))
    return sentences


def _sentence(key: str, **args: Any) -> Json:
    return {"key": f"study.remark.{key}", "args": args}


# -- counts --------------------------------------------------------------------------------------


def _cell(
    jobs: Jobs, a: BatchRow, b: BatchRow, first: wire.CellJson, two: wire.CellJson, equal: bool
) -> Json:
    seeds = common_seeds(a, b)
    # With equal conditions and an equal engine, every run of a shared seed is equal.
    same = equal and seeds is not None and a.engine_version == b.engine_version
    weighted = any("effective" in cell["unseen"] for cell in (first, two))
    pairs: Pairs = {}
    rows_of_all = sum(batch.runs * len(batch.profiles) * len(batch.cells) for batch in (a, b))
    if seeds and rows_of_all <= ROWS_MOST and not same and not weighted:
        pairs = paired(
            Rows.of(jobs.directory(a.id), a, first["profile"], first["cell"]),
            Rows.of(jobs.directory(b.id), b, two["profile"], two["cell"]),
            *seeds,
        )
    names = sorted({LOST, *first["broken"], *two["broken"]}, key=place)
    some = pairs.get(ANY)
    # Seeds at which neither broke an invariant are pairs as well.
    fine = some and statistics.Paired(some.n, 0, 0, 0)
    rows = [_row("", first["violating"], two["violating"], same, some)]
    for name in names:
        counts = [cell["broken"].get(name) or cell["unseen"] for cell in (first, two)]
        rows.append(_row(name, counts[0], counts[1], same, pairs.get(name, fine)))
    return {
        "profile": first["profile"],
        "a": first["label"],
        "b": two["label"],
        "cell_a": first["cell"],
        "cell_b": two["cell"],
        "same": same,
        "rows": rows,
    }


def _row(
    invariant: str, a: wire.Waited, b: wire.Waited, same: bool, pair: statistics.Paired | None
) -> Json:
    """Return both counts of an invariant; equal runs have no `difference`."""
    table, phi = None, 0.0
    if pair is not None:
        table = {**asdict(pair), "p": pair.p}
        phi = pair.phi if pair.n == a["n"] == b["n"] else 0.0
    difference = None
    if not same:
        interval = statistics.difference(a, b, phi)
        difference = dict(zip(("share", "low", "high"), interval, strict=True))
    return {"invariant": invariant, "a": a, "b": b, "difference": difference, "paired": table}


def _sentences(cells: list[Json]) -> list[Json]:
    """Return sentences on lost records, cell by cell: more, fewer, or undecided."""
    said = []
    for cell in cells:
        row = next(entry for entry in cell["rows"] if entry["invariant"] == LOST)
        change = row["difference"]
        if change is None:
            continue
        kind = "more" if change["low"] > 0 else "less" if change["high"] < 0 else "open"
        ends = [change["low"], change["high"]]
        if kind == "less":
            ends = [-change["high"], -change["low"]]
        shown = [statistics.shown_difference(end) for end in ends]
        if kind != "open":  # "fewer by 2 to 3 points" needs no signs
            shown = [text.lstrip("+") for text in shown]
        args = {
            "profile": cell["profile"],
            "label": cell["a"],
            "by": statistics.shown_difference(abs(change["share"])).lstrip("+"),
            "low": shown[0],
            "high": shown[1],
        }
        at = ".at" if cell["a"] else ""
        said.append({"key": f"study.said.{kind}{at}", "args": args, "kind": kind})
    return said[:SENTENCES_MOST]


# -- what was measured ---------------------------------------------------------------------------


def _metrics(jobs: Jobs, a: BatchRow, b: BatchRow, cells: list[Json]) -> list[Json]:
    """Return {name, unit, meaning, rows: [{profile, label, a, b}]} of the metrics of both."""
    theirs = {each["name"]: each for each in metrics_of(jobs, b)}
    metrics = []
    for metric in metrics_of(jobs, a):
        other = theirs.get(metric["name"])
        if other is None:
            continue
        mine = {(entry["profile"], entry["cell"]): entry for entry in metric["cells"]}
        others = {(entry["profile"], entry["cell"]): entry for entry in other["cells"]}
        rows = []
        for cell in cells:
            first = mine.get((cell["profile"], cell["cell_a"]))
            two = others.get((cell["profile"], cell["cell_b"]))
            if first and two and (first["n"] or two["n"]):
                rows.append({"profile": cell["profile"], "label": cell["a"], "a": first, "b": two})
        if rows:
            head = {name: metric[name] for name in ("name", "unit", "meaning")}
            metrics.append({**head, "rows": rows})
    return metrics
