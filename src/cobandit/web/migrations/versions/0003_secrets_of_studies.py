"""A study's own secret, which goes into means that all participants share."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add secrets; existing studies have none and keep the means they began with."""
    op.add_column("studies", sa.Column("secret", sa.Text(), nullable=True))


def downgrade() -> None:
    """Refuse: means that depend on a secret cannot be computed without it."""
    raise NotImplementedError("A database is not taken back to the tables before 0003; restore a copy of it instead.")
