"""The tables.  Times are whole milliseconds since 1970 (UTC); digests are 16 hex characters."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Enum, ForeignKey, Index, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from app.core import clock
from app.core.refusals import KeyedSentence
from app.storage.batch_fields import BatchAbout, BatchState, MetricSummary, StoredCell


def now_ms() -> int:
    return int(clock.wall() * 1_000)


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class ScenarioRow(Base):
    """Saved scenario.  Its digest is made of its text, so it never changes."""

    __tablename__ = "scenario"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    slug: Mapped[str] = mapped_column(String(120), default="")
    title: Mapped[str] = mapped_column(String(500), default="")
    text: Mapped[str] = mapped_column(Text)
    """Canonical JSON."""
    engine_version: Mapped[int]
    created: Mapped[int] = mapped_column(BigInteger, default=now_ms, index=True)
    owner: Mapped[str] = mapped_column(String(64), default="")
    """SHA-256 of the token of the browser that saved it."""


class RunRow(Base):
    """Saved run; `outcome` tells later versions whether it still plays the same."""

    __tablename__ = "run"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    scenario_digest: Mapped[str] = mapped_column(String(64), index=True)
    text: Mapped[str] = mapped_column(Text)
    engine_version: Mapped[int]
    created: Mapped[int] = mapped_column(BigInteger, default=now_ms, index=True)
    outcome: Mapped[str] = mapped_column(String(64), default="")


def _values(states: type[BatchState]) -> list[str]:
    return [state.value for state in states]


class BatchRow(Base):
    """Many runs of one scenario."""

    __tablename__ = "batch"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    scenario_text: Mapped[str] = mapped_column(Text)
    profiles: Mapped[list[str]] = mapped_column(JSON)
    cells: Mapped[list[StoredCell]] = mapped_column(JSON)
    """What is varied: one entry a cell, in the order of `BatchCellRow.cell`."""
    runs: Mapped[int]
    """Per profile and cell."""
    first_seed: Mapped[int] = mapped_column(BigInteger, default=0)
    state: Mapped[BatchState] = mapped_column(
        Enum(BatchState, native_enum=False, length=20, values_callable=_values),
        default=BatchState.QUEUED,
        index=True,
    )
    submitted: Mapped[int] = mapped_column(BigInteger, default=now_ms, index=True)
    started: Mapped[int | None] = mapped_column(BigInteger)
    finished: Mapped[int | None] = mapped_column(BigInteger)
    done_chunks: Mapped[int] = mapped_column(default=0)
    total_chunks: Mapped[int] = mapped_column(default=0)
    message: Mapped[str] = mapped_column(Text, default="")
    """What plays it, or in English why it failed."""
    said: Mapped[KeyedSentence | None] = mapped_column(JSON, default=None)
    """Why it failed, {"key", "args"} of the catalogue, where the server says so itself."""
    engine_version: Mapped[int]
    owner: Mapped[str] = mapped_column(String(64), default="")
    kind: Mapped[str] = mapped_column(String(20), default="seeds")
    """seeds; futures: one cell a step of a run, one "seed" a future of it; or advice: one cell a
    piece of advice."""
    parts: Mapped[list[int]] = mapped_column(JSON, default=list)
    """How many runs were asked for each time, where some were added later."""
    title: Mapped[str] = mapped_column(String(120), default="")
    """What its owner calls it; empty: as its scenario."""
    about: Mapped[BatchAbout] = mapped_column(JSON, default=dict)


class BatchCellRow(Base):
    """Counts and metric summaries of one profile in one cell."""

    __tablename__ = "batch_cell"

    batch_id: Mapped[str] = mapped_column(
        ForeignKey("batch.id", ondelete="CASCADE"), primary_key=True
    )
    profile: Mapped[str] = mapped_column(String(400), primary_key=True)
    cell: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    label: Mapped[str] = mapped_column(Text, default="")
    n: Mapped[int] = mapped_column(default=0)
    broken: Mapped[dict[str, int]] = mapped_column(JSON)
    metrics: Mapped[dict[str, MetricSummary]] = mapped_column(JSON)
    weights: Mapped[dict[str, list[float]]] = mapped_column(JSON, default=dict)
    """Where faults had an importance factor: the sums of `app.batch.runners.weighing`."""


class FailureRow(Base):
    """A run of a batch that broke an invariant: enough to open it at the step where it did."""

    __tablename__ = "failure"
    __table_args__ = (Index("ix_failure_batch_id_invariant", "batch_id", "invariant"),)

    batch_id: Mapped[str] = mapped_column(
        ForeignKey("batch.id", ondelete="CASCADE"), primary_key=True
    )
    profile: Mapped[str] = mapped_column(String(400), primary_key=True)
    cell: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    seed: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    invariant: Mapped[str] = mapped_column(String(40), primary_key=True)
    step: Mapped[int]
    why: Mapped[str] = mapped_column(Text, default="")
    lost: Mapped[int | None]
    """Records acknowledged with acks=all that the run lost; None of older batches."""
    steps: Mapped[int | None]
    """Of the whole run."""
