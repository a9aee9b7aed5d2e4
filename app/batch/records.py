"""Batches in the database: specification, progress and results."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import delete, func, insert, select, tuple_
from sqlalchemy.orm import Session

from app.batch import statistics, wire
from app.batch.cycles import leaf_name
from app.batch.intervals import ONCE, Look, is_within
from app.batch.runners.plan import BatchPlan, PlanTally
from app.batch.runners.rows import ANY, HEAVIEST, together
from app.batch.runners.summary import TOLD, CellSummary, Failure, Summary
from app.batch.runners.tables import ERROR
from app.batch.spec import Cell, Spec, cell_of
from app.core.refusals import RequestError
from app.core.request_fields import SEED_MAX
from app.storage.batch_fields import (
    ACTIVE,
    BatchAbout,
    BatchState,
    MetricSummary,
    StoredCell,
)
from app.storage.database import Database
from app.storage.models import BatchCellRow, BatchRow, FailureRow, now_ms
from engine import ENGINE_VERSION
from engine.advisor import cycle_rows
from engine.advisor.advice import Failures, Setting
from engine.model.json_types import Json
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.study.batch import LOST, PROMISED, UNPROMISED
from engine.study.futures import Present

FUTURES = "futures"
SEEDS = "seeds"

EVERY_CELL = -1


@dataclass(frozen=True)
class Counted:
    """Counts of a profile and cell: `n` runs, and `hits`, the runs that broke each invariant.

    Two more keys of `hits` are ANY, runs that broke at least one invariant, and ERROR, runs that
    failed and so have no verdict.  `weights` is as in PlanTally and in the summary: empty if all
    runs have the same weight.
    """

    n: int = 0
    hits: Mapping[str, int] = field(default_factory=lambda: {ANY: 0, ERROR: 0})
    weights: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def judged(self) -> int:
        """Number of runs with a result, the denominator of shares."""
        return self.n - self.hits.get(ERROR, 0)

    def plus(self, tally: PlanTally) -> Counted:
        """Return the counts with one more finished chunk."""
        hits = dict(self.hits)
        more = {ANY: tally.violating, ERROR: tally.errors, **tally.broken}
        for name, count in more.items():
            hits[name] = hits.get(name, 0) + count
        weights = dict(self.weights)
        for name, sums in tally.weights.items():
            weights[name] = together(name, weights.get(name, [0.0] * len(sums)), sums)
        return Counted(self.n + tally.runs, hits, weights)


Counts = dict[tuple[str, int], Counted]


def new_number() -> str:
    """Return a new id for a batch, before it is stored."""
    return secrets.token_hex(6)


def new_row(number: str, spec: Spec, owner: str) -> BatchRow:
    cells: list[StoredCell] = [
        {"values": cell.values, "label": cell.label, "digest": cell.scenario.digest}
        for cell in spec.cells
    ]
    return BatchRow(
        id=number,
        scenario_text=spec.scenario.canonical(),
        profiles=list(spec.profiles),
        cells=cells,
        runs=spec.runs,
        first_seed=spec.first_seed,
        engine_version=ENGINE_VERSION,
        owner=owner,
        kind=spec.kind,
        about=spec.about,
    )


def add(database: Database, batch: BatchRow) -> None:
    """Store a new queued batch, and fill in the row as it will be read."""
    with database.writing() as session:
        session.add(batch)
        session.flush()
        session.refresh(batch)


def remove(database: Database, number: str) -> None:
    with database.writing() as session:
        for table in (FailureRow, BatchCellRow):
            session.execute(delete(table).where(table.batch_id == number))
        session.execute(delete(BatchRow).where(BatchRow.id == number))


def row(database: Database, number: str) -> BatchRow | None:
    with database.reading() as session:
        return session.get(BatchRow, number)


def require_batch(database: Database, number: str) -> BatchRow:
    """Return the row of a batch.  Raises RequestError "gone" if it does not exist."""
    batch = row(database, number) if number.isalnum() else None
    if batch is None:
        raise RequestError("gone", "gone.batch", batch=number[:40])
    return batch


def newest(
    database: Database,
    limit: int | None = 50,
    of: str = "",
    but: str = "",
    after: tuple[int, str] | None = None,
) -> list[BatchRow]:
    """Return batches, newest first: all, those of one owner, or those of all others.

    `after`: (submitted, id) of the last one that is known.
    """
    newest_first = BatchRow.submitted.desc(), BatchRow.id.desc()
    chosen = select(BatchRow).order_by(*newest_first).limit(limit)
    if after is not None:
        chosen = chosen.where(tuple_(BatchRow.submitted, BatchRow.id) < after)
    if of:
        chosen = chosen.where(BatchRow.owner == of)
    if but:
        chosen = chosen.where(BatchRow.owner != but)
    with database.reading() as session:
        return list(session.scalars(chosen))


def unfinished(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(BatchRow.id).where(BatchRow.state.in_(ACTIVE))))


def interrupt(database: Database, number: str) -> None:
    """Mark a batch whose process has died as interrupted, unless it has already ended."""
    with database.writing() as session:
        batch = session.get(BatchRow, number)
        if batch is not None and batch.state in ACTIVE:
            batch.state, batch.message, batch.finished = BatchState.INTERRUPTED, "", now_ms()
            batch.said = None


def update(database: Database, number: str, **fields: Any) -> None:
    with database.writing() as session:
        _set_fields(session, number, fields)


def _set_fields(session: Session, number: str, fields: Mapping[str, Any]) -> None:
    found = session.get(BatchRow, number)
    assert found is not None
    for name, value in fields.items():
        setattr(found, name, value)


def scenario_of(batch: BatchRow) -> Scenario:
    return Scenario.from_dict(json.loads(batch.scenario_text))


def cell_scenario(batch: BatchRow, cell: int) -> Cell:
    return cell_of(scenario_of(batch), batch.cells[cell]["values"])


def plan_of(batch: BatchRow, chunk_runs: int, metrics: tuple[str, ...]) -> BatchPlan:
    """Return the chunks of a batch; every call returns the same ones."""
    return BatchPlan(
        tuple(subject(batch, number) for number in range(len(batch.cells))),
        tuple(batch.profiles),
        batch.runs,
        batch.first_seed,
        chunk_runs,
        metrics,
        tuple(batch.parts),
    )


def subject(batch: BatchRow, cell: int) -> Json:
    """Return what is played in a cell, as `run_chunk` takes it."""
    if batch.kind == FUTURES:
        return {"run": batch.about["run"], "present": batch.about["presents"][cell]}
    if is_of_cycles(batch):
        return cycle_rows.subject(*asked_of(batch, cell), batch.about.get("effort", {}))
    scenario = cell_scenario(batch, cell).scenario.to_dict()
    return {**scenario, PROMISED: True} if batch.about.get("promised") else scenario


def is_of_cycles(batch: BatchRow) -> bool:
    """Return True if the rows are trees of cycles, as in the advisor's studies of rare losses."""
    return "cycles" in batch.about


