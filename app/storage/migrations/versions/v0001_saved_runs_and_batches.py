"""Scenarios, runs, batches with their cells, and failures."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "scenario",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("slug", sa.String(120), nullable=False),
        sa.Column("title", sa.String(500), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("engine_version", sa.Integer(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_scenario"),
    )
    op.create_index("ix_scenario_created", "scenario", ["created"])
    op.create_table(
        "run",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("scenario_digest", sa.String(64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("engine_version", sa.Integer(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_run"),
    )
    op.create_index("ix_run_scenario_digest", "run", ["scenario_digest"])
    op.create_index("ix_run_created", "run", ["created"])
    op.create_table(
        "batch",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("scenario_text", sa.Text(), nullable=False),
        sa.Column("profiles", sa.JSON(), nullable=False),
        sa.Column("cells", sa.JSON(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("first_seed", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("submitted", sa.BigInteger(), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=True),
        sa.Column("finished", sa.BigInteger(), nullable=True),
        sa.Column("done_chunks", sa.Integer(), nullable=False),
        sa.Column("total_chunks", sa.Integer(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("engine_version", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_batch"),
    )
    op.create_index("ix_batch_state", "batch", ["state"])
    op.create_index("ix_batch_submitted", "batch", ["submitted"])
    _create_results()


def _create_results() -> None:
    op.create_table(
        "batch_cell",
        sa.Column("batch_id", sa.String(40), nullable=False),
        sa.Column("profile", sa.String(120), nullable=False),
        sa.Column("cell", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(500), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("broken", sa.JSON(), nullable=False),
        sa.Column("metrics", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("batch_id", "profile", "cell", name="pk_batch_cell"),
        sa.ForeignKeyConstraint(
            ["batch_id"], ["batch.id"], name="fk_batch_cell_batch_id", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "failure",
        sa.Column("batch_id", sa.String(40), nullable=False),
        sa.Column("profile", sa.String(120), nullable=False),
        sa.Column("cell", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("invariant", sa.String(40), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint(
            "batch_id", "profile", "cell", "seed", "invariant", name="pk_failure"
        ),
        sa.ForeignKeyConstraint(
            ["batch_id"], ["batch.id"], name="fk_failure_batch_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_failure_batch_id_invariant", "failure", ["batch_id", "invariant"])


def downgrade() -> None:
    for table in ("failure", "batch_cell", "batch", "run", "scenario"):
        op.drop_table(table)
