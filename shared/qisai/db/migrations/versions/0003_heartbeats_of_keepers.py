"""Heartbeats of keepers, so that a dead one is seen by others; workers say how loaded their machine is."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_STEPS = (
    """
    CREATE TABLE keeper (
        name TEXT NOT NULL,
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        release TEXT NOT NULL,
        is_leading BOOLEAN NOT NULL,
        late_seconds INTEGER NOT NULL,
        started_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        seen_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_keeper PRIMARY KEY (name)
    )
    """,
    "ALTER TABLE worker ADD COLUMN load DOUBLE PRECISION",
)


def upgrade() -> None:
    """Makes the table and the column."""
    for statement in _STEPS:
        op.execute(statement)


def downgrade() -> None:
    """Drops them: what they hold is written anew within seconds."""
    op.drop_table("keeper")
    op.drop_column("worker", "load")