def asked_of(batch: BatchRow, cell: int) -> tuple[Setting, Failures]:
    """Return the setting and the failures of a cell of an advisor's study."""
    told = {**batch.about["setting"], **batch.cells[cell]["values"]}
    return Setting.of(told.pop("profile"), told), Failures(**batch.about["failures"])


def row_path(batch: str, profile: str, cell: int, seed: int, invariant: str = "") -> str:
    """Return the address of a run's row; with an invariant, of the run as one that broke it."""
    kind, end = ("failure", f"/{invariant}") if invariant else ("row", "")
    return f"/batch/{batch}/{kind}/{quote(profile, safe='+')}/{cell}/{seed}{end}"


def run_in(batch: BatchRow, profile: str, cell: int, seed: int) -> Run:
    """Return the run of a row; for a tree, its losing cycle with the largest weight.

    Raises RequestError.
    """
    if is_of_cycles(batch):
        leaf = batch.about.get("leaves", {}).get(leaf_name(profile, cell, seed))
        if leaf is None:
            raise RequestError("not_found")
        return cycle_rows.run_of_leaf(subject(batch, cell), profile, seed, leaf)
    if batch.kind == FUTURES:
        run = Run.from_text(batch.about["run"])
        return Present.from_dict(batch.about["presents"][cell]).future(run, seed)
    return Run(cell_scenario(batch, cell).scenario, profile, seed)


