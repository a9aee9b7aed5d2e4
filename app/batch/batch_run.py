"""A batch in progress in this process: its stored row, its counts, and the request to stop."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from app.batch import records
from app.batch.records import Counts
from app.batch.runners.plan import PlanTally
from app.batch.runners.summary import Summary
from app.core import clock
from app.core.refusals import KeyedSentence
from app.storage.batch_fields import BatchAbout, BatchState
from app.storage.database import Database
from app.storage.models import BatchRow, now_ms
from engine.model.json_types import Json

SAVE_EVERY_S = 1.0


@dataclass(eq=False)
class BatchRun:
    """A batch that waits or runs in this process.

    Until it ends only this object changes `row`, but for the title, as this process holds `lock`.
    """

    database: Database
    row: BatchRow
    directory: str
    """Directory with its chunks."""
    lock: IO[str]
    address: str = ""
    counts: Counts = field(default_factory=dict)
    pilot: Counts = field(default_factory=dict)
    """Counts of a pilot, reported until there are others."""
    began: float = 0.0
    fresh_runs: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    told: float = 0.0
    saved: float = 0.0
    enough: bool = False
    """Its shares are known as well as was asked: it stops by itself."""

    @property
    def id(self) -> str:
        return self.row.id

    @property
    def payer(self) -> str:
        """Name that takes turns in the queue: the address, as it can be many browsers."""
        return self.address or self.row.owner

    def runs_per_s(self) -> float:
        spent = clock.monotonic() - self.began
        return self.fresh_runs / spent if self.began and spent > 0 else 0.0

    def save(self, **fields: Any) -> None:
        """Store these fields and no others, so that a title set meanwhile is kept."""
        self._set(fields)
        records.update(self.database, self.id, **fields)

    def finish(self, state: BatchState, message: str, said: KeyedSentence | None = None) -> None:
        """Store the end of the batch, with its counts if none are stored.

        The row changes last, so a page that gets the end finds it stored.
        """
        row = self.row
        if state != BatchState.DONE and self.counts and not records.cells(self.database, row):
            self.save_counts()
        ended = {"state": state, "message": message, "said": said, "finished": now_ms()}
        records.update(self.database, self.id, **ended, done_chunks=row.done_chunks)
        self._set(ended)

    def count_done(self, done: Collection[int]) -> None:
        self.row.done_chunks = len(done)

    def progress(self, fresh: Sequence[PlanTally]) -> None:
        """Count finished chunks; what is counted is stored once a second."""
        records.add_tallies(self.counts, fresh)
        self.row.done_chunks += len(fresh)
        self.fresh_runs += sum(tally.runs for tally in fresh)
        now = clock.monotonic()
        if fresh and now - self.saved >= SAVE_EVERY_S:
            self.saved = now
            self.save_counts()
            self.save(done_chunks=self.row.done_chunks)

    def save_counts(self) -> None:
        records.save_counts(self.database, self.row, self.counts)

    def save_summary(self, summary: Summary, leaves: dict[str, Json] | None = None) -> None:
        """Store the result, of trees with the leaves that lost; causes of failures are deleted."""
        about: BatchAbout = {**self.row.about, "causes": [], "pairs": summary.pairs}
        if leaves is not None:
            about["leaves"] = leaves
        records.save_summary(self.database, self.row, summary, about)
        self.row.about = about
        self.counts = records.counts_of(summary.cells)

    def _set(self, fields: Mapping[str, Any]) -> None:
        for name, value in fields.items():
            setattr(self.row, name, value)
