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


def new_row(number: str, futures: Futures, owner: str) -> BatchRow:
    """Return the row of a new batch of futures, with a cell for every present."""
    return BatchRow(
        id=number,
        scenario_text=futures.run.scenario.canonical(),
        profiles=[futures.run.profile],
        cells=_cells(futures.presents),
        runs=futures.runs,
        engine_version=ENGINE_VERSION,
        owner=owner,
        kind=FUTURES,
        about={
            "run": futures.run.text(),
            "invariant": futures.invariant,
            "presents": [present.to_dict() for present in futures.presents],
            "most": places_most(futures.presents[-1].step),
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
    presents = closer(Run.from_text(batch.about["run"]), shares)
    if presents:
        further = [present.to_dict() for present in presents]
        about: BatchAbout = {**batch.about, "presents": [*places, *further]}
        run.save(cells=[*batch.cells, *_cells(presents)], about=about)
    return bool(presents)


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
