"""Columns for what a failing run lost and its length; room for profiles with many flags."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SHORT, LONG = sa.String(120), sa.String(400)


def upgrade() -> None:
    with op.batch_alter_table("failure") as failure:
        failure.add_column(sa.Column("lost", sa.Integer(), nullable=True))
        failure.add_column(sa.Column("steps", sa.Integer(), nullable=True))
        failure.alter_column("profile", existing_type=SHORT, type_=LONG, existing_nullable=False)
    with op.batch_alter_table("batch_cell") as cell:
        cell.alter_column("profile", existing_type=SHORT, type_=LONG, existing_nullable=False)
        cell.alter_column(
            "label", existing_type=sa.String(500), type_=sa.Text(), existing_nullable=False
        )
