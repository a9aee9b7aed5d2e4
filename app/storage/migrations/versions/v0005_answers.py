"""Table of counts of answers to each question, from visitors who opted in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "answer_count",
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("question", sa.String(500), nullable=False),
        sa.Column("said", sa.String(60), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "question", "said", name="pk_answer_count"),
    )
