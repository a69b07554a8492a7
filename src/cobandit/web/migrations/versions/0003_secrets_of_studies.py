"""A study's own secret, which goes into means that all participants share."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Studies that are there have none and go on with the means they began with."""
    op.add_column("studies", sa.Column("secret", sa.Text(), nullable=True))


def downgrade() -> None:
    """Refused: means that hang on a secret cannot be had without it."""
    raise NotImplementedError("A database is not taken back to the tables before 0003; restore a copy of it instead.")
