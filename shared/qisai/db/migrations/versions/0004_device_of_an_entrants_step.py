"""From which device an entrant was moved: written with each step, as with every other row of the log."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column; rows from before, and of services not renewed yet, say nothing."""
    op.execute("ALTER TABLE transition ADD COLUMN device TEXT DEFAULT '' NOT NULL")


def downgrade() -> None:
    """Drops it: whence steps were made is lost."""
    op.drop_column("transition", "device")
