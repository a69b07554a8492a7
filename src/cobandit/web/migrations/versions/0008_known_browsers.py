"""Browsers with an earlier login, so that wrong passwords from others do not lock out their user."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the table; no browser is known yet."""
    op.create_table(
        "known_browsers",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_known_browsers"),
    )
