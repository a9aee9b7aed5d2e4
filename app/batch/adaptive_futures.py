"""Batches of futures in the database: a cell for every place of the run that is looked at."""

from __future__ import annotations

from collections.abc import Iterable

from app.batch.batch_run import BatchRun
from app.batch.records import FUTURES
from app.batch.spec import Futures
from app.storage.batch_fields import BatchAbout, StoredCell
from app.storage.models import BatchRow
from engine import ENGINE_VERSION
from engine.sim.run import Run
from engine.study.futures import LOOKS, PLACES, Present, closer, places_most


def new_row(number: str, asked: Futures, owner: str) -> BatchRow:
    """Return the row of a new batch of futures, with a cell for every present."""
    return BatchRow(
        id=number,
        scenario_text=asked.run.scenario.canonical(),
        profiles=[asked.run.profile],
        cells=_cells(asked.presents),
        runs=asked.runs,
        engine_version=ENGINE_VERSION,
        owner=owner,
        kind=FUTURES,
        about={
            "run": asked.run.text(),
            "invariant": asked.invariant,
            "presents": [present.to_dict() for present in asked.presents],
            "most": places_most(asked.presents[-1].step),
        },
    )


def look_closer(run: BatchRun) -> bool:
    """Add cells for the next look of a batch of futures, chosen by the counts so far.

    False where nothing is left to be looked at.
    """
    batch = run.row
    places, invariant = batch.about["presents"], batch.about["invariant"]
    shares = [
        (places[cell]["step"], counted.hits.get(invariant, 0) / counted.judged)
        for (_, cell), counted in run.counts.items()
        if counted.judged
    ]
    if len(places) > PLACES * (LOOKS - 1):
        return False
    found = closer(Run.from_text(batch.about["run"]), shares)
    if found:
        further = [present.to_dict() for present in found]
        about: BatchAbout = {**batch.about, "presents": [*places, *further]}
        run.save(cells=[*batch.cells, *_cells(found)], about=about)
    return bool(found)


def places(batch: BatchRow) -> list[int]:
    """Return for each cell its place on the page: futures are ordered by their steps."""
    if batch.kind != FUTURES:
        return list(range(len(batch.cells)))
    return [int(cell["values"]["step"]) for cell in batch.cells]


def _cells(presents: Iterable[Present]) -> list[StoredCell]:
    return [
        {"values": {"step": str(present.step)}, "label": f"step={present.step}"}
        for present in presents
    ]