def add_tallies(counts: Counts, tallies: Iterable[PlanTally]) -> None:
    for tally in tallies:
        key = tally.profile, tally.cell
        counts[key] = counts.get(key, Counted()).plus(tally)


def counts_of(cells: Iterable[CellSummary]) -> Counts:
    return {
        (cell.profile, cell.cell): Counted(
            cell.n, {ANY: cell.violating, ERROR: cell.errors, **cell.broken}, cell.weights
        )
        for cell in cells
    }


def counts_stored(database: Database, batch: BatchRow) -> Counts:
    """Return the counts saved last, interim or final."""
    told_apart = batch.kind == SEEDS and not is_of_cycles(batch)
    return {
        (row.profile, row.cell): Counted(
            row.n, {**row.broken, **(_by_promise(row) if told_apart else {})}, row.weights
        )
        for row in cells(database, batch)
    }


def _by_promise(row: BatchCellRow) -> dict[str, int]:
    """Return how many runs lost promised records, and how many only others.

    An older version counted both as I7; {} where its rows do not tell.
    """
    acked, promised = (row.metrics.get(name) for name in ("acked_lost", "promised_lost"))
    if row.weights or not acked or not promised or acked["n"] != promised["n"]:
        return {}
    others = acked["positive"] - promised["positive"]
    return {LOST: promised["positive"], UNPROMISED: others} if acked["positive"] else {}


def save_counts(database: Database, batch: BatchRow, counts: Counts) -> None:
    with database.writing() as session:
        _replace_counts(session, batch, counts, {})


def _replace_counts(
    session: Session,
    batch: BatchRow,
    counts: Counts,
    metrics: Mapping[tuple[str, int], dict[str, MetricSummary]],
) -> None:
    rows = [
        {
            "batch_id": batch.id,
            "profile": profile,
            "cell": cell,
            "label": batch.cells[cell]["label"],
            "n": mine.n,
            "broken": dict(mine.hits),
            "metrics": metrics.get((profile, cell), {}),
            "weights": dict(mine.weights),
        }
        for (profile, cell), mine in counts.items()
    ]
    session.execute(delete(BatchCellRow).where(BatchCellRow.batch_id == batch.id))
    if rows:
        session.execute(insert(BatchCellRow), rows)


def save_summary(database: Database, batch: BatchRow, summary: Summary, about: BatchAbout) -> None:
    """Save the result in one transaction: cells, failures, and `about`."""
    metrics = {(cell.profile, cell.cell): cell.metrics for cell in summary.cells}
    failures = [{"batch_id": batch.id, **asdict(failure)} for failure in summary.failures]
    with database.writing() as session:
        _replace_counts(session, batch, counts_of(summary.cells), metrics)
        session.execute(delete(FailureRow).where(FailureRow.batch_id == batch.id))
        if failures:
            session.execute(insert(FailureRow), failures)
        _set_fields(session, batch.id, {"about": about})


def cells(database: Database, batch: BatchRow) -> list[BatchCellRow]:
    """Return the cells in the order of the batch, each with its profiles in the order chosen."""
    with database.reading() as session:
        stored = session.scalars(
            select(BatchCellRow).where(BatchCellRow.batch_id == batch.id)
        ).all()
    place = {profile: i for i, profile in enumerate(batch.profiles)}
    return sorted(stored, key=lambda row: (row.cell, place.get(row.profile, 0)))


ORDERS: Final[dict[wire.FailureOrder, tuple[Any, ...]]] = {
    "seed": (),
    "step": (FailureRow.step,),
    "lost": (FailureRow.lost.desc().nulls_last(),),
}
"""By seed, the shortest first, those that lost most first."""


@dataclass(frozen=True)
class FailureFilter:
    """Filter and order of a batch's failing runs; "" and EVERY_CELL stand for all."""

    profile: str = ""
    invariant: str = ""
    cell: int = EVERY_CELL
    order: wire.FailureOrder = "seed"


EVERY_FAILURE: Final = FailureFilter()


