"""A forbidden pair says whether keeping a club apart made it, so that letting clubs meet takes back no other."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column; of pairs that are there nobody knows, so they count as made one by one and stay."""
    op.add_column("forbidden_pair", sa.Column("of_club", sa.Boolean(), server_default=sa.text("false"), nullable=False))


def downgrade() -> None:
    """Drops it."""
    op.drop_column("forbidden_pair", "of_club")
