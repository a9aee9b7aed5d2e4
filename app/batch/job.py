"""A batch in progress in this process, and its progress report."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import IO, cast

from app.batch import adaptive_futures, records, wire
from app.batch.records import Counts
from app.core import clock
from app.core.refusals import KeyedSentence
from app.storage.batch_fields import BatchState
from app.storage.database import Database
from app.storage.models import BatchRow


@dataclass(eq=False)
class Job:
    """A batch that waits or runs in this process."""

    id: str
    owner: str
    lock: IO[str]
    address: str = ""
    state: BatchState = BatchState.QUEUED
    message: str = ""
    said: KeyedSentence | None = None
    counts: Counts = field(default_factory=dict)
    pilot: Counts = field(default_factory=dict)
    """What a pilot met, which is told until there is something that counts."""
    done_chunks: int = 0
    total_chunks: int = 0
    began: float = 0.0
    fresh_runs: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    told: float = 0.0
    saved: float = 0.0
    enough: bool = False
    """Its shares are known as well as was asked: it stops by itself."""

    @property
    def payer(self) -> str:
        """Name that takes turns in the queue: the address, as it can be many browsers."""
        return self.address or self.owner

    def runs_per_s(self) -> float:
        spent = clock.monotonic() - self.began
        return self.fresh_runs / spent if self.began and spent > 0 else 0.0


def view(database: Database, batch: BatchRow, job: Job | None) -> wire.ProgressJson:
    """Return the progress of a batch with interim counts, for pages and sockets."""
    if job is not None and job.counts:
        counts = dict(job.counts)
    else:
        counts = records.counts_stored(database, batch)
    order = {profile: i for i, profile in enumerate(batch.profiles)}
    place = adaptive_futures.places(batch)
    keys = sorted(counts, key=lambda key: (place[key[1]], order.get(key[0], 0)))
    done = sum(mine.n for mine in counts.values())
    # A batch that looks closer step by step will have more cells, at most `most`.
    cells = max(len(batch.cells), batch.about.get("most", 0) if job else 0)
    total = batch.runs * len(batch.profiles) * cells
    speed = job.runs_per_s() if job else _speed(batch, done)
    return {
        "id": batch.id,
        "state": job.state if job else batch.state,
        "message": job.message if job else batch.message,
        "said": job.said if job else cast("KeyedSentence | None", batch.said),
        "done_chunks": job.done_chunks if job else batch.done_chunks,
        "total_chunks": batch.total_chunks,
        "done_runs": done,
        "total_runs": total,
        "runs_per_s": round(speed, 1),
        "left_s": round((total - done) / speed, 1) if job and speed else None,
        "cells": [records.cell_view(batch, *key, counts[key]) for key in keys],
    }


def _speed(batch: BatchRow, done: int) -> float:
    if not batch.started or not batch.finished or batch.finished <= batch.started:
        return 0.0
    return done / (batch.finished - batch.started) * 1000
