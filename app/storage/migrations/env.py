"""Alembic environment; the connection comes from `app.storage.database.Database.migrate`."""

from __future__ import annotations

from alembic import context

from app.storage.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite alters a table by copying it
)
with context.begin_transaction():
    context.run_migrations()
