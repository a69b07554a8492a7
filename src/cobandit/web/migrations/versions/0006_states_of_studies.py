"""Admission states of a study: in addition to open and closed, by invitation or with a quota."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the states; existing studies stay open or closed."""
    op.add_column("studies", sa.Column("quota", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Reduce the states to open or closed: a closed open link stays closed."""
    op.execute("UPDATE studies SET status = 'closed' WHERE status IN ('invite-only', 'quota')")
    with op.batch_alter_table("studies") as batch:
        batch.drop_column("quota")
