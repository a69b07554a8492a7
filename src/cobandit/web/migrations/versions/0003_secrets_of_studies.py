"""A study's own secret, which goes into means that all participants share."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add secrets; existing studies have none and keep the means they began with."""
    op.add_column("studies", sa.Column("secret", sa.Text(), nullable=True))
