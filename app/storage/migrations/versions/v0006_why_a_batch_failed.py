"""Column for the reason of a batch's failure, as a key of the catalogue with its arguments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("batch") as batch:
        batch.add_column(sa.Column("said", sa.JSON(), nullable=True))
