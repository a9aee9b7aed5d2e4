"""Batches that grow, futures of a run, and weighted counts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("batch") as batch:
        batch.add_column(sa.Column("kind", sa.String(20), nullable=False, server_default="seeds"))
        batch.add_column(sa.Column("parts", sa.JSON(), nullable=False, server_default="[]"))
        batch.add_column(sa.Column("about", sa.JSON(), nullable=False, server_default="{}"))
    with op.batch_alter_table("batch_cell") as cell:
        cell.add_column(sa.Column("weights", sa.JSON(), nullable=False, server_default="{}"))
