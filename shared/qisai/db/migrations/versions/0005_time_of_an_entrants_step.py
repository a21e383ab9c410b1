"""A step of an entrant is logged with the time at which it was made, not with that of its transaction, which waited."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Sets the default, which all steps take."""
    op.execute("ALTER TABLE transition ALTER COLUMN at SET DEFAULT clock_timestamp()")


def downgrade() -> None:
    """Sets it back."""
    op.execute("ALTER TABLE transition ALTER COLUMN at SET DEFAULT now()")
