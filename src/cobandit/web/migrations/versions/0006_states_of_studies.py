"""Admission states of a study: in addition to open and closed, by invitation or with a quota."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the states; existing studies stay open or closed."""
    op.add_column("studies", sa.Column("quota", sa.Integer(), nullable=True))