def failures(
    database: Database,
    batch: BatchRow,
    only: FailureFilter = EVERY_FAILURE,
    first: int = 0,
    limit: int | None = 50,
) -> tuple[int, list[Failure]]:
    """Return (number of matches, one page of them)."""
    chosen = select(FailureRow).where(FailureRow.batch_id == batch.id)
    if only.profile:
        chosen = chosen.where(FailureRow.profile == only.profile)
    if only.invariant:
        chosen = chosen.where(FailureRow.invariant == only.invariant)
    if only.cell != EVERY_CELL:
        chosen = chosen.where(FailureRow.cell == only.cell)
    by_seed = (FailureRow.cell, FailureRow.profile, FailureRow.invariant, FailureRow.seed)
    order = (*ORDERS[only.order], *by_seed)
    with database.reading() as session:
        total = session.scalar(select(func.count()).select_from(chosen.subquery())) or 0
        page = session.scalars(chosen.order_by(*order).offset(first).limit(limit))
        return total, [_failure(stored) for stored in page]


def failure(
    database: Database, batch: BatchRow, profile: str, cell: int, seed: int, invariant: str
) -> Failure | None:
    """Return one failure by its key; a key stays the same when runs are added."""
    if cell >= len(batch.cells) or seed > SEED_MAX:
        return None
    with database.reading() as session:
        stored = session.get(FailureRow, (batch.id, profile, cell, seed, invariant))
        return _failure(stored) if stored else None


def _failure(one: FailureRow) -> Failure:
    return Failure(**{name: getattr(one, name) for name in TOLD})


def cell_view(batch: BatchRow, profile: str, cell: int, counted: Counted) -> wire.CellJson:
    """Return the counts of a profile and cell with their intervals, as JSON for pages.

    `unseen` is the upper bound for an invariant that no run broke.
    """

    def shown(count: wire.Count) -> wire.Waited:
        return {**count, "until": statistics.shown_until(count)}

    look = look_of(batch)
    weights = {} if is_of_cycles(batch) else counted.weights  # trees are not runs

    def interval(name: str) -> wire.Waited:
        hits = counted.hits.get(name, 0)
        return shown(share_of(hits, counted.judged, weights, name, look))

    return {
        "profile": profile,
        "cell": cell,
        "label": batch.cells[cell]["label"],
        "values": batch.cells[cell]["values"],
        "n": counted.judged,
        "errors": counted.hits.get(ERROR, 0),
        "violating": interval(ANY),
        "broken": {
            name: interval(name) for name in sorted(counted.hits) if name not in (ANY, ERROR)
        },
        "unseen": shown(unseen(counted.judged, weights, look)),
    }


def look_of(batch: BatchRow) -> Look:
    """Return how the intervals of a batch are corrected.

    Those of a grid hold simultaneously for all its cells.  Those of a study that still runs, was
    extended, cancelled or stopped by its own rule hold at every moment of its growth.
    """
    parts = max(1, len(batch.parts))
    whole = batch.state == BatchState.DONE and batch.done_chunks >= batch.total_chunks
    cells = len(batch.cells)
    at_once = cells * len(batch.profiles) if cells > 1 else 1
    return Look(at_once, 0 if whole and parts == 1 else parts)


def is_enough(batch: BatchRow, counts: Counts) -> bool:
    """Return True if the share of failing runs has the requested precision in every cell.

    The intervals are those of a growing study, so the check may be repeated at any time.
    """
    within = batch.about.get("within", 0) / 100
    if not within or len(counts) < len(batch.cells) * len(batch.profiles):
        return False
    look = replace(look_of(batch), growing=max(1, len(batch.parts)))
    shares = [share_of(count.hits.get(ANY, 0), count.judged, count.weights, ANY, look)
             for count in counts.values()]  # fmt: skip
    return all(
        is_within(share["share"] or 0, share["low"], share["high"], within) for share in shares
    )


def share_of(
    hits: int, n: int, weights: Mapping[str, Sequence[float]], name: str, look: Look = ONCE
) -> wire.Count:
    """Return a share with its interval, weighted if `weights` is not empty."""
    if not weights:
        return statistics.interval(hits, n, look)
    total, squares, *_ = weights.get(name, (0.0, 0.0))
    return statistics.weighted_interval(hits, total, squares, n, weights[HEAVIEST][0], look)


def unseen(n: int, weights: Mapping[str, Sequence[float]], look: Look = ONCE) -> wire.Count:
    """Return the upper bound for an event that happened in none of n runs."""
    return share_of(0, n, weights, "", look)
