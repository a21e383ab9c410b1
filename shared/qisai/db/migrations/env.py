"""Alembic runs this file; it is given an open connection by `qisai.db.migrate` and never opens one itself."""

from __future__ import annotations

from alembic import context

from qisai.db.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    compare_type=True,
    compare_server_default=True,
)
with context.begin_transaction():
    context.run_migrations()
